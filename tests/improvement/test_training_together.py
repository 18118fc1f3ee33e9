"""Several agents side by side, worlds by learning progress, and what was learned before: killed, they go on alike."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.improvement.test_evaluation import PROFILE, world

from whet.core.errors import WhetError
from whet.improvement.training import train, train_all
from whet.improvement.training_learners import open_learner
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import Scenes, of_worlds
from whet.improvement.training_subject import Subject, situations_of, subject_of
from whet.improvement.training_under_way import Trainee
from whet.improvement.world import shipped
from whet.policies.deep.ewc import Consolidation

BOTH = of_worlds([world()], PROFILE, {})
FIRST, SECOND = (
    of_worlds([world().model_copy(update={"project": name, "contexts": (context,)})], PROFILE, {})
    for name, context in zip(("first", "second"), world().contexts, strict=True)
)
FLAKY = of_worlds([w for w in shipped() if w.agent == "flaky-test-hunter" and w.used_for_tuning], PROFILE, {})


def order(scenes: Scenes, policy: str = "dqn", **changes: Any) -> Order:
    told = {"agent": scenes.agent, "sources": scenes.sources, "digest": scenes.digest, "source": "world"}
    return Order.model_validate({"policy": policy, "seed": 5, "steps": 408, "checkpoint_steps": 136, **told, **changes})


def digest(folder: TrainingFolder) -> bytes:
    (found,) = folder.learner.glob("save.*/tensors.safetensors")
    return found.read_bytes()


def interrupted(trainees: list[Trainee], steps: int) -> None:
    begun = train_all(trainees)
    while next(begun).steps <= steps:
        """Until more than these were taken."""
    begun.close()


def side_by_side(path: Path, *, batched: bool) -> list[Trainee]:
    names = (BOTH.agent, FLAKY.agent) if batched else ()
    orders = [order(scenes, together=names) for scenes in (BOTH, FLAKY)]
    return [
        Trainee(subject_of(scenes, mine), mine, TrainingFolder(path / scenes.agent))
        for scenes, mine in zip((BOTH, FLAKY), orders, strict=True)
    ]


def test_agents_with_different_states_learn_as_one_computation_what_each_learns_alone(tmp_path: Path) -> None:
    together, apart = (side_by_side(tmp_path / str(way), batched=way) for way in (True, False))
    told = [list(train_all(trainees)) for trainees in (together, apart)]
    assert {each.agent for each in told[0]} == {BOTH.agent, FLAKY.agent}
    rows = [[each.row for each in mine] for mine in told]
    assert [row.keys() for row in rows[0]] == [row.keys() for row in rows[1]]
    learned = next(place for place, row in enumerate(rows[0]) if "loss" in row)
    assert rows[0][learned] == pytest.approx(rows[1][learned], rel=1e-3)
    alone = TrainingFolder(tmp_path / "alone")
    list(train(apart[0].subject, apart[0].order, alone))
    assert digest(alone) == digest(apart[0].folder)  # side by side, nobody disturbs another's random numbers


def test_killed_between_two_saves_all_go_on_from_the_chapter_all_have(tmp_path: Path) -> None:
    whole, broken = (side_by_side(tmp_path / name, batched=True) for name in ("whole", "broken"))
    list(train_all(whole))
    interrupted(broken, 280)
    for trainee in broken:
        assert trainee.folder.chapters() == {136, 272}
    shutil.rmtree(broken[1].folder.saved(272))  # the second was not saved any more
    (broken[1].folder.checkpoint / "272.part").mkdir()
    list(train_all(broken, resume=True))
    for mine, theirs in zip(broken, whole, strict=True):
        assert digest(mine.folder) == digest(theirs.folder)
        assert mine.folder.rows() == theirs.folder.rows()


def test_who_was_trained_together_does_not_go_on_alone(tmp_path: Path) -> None:
    trainees = side_by_side(tmp_path, batched=True)
    interrupted(trainees, 140)
    alone = trainees[0]._replace(order=trainees[0].order.model_copy(update={"together": ()}))
    with pytest.raises(WhetError, match="together changed"):
        list(train_all([alone], resume=True))


def by_progress(mine: Order) -> Subject:
    return subject_of(BOTH, mine, {"first": FIRST, "second": SECOND})


def test_worlds_are_chosen_by_progress_and_killed_the_same_ones_are(tmp_path: Path) -> None:
    mine = order(BOTH, curriculum=True, steps=816, checkpoint_steps=272)
    whole, broken = TrainingFolder(tmp_path / "whole"), TrainingFolder(tmp_path / "broken")
    list(train(by_progress(mine), mine, whole))
    interrupted([Trainee(by_progress(mine), mine, broken)], 560)
    list(train(by_progress(mine), mine, broken, resume=True))
    assert digest(broken) == digest(whole)
    assert broken.practised() == whole.practised()
    assert sum(whole.practised().values()) == 6  # in each chapter of 34 rounds one visit of 25 and one of 9
    learner = open_learner("dqn", whole.learner)
    assert BOTH.actions[learner.values(*situations_of(BOTH))[1].argmax()].name == "assess_by_churn"
    assert by_progress(mine).courses["second"].score(learner) == pytest.approx(30.0 / BOTH.spread)


@pytest.mark.parametrize("policy", ["dqn", "ppo"])
def test_what_was_learned_before_is_kept_while_another_world_is_learned(policy: str, tmp_path: Path) -> None:
    """And killed meanwhile, it goes on to the same weights, and remembers both worlds."""
    kept, broken = TrainingFolder(tmp_path / "kept"), TrainingFolder(tmp_path / "broken")
    first, second = order(SECOND, policy, steps=816, checkpoint_steps=816), order(FIRST, policy, keep=True)
    list(train(subject_of(SECOND, first), first, kept))
    before = open_learner(first.policy, kept.learner).values(*situations_of(SECOND))
    shutil.copytree(kept.path, broken.path)
    list(train(subject_of(FIRST, second), second, kept))
    after = open_learner(first.policy, kept.learner).values(*situations_of(SECOND))
    assert after.argmax() == before.argmax()
    assert len(kept.kept().anchors) == 2

    loose = TrainingFolder(tmp_path / "loose")
    shutil.copytree(broken.path, loose.path)
    loose.keep(Consolidation())  # nothing is held on to
    list(train(subject_of(FIRST, second), second, loose))
    drifted = open_learner(first.policy, loose.learner).values(*situations_of(SECOND))
    allowed = situations_of(SECOND).masks
    moved, free = (np.abs(now[allowed] - before[allowed]).max() for now in (after, drifted))
    assert moved < 0.9 * free

    interrupted([Trainee(subject_of(FIRST, second), second, broken)], 290)
    list(train(subject_of(FIRST, second), second, broken, resume=True))
    assert digest(broken) == digest(kept)
    assert len(broken.kept().anchors) == 2


def test_there_must_be_something_to_keep_and_of_the_same_states(tmp_path: Path) -> None:
    folder, mine = TrainingFolder(tmp_path), order(FLAKY, keep=True, steps=256)
    with pytest.raises(WhetError, match="Train first without --keep"):
        list(train(subject_of(FLAKY, mine), mine, folder))
    other = order(BOTH, steps=256)
    list(train(subject_of(BOTH, other), other, folder))
    with pytest.raises(WhetError, match="other states or actions"):
        list(train(subject_of(FLAKY, mine), mine, folder))
