"""Evidence from the log: unbiased, never too high, and silent where it cannot know."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.improvement.proving.off_policy import Logged, Range, evidence, spent

UNIT = Range(0.0, 1.0)


def log(
    actions: npt.NDArray[Any],
    rewards: npt.NDArray[Any],
    production: list[float],
    candidate: list[float],
    together: int = 1,
) -> Logged:
    count = len(rewards)
    return Logged(
        runs=np.arange(count) // together,
        states=np.zeros(count, dtype=np.int64),
        actions=np.asarray(actions, dtype=np.int64),
        rewards=np.asarray(rewards, dtype=np.float64),
        production=np.tile(production, (count, 1)),
        candidate=np.tile(candidate, (count, 1)),
    )


def drawn(
    seed: int, count: int, means: tuple[float, float], production: tuple[float, float] = (0.5, 0.5), together: int = 1
) -> Logged:
    """Two actions that pay 1 with these chances; the candidate takes the second with 0.8."""
    rng = np.random.default_rng(seed)
    actions = (rng.random(count) < production[1]).astype(np.int64)
    rewards = (rng.random(count) < np.array(means)[actions]).astype(np.float64)
    return log(actions, rewards, list(production), [0.2, 0.8], together)


def test_it_agrees_with_another_implementation() -> None:
    """The same log gave vw-estimators 0.2.2 (`bandits.cs`, two sides of 5 % each) 0.58340 … 0.70824 for the candidate,
    around 0.6652, where production earned 0.571. In the difference, what both have in common cancels: it is known
    better, and lies within."""
    rng = np.random.default_rng(7)
    actions = rng.integers(2, size=1000)
    rewards = np.where(rng.random(1000) < np.where(actions == 1, 0.7, 0.4), 1.0, 0.0)
    assert (int(actions.sum()), float(rewards.sum())) == (516, 571.0)
    found = evidence(log(actions, rewards, [0.5, 0.5], [0.2, 0.8]), UNIT, level=0.9)
    assert found.lower is not None
    assert found.upper is not None
    assert 0.58340 - 0.571 < found.lower < 0.09 < found.upper < 0.70824 - 0.571  # 0.09 is the truth
    assert found.level == 0.95


def expected(production: list[float], candidate: list[float], pays: tuple[float, float], reward: Range) -> float:
    """The mean estimate over every log of four decisions that production could have left."""
    total = 0.0
    for actions in itertools.product((0, 1), repeat=4):
        rewards = np.array([pays[a] + 0.1 * place for place, a in enumerate(actions)])  # 0.1: the place earns it anyway
        estimate = evidence(log(np.array(actions), rewards, production, candidate), reward).estimate
        assert estimate is not None
        total += math.prod(production[a] for a in actions) * estimate
    return total


def test_the_estimate_is_unbiased() -> None:
    truth = (0.6 - 0.25) * 0.9 + (0.4 - 0.75) * 0.3
    assert expected([0.25, 0.75], [0.6, 0.4], (0.9, 0.3), Range(-1.0, 2.0)) == pytest.approx(truth, abs=1e-12)


def test_beyond_the_largest_cap_the_least_is_assumed() -> None:
    """The second action weighs 0.5 / 0.01 = 50, of which 40 count; the rest earns 0, the least there is. The places
    earn 0.15 on average."""
    cautious = (40.0 * 0.01 - 0.01) * (0.9 + 0.15) + (0.5 - 0.99) * (0.2 + 0.15)
    found = expected([0.99, 0.01], [0.5, 0.5], (0.2, 0.9), Range(0.0, 2.0))
    assert found == pytest.approx(cautious, abs=1e-12)
    assert found < 0.49 * (0.9 - 0.2)


def test_the_effective_size_by_hand() -> None:
    """Weights 0.4 and 1.6, three of each: (3·0.4 + 3·1.6)² / (3·0.16 + 3·2.56) = 36 / 8.16."""
    found = evidence(log(np.array([0, 0, 0, 1, 1, 1]), np.zeros(6), [0.5, 0.5], [0.2, 0.8]), UNIT)
    assert found.effective == pytest.approx(36.0 / 8.16)
    assert found.lower is None
    assert "200 are needed" in found.why


def test_decisions_of_one_run_count_together() -> None:
    """The same decision five times over: five runs would say more, one run of five says what one decision does."""
    single = drawn(3, 400, (0.4, 0.7))
    fold = Logged._make(np.repeat(column, 5, axis=0) for column in single)
    once, together, apart = (evidence(each, UNIT) for each in (single, fold, fold._replace(runs=np.arange(2000))))
    assert together.runs == 400
    assert together.effective == pytest.approx(once.effective)
    assert together.lower == pytest.approx(once.lower, abs=1e-5)
    assert apart.lower is not None
    assert together.lower is not None
    assert together.lower < apart.lower


def test_a_candidate_that_decides_like_production_gains_nothing() -> None:
    same = drawn(3, 2000, (0.4, 0.7))
    found = evidence(same._replace(candidate=same.production), UNIT)
    assert (found.estimate, found.lower, found.upper) == (0.0, 0.0, 0.0)


def test_what_production_never_does_counts_as_the_worst() -> None:
    """All of what the candidate does is unknown: it may earn the least there is, 0.7 less than production."""
    found = evidence(log(np.zeros(2000), np.full(2000, 0.7), [1.0, 0.0], [0.0, 1.0]), UNIT)
    assert found.unseen == 1.0
    assert found.lower is None  # none of the log is worth anything
    half = evidence(log(np.zeros(2000), np.full(2000, 0.7), [1.0, 0.0], [0.5, 0.5]), UNIT)
    assert half.estimate == pytest.approx(-0.35)
    assert half.upper is None
    assert half.lower is not None
    assert half.lower <= -0.35


def test_rare_actions_never_count_for_more_than_they_are_worth() -> None:
    """Production takes the second action once in a hundred; the candidate always. It earns 0.5 more there."""
    rng = np.random.default_rng(2)
    actions = (rng.random(20_000) < 0.01).astype(np.int64)
    found = evidence(log(actions, 0.2 + 0.5 * actions, [0.99, 0.01], [0.0, 1.0]), UNIT)
    assert found.unseen == 1.0
    assert found.lower is None or found.lower < 0.5


@pytest.mark.parametrize(
    ("column", "place", "value", "why"),
    [
        ("rewards", (7,), math.nan, "rewards are missing"),
        ("rewards", (7,), math.inf, "rewards are missing"),
        ("rewards", (7,), 1.5, "outside 0 to 1"),
        ("production", (7, 0), math.nan, "probabilities are missing"),
        ("candidate", (7, 1), math.nan, "probabilities are missing"),
        ("candidate", (7, 1), math.inf, "probabilities are missing"),
        ("candidate", (7, 1), 0.9, "add up to one"),
        ("production", (7, 0), -0.5, "add up to one"),
        ("production", (7, slice(None)), (0.0, 1.0), "probability of zero"),
    ],
)
def test_a_single_bad_number_leaves_nothing_to_say(column: str, place: tuple[int, ...], value: float, why: str) -> None:
    good = drawn(1, 2000, (0.2, 0.9))
    good.actions[7] = 0
    assert evidence(good, UNIT).lower is not None
    getattr(good, column)[place] = value
    found = evidence(good, UNIT)
    assert (found.effective, found.estimate, found.lower, found.upper) == (None, None, None, None)
    assert why in found.why


@pytest.mark.parametrize("reward", [Range(math.nan, 1.0), Range(0.0, math.inf), Range(1.0, 0.0)])
def test_without_a_range_nothing_is_known(reward: Range) -> None:
    assert evidence(drawn(1, 2000, (0.2, 0.9)), reward).lower is None


def test_what_is_worse_is_known_to_be() -> None:
    found = evidence(drawn(6, 1000, (0.7, 0.4)), UNIT)
    assert found.upper is not None
    assert found.upper < 0.0


def test_no_decisions_say_nothing() -> None:
    assert "no decisions" in evidence(drawn(1, 0, (0.5, 0.5)), UNIT).why


def test_the_error_is_spent_over_all_candidates() -> None:
    assert spent(1, 0.05) == pytest.approx(0.025)
    assert spent(20, 0.05) == pytest.approx(0.05 / 420)
    assert sum(spent(k, 0.05) for k in range(1, 2000)) < 0.05
    with pytest.raises(RefusedInput, match="Count from 1"):
        spent(0, 0.05)


def test_later_candidates_need_more() -> None:
    logged = drawn(4, 2000, (0.4, 0.6))
    bounds = [evidence(logged, UNIT, tried=k).lower for k in (1, 5, 50)]
    known = [each for each in bounds if each is not None]
    assert known == sorted(known, reverse=True)
    assert len(set(known)) == 3


@given(st.integers(0, 10_000), st.floats(0.05, 0.95), st.floats(0.0, 1.0))
def test_the_bounds_are_in_order_and_possible(seed: int, chance: float, second: float) -> None:
    found = evidence(drawn(seed, 400, (0.5, second), (1.0 - chance, chance)), UNIT)
    if found.lower is None or found.estimate is None:
        return
    assert found.lower <= found.estimate
    assert found.upper is None or found.estimate <= found.upper


def deployments(means: tuple[float, float], simulations: int) -> int:
    found = [evidence(drawn(seed, 1000, means), UNIT) for seed in range(simulations)]
    return sum(each.lower is not None and each.lower > 0.0 for each in found)


def test_equal_and_worse_candidates_are_seldom_deployed_and_better_ones_are() -> None:
    assert deployments((0.5, 0.5), 60) <= 3
    assert deployments((0.5, 0.45), 60) <= 3
    assert deployments((0.4, 0.6), 60) >= 54


def test_a_logger_that_changes_is_one_mixture() -> None:
    """Half of the time production took the second action always, half of the time never. As one logger it took it with
    0.5, and the whole log speaks; decision by decision, a chance of 0 would leave the candidate without evidence."""
    rng = np.random.default_rng(3)
    actions = np.arange(1000) // 2 % 2
    rewards = (rng.random(1000) < np.where(actions == 1, 0.8, 0.2)).astype(np.float64)
    changing = log(actions, rewards, [0.5, 0.5], [0.1, 0.9])
    chances = np.stack((1.0 - actions, actions), axis=1).astype(np.float64)
    found = evidence(changing._replace(production=chances), UNIT)
    assert found == evidence(changing, UNIT)
    assert found.lower is not None
    assert 0.1 < found.lower < 0.24  # of a gain of (0.9 − 0.5) · 0.6


def test_the_mixture_is_of_each_state_alone() -> None:
    """In the other state production never takes the second action, whatever it does in the first."""
    both = log(np.array([0, 1] * 300), np.array([0.0, 1.0] * 300), [0.5, 0.5], [0.0, 1.0])
    states = np.arange(600) // 300
    chances = np.where(states[:, None] == 1, [[1.0, 0.0]], [[0.5, 0.5]])
    apart = both._replace(states=states, production=chances, actions=np.where(states == 1, 0, both.actions))
    assert evidence(both, UNIT).unseen == 0.0
    assert evidence(apart, UNIT).unseen == 0.5
