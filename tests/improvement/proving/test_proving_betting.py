"""A bound on a mean that holds for every shape of numbers with a floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.improvement.proving.betting import Stake, lower_bound, proven

VALUES = np.array([0.3, -0.1, 0.5, 0.2, 0.9, -0.4, 0.6, 0.7, 0.1, 0.4, 0.8, 0.2] * 5)


@pytest.mark.parametrize(
    ("floor", "alpha", "bound"),
    # Worked out with products instead of logarithms, and scipy's brentq instead of halving.
    [(-1.0, 0.05, 0.1943473706355161), (-1.0, 0.025, 0.17806643764299576), (-2.0, 0.05, 0.1376783373705719)],
)
def test_the_bound_is_where_the_wealth_is_enough(floor: float, alpha: float, bound: float) -> None:
    assert lower_bound([Stake(VALUES, floor)], alpha) == pytest.approx(bound, abs=1e-6)


def test_one_win_by_hand() -> None:
    """A number of 3 over a floor of −1 makes 1 + 3 θ of a bet of θ against "at most 0":
    on average over the eight fractions 1.85, which is proof at an error of 0.6 and not at 0.5."""
    stake = [Stake(np.array([3.0]), -1.0)]
    assert proven(stake, 0.0, 0.6)
    assert not proven(stake, 0.0, 0.5)


def test_a_second_reading_never_costs_more_than_half_the_wealth() -> None:
    good, useless = Stake(VALUES, -1.0), Stake(VALUES - 100.0, -1000.0)
    both = lower_bound([good, useless], 0.05)
    assert both == pytest.approx(lower_bound([good], 0.025), abs=1e-3)


@given(st.lists(st.floats(-1.0, 50.0), min_size=1, max_size=200), st.floats(0.001, 0.5))
def test_between_the_floor_and_the_mean(numbers: list[float], alpha: float) -> None:
    values = np.array(numbers)
    bound = lower_bound([Stake(values, -1.0)], alpha)
    assert -1.0 <= bound <= values.mean() + 1e-12


@given(st.lists(st.floats(-1.0, 50.0), min_size=2, max_size=50), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(numbers: list[float], dice: object) -> None:
    shuffled = list(numbers)
    getattr(dice, "shuffle")(shuffled)  # noqa: B009 - Hypothesis gives a Random
    first, second = (lower_bound([Stake(np.array(each), -1.0)], 0.05) for each in (numbers, shuffled))
    assert first == pytest.approx(second, abs=1e-5)


def test_rare_large_losses_are_seldom_missed() -> None:
    """A mean of −0.01, all of it one loss of 10 in 500: a normal bound would call it positive whenever none was met."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(400):
        values = np.where(rng.random(300) < 0.002, -10.0, 0.01)
        wrong += lower_bound([Stake(values, -10.0)], 0.05) > 0.0
    assert wrong == 0
