"""What others lived through counts as often as the borrower would have met it, and as far as its lender is right."""

import numpy as np
import pytest
from benchmarks.sharing import curve
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.policies.deep.learning import Flags, Floats, Steps
from whet.policies.deep.sharing import Shared, Trust, effective_sample_size, importance


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def steps(actions: list[int], probabilities: list[float], reward: float = 0.0) -> Steps:
    rows = len(actions)
    seen, masks, ended = np.zeros((rows, 1), np.float32), np.ones((rows, 2), dtype=bool), np.ones(rows, dtype=bool)
    rewards = np.full(rows, reward, np.float32)
    return Steps(seen, masks, np.array(actions), floats(*probabilities), rewards, seen, masks, ended, ~ended)


def mostly_first(observations: Floats, masks: Flags) -> Floats:
    return np.tile(floats(0.9, 0.1), (len(observations), 1))


def test_ratios_by_hand() -> None:
    """0.9 / 0.5 and 0.1 / 0.5; 0.9 / 0.1 is nine and counts as two."""
    told = importance(floats(0.9, 0.1, 0.9), floats(0.5, 0.5, 0.1), largest=2.0)
    assert told.tolist() == pytest.approx([1.8, 0.2, 2.0])


def test_effective_sample_size_by_hand() -> None:
    """(1.8 + 0.2 + 2)² / (3.24 + 0.04 + 4) = 16 / 7.28"""
    assert effective_sample_size(np.array([1.8, 0.2, 2.0])) == pytest.approx(16.0 / 7.28)
    assert effective_sample_size(np.zeros(3)) == 0.0


@given(st.lists(st.floats(0.001, 2.0), min_size=1, max_size=50))
def test_weights_are_worth_at_least_one_experience_and_at_most_all(weights: list[float]) -> None:
    assert 1.0 - 1e-9 <= effective_sample_size(np.array(weights)) <= len(weights) + 1e-9


def test_actions_come_as_often_as_the_borrower_would_take_them() -> None:
    """Drawn evenly by the lender, an action the borrower takes nine times in ten is nine tenths of what it borrows."""
    shared = Shared(1_000, seed=3)
    shared.lend("lender", steps([0, 1] * 500, [0.5] * 1000))
    borrowed = shared.borrow("borrower", 4_000, mostly_first, {"lender": 1.0})
    assert borrowed is not None
    assert (borrowed.steps.actions == 0).mean() == pytest.approx(0.9, abs=0.02)
    assert borrowed.effective_size == pytest.approx(1000 * 1.0 / 1.64)  # (1.8 + 0.2)² / (2 · (1.8² + 0.2²)) of them


def test_a_lender_is_kept_as_often_as_it_is_trusted_and_nobody_borrows_from_itself() -> None:
    shared = Shared(100, seed=3)
    shared.lend("trusted", steps([0] * 100, [0.9] * 100))
    shared.lend("doubted", steps([0] * 100, [0.9] * 100))
    shared.lend("borrower", steps([0] * 100, [0.9] * 100))
    borrowed = shared.borrow("borrower", 4_000, mostly_first, {"trusted": 1.0, "doubted": 0.25, "borrower": 1.0})
    assert borrowed is not None
    assert set(borrowed.lenders) == {"trusted", "doubted"}
    assert borrowed.lenders.count("doubted") / borrowed.lenders.count("trusted") == pytest.approx(0.25, abs=0.05)
    assert shared.borrow("borrower", 10, mostly_first, {"doubted": 0.0}) is None


def test_only_the_last_are_kept() -> None:
    shared = Shared(2, seed=0)
    shared.lend("lender", steps([0], [1.0], reward=1.0))
    shared.lend("lender", steps([0, 0], [1.0, 1.0], reward=2.0))
    borrowed = shared.borrow("borrower", 50, mostly_first, {"lender": 1.0})
    assert borrowed is not None
    assert set(borrowed.steps.rewards.tolist()) == {2.0}


@pytest.mark.parametrize("probability", [0.0, 1.5, float("nan")])
def test_an_experience_without_its_probability_is_refused(probability: float) -> None:
    with pytest.raises(RefusedInput, match="probability"):
        Shared(10, seed=0).lend("lender", steps([0], [probability]))


def test_trust_by_hand() -> None:
    """Rewards 0, 2, 0, 2. The running mean expects 0, 0, 1, 2/3: errors 0, 4, 1, 16/9, their mean 61/36."""
    trust = Trust(doubt=4)
    rewards = floats(0, 2, 0, 2)
    others = {"right": rewards, "half": floats(0.5, 1.5, 0.5, 1.5), "wrong": floats(2, 0, 2, 0)}
    trust.observe(rewards, own=floats(1, 1, 1, 1), others=others)
    assert trust.skill("wrong") == pytest.approx(1.0 - 4.0 * 36 / 61)
    assert trust.of(("right", "wrong", "stranger")) == {"right": 1.0, "wrong": 0.0, "stranger": 0.0}
    assert trust["half"] == pytest.approx(1.0 - 0.25 * 36 / 61)  # more than its own, 1 − 36 / 61


def test_a_lender_with_less_skill_than_the_borrower_is_believed_still_less() -> None:
    trust = Trust(doubt=4)
    rewards = floats(0, 2, 0, 2)
    trust.observe(rewards, own=rewards, others={"half": floats(0.5, 1.5, 0.5, 1.5)})
    assert trust["half"] == pytest.approx((1.0 - 0.25 * 36 / 61) ** 2 / 1.0)


def test_nothing_is_believed_too_early() -> None:
    trust = Trust(doubt=3)
    trust.observe(floats(0, 1), own=floats(0, 0), others={"lender": floats(0, 1)})
    assert trust["lender"] == 0.0
    trust.observe(floats(0), own=floats(0), others={"lender": floats(0)})
    assert trust["lender"] == 1.0


def test_with_a_related_agent_it_learns_sooner_and_with_an_unrelated_one_not_later() -> None:
    """The whole, with intervals, is benchmarks/sharing.py; here the first decisions of one seed."""
    right = {company: np.mean(curve(company, 1, 64, practice=200)) for company in ("alone", "related", "unrelated")}
    assert right["related"] > right["alone"] + 0.1
    assert right["unrelated"] > right["alone"] - 0.1
