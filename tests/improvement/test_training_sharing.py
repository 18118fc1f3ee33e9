"""Agents of a category lend each other steps while they are trained: by situation and kind, and as far as it helps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.improvement.test_training_together import digest, interrupted, order

from whet.agents.catalogue import agent_named
from whet.core.records import State
from whet.improvement.training import train_all
from whet.improvement.training_common import CommonGround
from whet.improvement.training_learners import open_learner
from whet.improvement.training_record import TrainingFolder
from whet.improvement.training_scenes import Draw, Scene, Scenes
from whet.improvement.training_sharing import Exchange
from whet.improvement.training_subject import situations_of, subject_of
from whet.improvement.training_under_way import Trainee, UnderWay
from whet.improvement.world import shipped
from whet.policies.deep.dqn import DQN
from whet.policies.deep.learning import Steps
from whet.policies.deep.sharing import Trust

RISK, FLAKY = agent_named("regression-risk-analyzer"), agent_named("flaky-test-hunter")
FOCUSED = {RISK.name: "assess_by_coverage", FLAKY.name: "rerun_suspects"}
DEEPER = {RISK.name: "assess_combined", FLAKY.name: "under_load"}


def state_of(agent: str) -> State:
    """As that agent sees h11; the situation is the same for all."""
    return next(world for world in shipped() if world.name == f"h11-0.16.0/{agent}").states()[0]


def scenes(agent: str, focused: float, deeper: float) -> Scenes:
    """What looks closely at a part pays as told, and so does what looks deeper: with luck of ±1."""
    pays = {FOCUSED[agent]: focused, DEEPER[agent]: deeper}
    draws = {name: [Draw(reward - 1.0), Draw(reward + 1.0)] for name, reward in pays.items()}
    return Scenes(agent, agent_named(agent).actions, (Scene(state_of(agent), draws),), (agent,))


def trainees(path: Path, both: list[Scenes], **changes: Any) -> list[Trainee]:
    orders = [order(mine, share=True, together=tuple(each.agent for each in both), **changes) for mine in both]
    return [
        Trainee(subject_of(mine, told), told, TrainingFolder(path / mine.agent))
        for mine, told in zip(both, orders, strict=True)
    ]


def borrowed(both: list[Scenes], path: Path) -> dict[str, float]:
    """By whom, a round, in the last half of training."""
    rows: dict[str, list[float]] = {}
    for told in train_all(trainees(path, both, steps=816, checkpoint_steps=816)):
        rows.setdefault(told.agent, []).append(told.row["borrowed"])
    return {name: float(np.mean(each[len(each) // 2 :])) for name, each in rows.items()}


def learner_of(mine: Scenes) -> DQN:
    told = order(mine, share=True)
    learner = subject_of(mine, told).new()
    assert isinstance(learner, DQN)
    return learner


def step(mine: Scenes, action: str, reward: float, *, ended: bool = True) -> Steps:
    rows, masks = situations_of(mine)
    names = [each.name for each in mine.actions]
    over = np.array([ended])
    numbers = np.array([names.index(action)]), np.array([0.5], np.float32), np.array([reward], np.float32)
    return Steps(rows, masks, *numbers, rows, masks, over, ~over)


def test_a_step_comes_as_the_borrowers_own_state_action_and_size_of_reward() -> None:
    """40 of a mean of 20 and a deviation of √(20² + 1) is 1 of them; with a mean of 2 and √(2² + 1) that is 2 + √5."""
    lender, borrower = scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 4.0, 0.0)
    theirs, mine = (CommonGround(each, *situations_of(each)) for each in (lender, borrower))
    common = theirs.lent(step(lender, "assess_by_coverage", 20.0 + np.sqrt(401.0)), learner_of(lender))
    own = mine.taken(common, np.random.default_rng(1))
    rows, masks = situations_of(borrower)
    np.testing.assert_array_equal(own.observations, rows)
    np.testing.assert_array_equal(own.masks, masks)
    assert [borrower.actions[place].name for place in own.actions] == ["rerun_suspects"]
    assert own.rewards == pytest.approx([2.0 + np.sqrt(5.0)])
    assert common.probabilities == pytest.approx([0.5], abs=0.01)  # ε is 1: each of two kinds
    assert mine.policy(learner_of(borrower))(common.observations, common.masks).sum() == pytest.approx(1.0)


def test_what_goes_on_and_what_is_unknown_is_not_shared() -> None:
    lender, borrower = scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 4.0, 0.0)
    theirs, mine = (CommonGround(each, *situations_of(each)) for each in (lender, borrower))
    assert not len(theirs.lent(step(lender, "assess_by_coverage", 1.0, ended=False), learner_of(lender)).actions)
    common = theirs.lent(step(lender, "assess_by_coverage", 1.0), learner_of(lender))
    elsewhere = common._replace(observations=common.observations + 1.0)
    assert np.isnan(mine.expected(elsewhere, learner_of(borrower))).all()
    assert not mine.policy(learner_of(borrower))(elsewhere.observations, elsewhere.masks).any()


def test_who_is_paid_alike_borrows_and_who_is_paid_otherwise_does_not(tmp_path: Path) -> None:
    alike = borrowed([scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 4.0, 0.0)], tmp_path / "alike")
    otherwise = borrowed([scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 0.0, 4.0)], tmp_path / "otherwise")
    assert min(alike.values()) > 4.0  # of 8
    assert max(otherwise.values()) < 0.5
    for agent, best in ((RISK.name, "assess_by_coverage"), (FLAKY.name, "under_load")):
        learned = open_learner("dqn", tmp_path / "otherwise" / agent / "learner")
        rows, masks = situations_of(scenes(agent, 1.0, 0.0))
        assert agent_named(agent).actions[int(learned.values(rows, masks).argmax())].name == best


def exchanged(path: Path, changed: Callable[[list[UnderWay]], None]) -> list[bool]:
    """Who is lent anything in many rounds, after something was changed."""
    both = [scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 4.0, 0.0)]
    under_way = [UnderWay.begun(each) for each in trainees(path, both)]
    changed(under_way)
    exchange = Exchange(under_way)
    steps = [step(mine, FOCUSED[mine.agent], 1.0) for mine in both]
    return [any(lent) for lent in zip(*(exchange(steps) for _ in range(60)), strict=True)]


def test_only_agents_of_a_category_lend_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def apart(trainings: list[UnderWay]) -> None:
        ground = trainings[0].subject.common
        assert ground is not None
        monkeypatch.setattr(ground, "category", "fleet")

    monkeypatch.setattr(Trust, "of", lambda _self, names: dict.fromkeys(names, 1.0))
    assert exchanged(tmp_path / "one", lambda _: None) == [True, True]
    assert exchanged(tmp_path / "two", apart) == [False, False]


@pytest.mark.parametrize(("trust", "lent"), [(0.19, [False, False]), (0.21, [True, True])])
def test_who_is_hardly_trusted_lends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trust: float, lent: list[bool]
) -> None:
    monkeypatch.setattr(Trust, "of", lambda _self, names: dict.fromkeys(names, trust))
    assert exchanged(tmp_path, lambda _: None) == lent


def test_killed_while_they_share_they_go_on_to_the_same_weights(tmp_path: Path) -> None:
    both = [scenes(RISK.name, 40.0, 0.0), scenes(FLAKY.name, 4.0, 0.0)]
    whole, broken = (trainees(tmp_path / name, both) for name in ("whole", "broken"))
    list(train_all(whole))
    interrupted(broken, 280)
    list(train_all(broken, resume=True))
    for mine, theirs in zip(broken, whole, strict=True):
        assert digest(mine.folder) == digest(theirs.folder)
        assert mine.folder.rows() == theirs.folder.rows()
