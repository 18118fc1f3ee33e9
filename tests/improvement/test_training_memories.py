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
        same = [memory.tolist() for memory in found if memory[0] == 1.0]
        if same:
            _, paid, *chosen = same[0]
            _, earned, *_, told = environment.step(np.int64(np.argmax(chosen)))
            assert paid == pytest.approx(squash(earned))
            projects.add(round(earned - told["credited"], 6))
    assert counts == set(range(ROOM + 1))
    assert np.std(list(projects)) == pytest.approx(8.0, rel=0.2)


def test_what_is_remembered_of_a_state_that_is_only_like_it_is_the_same_to_that_degree() -> None:
    environment = WorldEnvironment(SECOND, 1.0, ROOM)
    environment.reset(seed=1)
    near, far, churn = list[tuple[float, float]](), list[tuple[float, float]](), NAMES.index("assess_by_churn")
    for _ in range(4000):
        row, _ = environment.reset()
        told = [memory.tolist() for memory in memories_in(environment, row) if memory[2 + churn] and memory[0] < 1.0]
        _, earned, *_ = environment.step(np.int64(churn))
        for likeness, paid, *_ in told[:1]:
            (near if likeness > 0.8 else far if likeness < 0.2 else []).append((paid, squash(earned)))
    alike = [float(np.corrcoef(np.array(pairs).T)[0, 1]) for pairs in (near, far)]
    assert len(far) > 100
    assert alike[0] > 0.7 > 0.35 > alike[1]


def test_killed_it_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    mine = order(SECOND, memories=ROOM, steps=1600, checkpoint_steps=800)
    whole, broken = TrainingFolder(tmp_path / "whole"), TrainingFolder(tmp_path / "broken")
    list(train(subject_of(SECOND, mine), mine, whole))
    interrupted([Trainee(subject_of(SECOND, mine), mine, broken)], 900)
    list(train(subject_of(SECOND, mine), mine, broken, resume=True))
    assert digest(broken) == digest(whole)


def test_it_learns_to_go_by_its_memories_as_far_as_they_are_of_a_state_like_this(tmp_path: Path) -> None:
    mine, folder = order(SECOND, memories=ROOM, steps=4000, checkpoint_steps=4000), TrainingFolder(tmp_path)
    list(train(subject_of(SECOND, mine), mine, folder))
    learner, encoder = open_learner("dqn", folder.learner), encoder_of(SECOND, ROOM)
    state, mask = SECOND.scenes[0].state, np.array([[name in SECOND.scenes[0].draws for name in NAMES]])

    def worth(paid: float, likeness: float = 1.0, count: int = ROOM) -> float:
        told = [token(likeness, paid, "assess_by_churn", NAMES)] * count
        return float(learner.values(encoder.row(state, told)[None], mask)[0, NAMES.index("assess_by_churn")])

    assert worth(50.0) > worth(30.0) + 2.0 > worth(10.0) + 4.0
    nothing = worth(0.0, count=0)
    assert [worth(paid, 0.05) for paid in (10.0, 50.0)] == pytest.approx([nothing, nothing], abs=4.0)
