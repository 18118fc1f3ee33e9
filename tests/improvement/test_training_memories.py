"""A network that is trained with room for memories learns what they are worth."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.improvement.test_evaluation import PROFILE, world
from tests.improvement.test_training_together import digest, interrupted, order

from whet.improvement.environment import WorldEnvironment, encoder_of
from whet.improvement.training import train
from whet.improvement.training_learners import open_learner
from whet.improvement.training_record import TrainingFolder
from whet.improvement.training_scenes import of_worlds
from whet.improvement.training_subject import subject_of
from whet.improvement.training_under_way import Trainee
from whet.policies.deep.fields import squash
from whet.policies.deep.learning import Floats
from whet.policies.deep.tokens import token, width

SECOND = of_worlds([world().model_copy(update={"contexts": world().contexts[1:]})], PROFILE, {})  # pays 0 or 30
NAMES = [action.name for action in SECOND.actions]
ROOM = 4


def memories_in(environment: WorldEnvironment, row: Floats) -> list[Floats]:
    layout = environment.layout
    there = row[layout.size - ROOM :]
    numbers = row[layout.state_size : layout.size - ROOM].reshape(ROOM, width(NAMES))
    return [numbers[place] for place in np.flatnonzero(there)]


def test_what_is_remembered_is_what_is_then_earned_in_each_project_something_else() -> None:
    environment = WorldEnvironment(SECOND, 1.0, ROOM)
    check_env(environment, skip_render_check=True)
    counts, projects = set(), set()
    environment.reset(seed=1)
    for _ in range(200):
        row, _ = environment.reset()
        found = memories_in(environment, row)
        counts.add(len(found))
        if found:
            likeness, paid, *chosen = found[0].tolist()
            _, earned, *_, told = environment.step(np.int64(np.argmax(chosen)))
            assert (likeness, paid) == pytest.approx((1.0, squash(earned)))
            projects.add(round(earned - told["credited"], 6))
    assert counts == set(range(ROOM + 1))
    assert np.std(list(projects)) == pytest.approx(8.0, rel=0.2)


def test_it_learns_to_go_by_its_memories_and_killed_it_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    mine = order(SECOND, memories=ROOM, steps=1600, checkpoint_steps=800)
    whole, broken = TrainingFolder(tmp_path / "whole"), TrainingFolder(tmp_path / "broken")
    list(train(subject_of(SECOND, mine), mine, whole))
    interrupted([Trainee(subject_of(SECOND, mine), mine, broken)], 900)
    list(train(subject_of(SECOND, mine), mine, broken, resume=True))
    assert digest(broken) == digest(whole)

    learner, encoder = open_learner("dqn", whole.learner), encoder_of(SECOND, ROOM)
    state, mask = SECOND.scenes[0].state, np.array([[name in SECOND.scenes[0].draws for name in NAMES]])

    def worth(paid: float) -> float:
        told = [token(1.0, paid, "assess_by_churn", NAMES)] * ROOM
        return float(learner.values(encoder.row(state, told)[None], mask)[0, NAMES.index("assess_by_churn")])

    assert worth(50.0) > worth(30.0) + 2.0 > worth(10.0) + 4.0
