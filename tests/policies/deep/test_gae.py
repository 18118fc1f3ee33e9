"""Advantages, explained variance and the scale of rewards, against numbers worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from whet.policies.deep.gae import Doubles, Flags, explained_variance, generalized_advantages
from whet.policies.deep.reward_scale import RewardScale

NEVER = [False, False, False]


def _column(values: list[float]) -> Doubles:
    return np.array(values, dtype=np.float64)[:, None]


def _flags(values: list[bool]) -> Flags:
    return np.array(values, dtype=np.bool_)[:, None]


def _advantages(terminated: list[bool], truncated: list[bool]) -> tuple[list[float], list[float]]:
    """Rewards 1, 2, 3, values 4, 5, 6, what followed 5, 6, 8, γ and λ a half."""
    told = generalized_advantages(
        _column([1, 2, 3]), _column([4, 5, 6]), _column([5, 6, 8]), _flags(terminated), _flags(truncated), 0.5, 0.5
    )
    return told.advantages_t[:, 0].tolist(), told.returns_t[:, 0].tolist()


def test_errors_are_summed_backwards() -> None:
    # δ: 1 + 2.5 − 4 = −0.5;  2 + 3 − 5 = 0;  3 + 4 − 6 = 1.  A₂ = 1;  A₁ = 0 + ¼·1;  A₀ = −0.5 + ¼·¼
    advantages, returns = _advantages(NEVER, NEVER)
    assert advantages == [-0.4375, 0.25, 1.0]
    assert returns == [3.5625, 5.25, 7.0]


def test_after_a_terminated_step_nothing_follows() -> None:
    # δ₁ = 2 − 5 = −3, and A₂ does not reach back: A₁ = −3;  A₀ = −0.5 − ¾
    assert _advantages([False, True, False], NEVER)[0] == [-1.25, -3.0, 1.0]


def test_after_a_truncated_step_its_last_observation_stands_for_what_would_follow() -> None:
    # δ₁ = 2 + ½·6 − 5 = 0, and A₂ does not reach back: A₁ = 0;  A₀ = −0.5
    assert _advantages(NEVER, [False, True, False])[0] == [-0.5, 0.0, 1.0]


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_with_lambda_one_returns_are_discounted_sums_and_with_zero_one_step_targets(seed: int, discount: float) -> None:
    random = np.random.default_rng(seed)
    rewards, values, following = random.normal(size=(3, 6, 2))
    cut = np.zeros((6, 2), dtype=np.bool_)
    whole = generalized_advantages(rewards, values, following, cut, cut, discount, 1.0)
    expected = following[-1]
    chained = np.concatenate((values[1:], following[-1:]))  # what followed is what came next
    whole = generalized_advantages(rewards, values, chained, cut, cut, discount, 1.0)
    for t in reversed(range(6)):
        expected = rewards[t] + discount * expected
        assert_allclose(whole.returns_t[t], expected, atol=1e-9)
    near = generalized_advantages(rewards, values, following, cut, cut, discount, 0.0)
    assert_allclose(near.returns_t, rewards + discount * following, atol=1e-9)


def test_explained_variance() -> None:
    actual = np.array([1.0, 2.0, 3.0, 4.0])  # variance 1.25
    assert explained_variance(actual, actual) == 1.0
    assert explained_variance(np.zeros(4), actual) == 0.0
    assert explained_variance(np.array([1.0, 2.0, 3.0, 0.0]), actual) == pytest.approx(1.0 - 3.0 / 1.25)
    assert math.isnan(explained_variance(actual, np.ones(4)))


def test_rewards_are_divided_by_the_deviation_of_their_discounted_sums() -> None:
    # Sums: 2;  ½·2 + 0 = 1;  ½·1 + 4 = 4.5, which ends;  then 0 from the beginning.  Mean 1.875, squares 11.1875
    scale = RewardScale().seen(_column([2, 0, 4, 0]), _flags([False, False, True, False]), 0.5)
    assert (scale.count, scale.mean, scale.squares, scale.sums) == (4, 1.875, 11.1875, (0.0,))
    assert_allclose(scale.scaled(np.array([2.0])), 2.0 / math.sqrt(11.1875 / 4), rtol=1e-6)
    assert scale.scaled(np.array([1e6])).tolist() == [10.0]


def test_sums_go_on_from_rollout_to_rollout_and_begin_again_with_other_environments() -> None:
    cut = _flags([False, False])
    scale = RewardScale().seen(_column([1, 1]), cut, 0.5)
    assert scale.sums == (1.5,)
    assert scale.seen(_column([1, 1]), cut, 0.5).sums == (1.875,)
    assert scale.seen(np.ones((1, 2)), np.zeros((1, 2), dtype=np.bool_), 0.5).sums == (1.0, 1.0)


@given(st.lists(st.floats(-100.0, 100.0), min_size=2, max_size=30), st.integers(1, 29))
def test_rollouts_seen_one_by_one_are_as_good_as_all_at_once(rewards: list[float], where: int) -> None:
    ended = np.ones((len(rewards), 1), dtype=np.bool_)
    where = min(where, len(rewards) - 1)
    parts = RewardScale().seen(_column(rewards[:where]), ended[:where], 0.9)
    parts = parts.seen(_column(rewards[where:]), ended[where:], 0.9)
    assert parts.count == len(rewards)
    assert_allclose(
        (parts.mean, parts.squares / parts.count), (np.mean(rewards), np.var(rewards)), atol=1e-9, rtol=1e-9
    )


def test_rewards_that_do_not_vary_stay_finite() -> None:
    scale = RewardScale().seen(_column([3, 3]), _flags([True, True]), 0.9)
    assert scale.scaled(_column([3, 3])).tolist() == [[10.0], [10.0]]
    assert RewardScale().scaled(np.zeros(1)).tolist() == [0.0]
