"""Probabilities of being best, against draws, against closed forms, and under reordering."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.policies.beliefs import Beliefs, Vector
from whet.policies.posterior import best_probabilities, good_enough_probabilities, normal_cdf


def beliefs(*pairs: tuple[float, float]) -> Beliefs:
    return Beliefs(np.array([m for m, _ in pairs]), np.array([e for _, e in pairs]))


def drawn(belief: Beliefs, size: int = 200_000) -> Vector:
    """The share of joint draws in which each action is the largest."""
    rng = np.random.default_rng(3)
    draws = belief.means + belief.errors * rng.standard_normal((size, len(belief.means)))
    return np.asarray(np.bincount(draws.argmax(axis=1), minlength=len(belief.means)) / size)


some_beliefs = st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(1e-6, 1e3)), min_size=1, max_size=7)


@given(st.floats(-12.0, 12.0))
def test_the_normal_distribution_function_is_that_of_the_library(x: float) -> None:
    exact = 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))
    assert float(normal_cdf(np.array([x]))[0]) == pytest.approx(exact, abs=1.5e-7)


def test_the_normal_distribution_function_is_symmetric() -> None:
    x = np.linspace(0.0, 8.0, 200)
    assert normal_cdf(x) + normal_cdf(-x) == pytest.approx(np.ones(200))


def test_one_action_is_the_best() -> None:
    assert best_probabilities(beliefs((3.0, 2.0))) == pytest.approx([1.0])
    assert best_probabilities(beliefs((3.0, 0.0))) == pytest.approx([1.0])


@pytest.mark.parametrize("count", [2, 3, 5, 12])
@pytest.mark.parametrize("error", [0.0, 1e-6, 1.0, 1e3])
def test_equal_actions_share_equally(count: int, error: float) -> None:
    assert best_probabilities(beliefs(*[(50.0, error)] * count)) == pytest.approx([1 / count] * count)


@pytest.mark.parametrize(
    ("first", "second"),
    [((0.0, 1.0), (1.0, 1.0)), ((0.0, 3.0), (1.0, 4.0)), ((5.0, 1e-6), (0.0, 10.0)), ((2.0, 1e-3), (2.001, 1e-3))],
)
def test_two_actions_have_a_closed_form(first: tuple[float, float], second: tuple[float, float]) -> None:
    """P(X > Y) = Φ((μx − μy) / √(σx² + σy²))."""
    gap = (first[0] - second[0]) / math.hypot(first[1], second[1])
    exact = 0.5 * (1.0 + math.erf(gap / math.sqrt(2.0)))
    assert best_probabilities(beliefs(first, second))[0] == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize(
    "belief",
    [
        beliefs((0.0, 1.0), (1.0, 2.0), (2.0, 0.5)),
        beliefs((0.0, 1e-6), (0.0, 10.0), (1.0, 1e-6)),
        beliefs((10.0, 1e-6), (10.0, 10.0), (9.0, 0.1), (-50.0, 40.0)),
        beliefs(*[(float(i), 3.0) for i in range(10)]),
        beliefs((1e5, 1.0), (1e5 + 1.0, 1.0), (0.0, 1e5)),
    ],
)
def test_the_integral_agrees_with_draws(belief: Beliefs) -> None:
    assert best_probabilities(belief) == pytest.approx(drawn(belief), abs=0.006)


@given(some_beliefs)
def test_probabilities_are_positive_and_sum_to_one(pairs: list[tuple[float, float]]) -> None:
    found = best_probabilities(beliefs(*pairs))
    assert float(found.sum()) == pytest.approx(1.0, abs=1e-12)
    assert (found > 0.0).all()


@given(some_beliefs, st.integers(0, 2**32))
def test_reordering_the_actions_reorders_the_probabilities(pairs: list[tuple[float, float]], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(pairs))
    plain = best_probabilities(beliefs(*pairs))
    shuffled = best_probabilities(beliefs(*[pairs[i] for i in order]))
    assert shuffled == pytest.approx(plain[order], abs=1e-9)


@given(some_beliefs, st.floats(-500, 500))
def test_what_all_have_in_common_does_not_matter(pairs: list[tuple[float, float]], shift: float) -> None:
    moved = beliefs(*[(m + shift, e) for m, e in pairs])
    # where two beliefs are sharper than float addition is exact, the shift itself blurs them
    if min(e for _, e in pairs) > 1e-3:
        assert best_probabilities(moved) == pytest.approx(best_probabilities(beliefs(*pairs)), abs=1e-6)


@given(some_beliefs)
def test_being_certainly_best_is_certain(pairs: list[tuple[float, float]]) -> None:
    found = best_probabilities(beliefs((1e5, 1.0), *pairs))
    assert found[0] == pytest.approx(1.0, abs=1e-6)


def test_a_better_mean_is_more_often_best() -> None:
    chances = [best_probabilities(beliefs((m, 1.0), (0.0, 1.0), (0.0, 2.0)))[0] for m in np.linspace(-3, 3, 13)]
    assert chances == sorted(chances)


def test_one_action_is_good_enough() -> None:
    for mean in (-10.0, 0.0, 10.0):
        assert good_enough_probabilities(beliefs((mean, 5.0))) == pytest.approx([1.0])


def test_within_five_percent_of_the_best_is_good_enough() -> None:
    sure = beliefs((100.0, 0.0), (95.5, 0.0), (94.5, 0.0))
    assert list(good_enough_probabilities(sure)) == [1.0, 1.0, 0.0]


def test_the_tolerance_works_below_nought_too() -> None:
    # the best is −100; 5 % of it is 5
    sure = beliefs((-100.0, 0.0), (-104.5, 0.0), (-105.5, 0.0))
    assert list(good_enough_probabilities(sure)) == [1.0, 1.0, 0.0]


def test_where_the_best_is_nought_only_the_best_will_do() -> None:
    assert list(good_enough_probabilities(beliefs((0.0, 0.0), (-1e-9, 0.0)))) == [1.0, 0.0]


@given(some_beliefs)
def test_equal_beliefs_give_equal_confidence_within_bounds(pairs: list[tuple[float, float]]) -> None:
    first, again = (good_enough_probabilities(beliefs(*pairs)) for _ in range(2))
    assert list(first) == list(again)
    assert ((first >= 0.0) & (first <= 1.0)).all()
    # someone is the best in every draw
    assert float(first.sum()) >= 1.0 - 1e-12


def test_confidence_is_at_least_the_chance_of_being_best() -> None:
    belief = beliefs((10.0, 3.0), (11.0, 3.0), (5.0, 8.0))
    # 512 draws: a standard error of 0.022
    assert (good_enough_probabilities(belief) >= best_probabilities(belief) - 0.07).all()


def test_confidence_is_that_of_many_draws() -> None:
    belief = beliefs((10.0, 2.0), (11.0, 2.0), (5.0, 6.0))
    rng = np.random.default_rng(5)
    draws = belief.means + belief.errors * rng.standard_normal((100_000, 3))
    best = draws.max(axis=1, keepdims=True)
    many = (draws >= best - 0.05 * np.abs(best)).mean(axis=0)
    assert good_enough_probabilities(belief) == pytest.approx(many, abs=0.07)


def test_equal_beliefs_of_very_many_actions_stay_independent() -> None:
    """With 80 equal actions each is rarely the best; none may be tied to another by the numbers drawn."""
    found = good_enough_probabilities(beliefs(*[(0.0, 1.0)] * 80), tolerance=0.0)
    assert float(found.sum()) == pytest.approx(1.0)
