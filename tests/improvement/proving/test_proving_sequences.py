"""Comparisons that may be looked at any time: the formula, what they refuse, and how often they err."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.improvement.intervals import Matrix
from whet.improvement.proving import sequences
from whet.improvement.proving.sequences import Arm, compare, compare_arms, compare_shares

# The half-width for a unit's variance of 1, from the mixture's integral itself (scipy's quad and brentq), for so many
# units in each arm.
RADIUS = {1200: 0.12530042759217092, 100: 0.48171950306046624}


@pytest.mark.parametrize("units", RADIUS)
def test_the_interval_is_the_mixtures(units: int) -> None:
    found = compare_arms(Arm(units, 1.0, 1.0), Arm(units, 0.5, 1.0))
    assert found.lower is not None
    assert found.upper is not None
    assert found.difference == pytest.approx(0.5)
    assert (found.lower + found.upper) / 2.0 == pytest.approx(0.5)
    # Student's t instead of the normal, and a little of the difference in the spread, make it wider, and not by much.
    half = (found.upper - found.lower) / 2.0
    assert 1.0 <= half / RADIUS[units] <= 1.0 + 20.0 / units


@pytest.mark.parametrize(
    ("normal", "degrees", "student"),  # equally likely, as scipy has them
    [(3.0, 10.0, 3.956936660002751), (3.0, 38.0, 3.209883519531), (4.0, 20.0, 5.035537882061582)],
)
def test_limits_are_those_of_students_t(normal: float, degrees: float, student: float) -> None:
    found = math.sqrt(sequences._as_student(normal**2, degrees))
    assert student <= found <= 1.003 * student


def test_what_is_better_and_what_is_worse_is_decided() -> None:
    rng = np.random.default_rng(1)
    low, high = rng.standard_normal(500), rng.standard_normal(500) + 1.0
    assert compare(high, low).decided == "better"
    assert compare(low, high).decided == "worse"
    assert compare(low, low[::-1]).decided is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_missing_number_leaves_no_interval(bad: float) -> None:
    good = [float(n % 7) for n in range(100)]
    for found in (compare([*good, bad], good), compare(good, [*good, bad]), compare_shares([bad, *good], good)):
        assert found[:3] == (None, None, None)
        assert found.decided is None
        assert "missing" in found.why
        assert found.candidate_units + found.production_units == 201


@pytest.mark.parametrize(
    ("candidate", "production", "why"),
    [
        ([], [], "fewer than 20"),
        ([1.0] * 19, [5.0] * 100, "fewer than 20"),
        ([1.0] * 100, [1.0] * 100, "all values are the same"),
        ([1e308, -1e308] * 20, [1.0] * 40, "too large"),
    ],
)
def test_too_little_to_say_anything(candidate: list[float], production: list[float], why: str) -> None:
    found = compare(candidate, production)
    assert found.decided is None
    assert found.lower is None
    assert why in found.why


def test_shares_outside_their_range_are_refused_and_bounds_stay_within() -> None:
    assert "no shares" in compare_shares([2.0] * 30, [0.5] * 30).why
    found = compare_shares([0.0] * 20, [1.0] * 200)
    assert found.decided == "worse"
    assert found.lower == -1.0


def test_an_arm_without_failures_is_not_certain() -> None:
    found = compare_shares([1.0] * 30, [1.0] * 300)
    assert found.decided is None
    assert found.lower is not None
    assert found.lower < -0.05


def test_arms_that_never_vary_but_differ_are_told_apart() -> None:
    assert compare([0.0] * 30, [15.0] * 30).decided == "worse"


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(RefusedInput, match="confidence level"):
        compare([1.0, 2.0] * 20, [1.0, 2.0] * 20, level)


values = st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=60)


@given(values, values, st.floats(-100.0, 100.0), st.floats(0.01, 100.0))
def test_neither_units_of_measure_nor_names_of_the_arms_matter(
    first: list[float], second: list[float], moved: float, scale: float
) -> None:
    found, mirrored = compare(first, second), compare(second, first)
    other = compare([scale * x + moved for x in first], [scale * x + moved for x in second])
    if found.lower is None or found.upper is None or other.lower is None or mirrored.upper is None:
        return
    size = scale * (abs(found.lower) + abs(found.upper)) + 1e-3 * (1.0 + abs(moved)) + 1e-9 * scale * 1e6
    assert other.lower == pytest.approx(scale * found.lower, abs=1e-6 * size)
    assert mirrored.upper == pytest.approx(-found.lower)


@given(values, values)
def test_a_higher_level_is_wider(first: list[float], second: list[float]) -> None:
    narrow, wide = compare(first, second, 0.9), compare(first, second, 0.99)
    if narrow.lower is not None and wide.lower is not None:
        assert wide.lower <= narrow.lower


Draw = Callable[[np.random.Generator, int], Matrix]
NULLS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_t(2.5, n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "rare losses": lambda rng, n: rng.standard_normal(n) - 10.0 * (rng.random(n) < 0.01),
}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("others", [1, 9])
def test_equal_arms_are_seldom_told_apart_however_often_one_looks(name: str, others: int) -> None:
    """Every twenty units from the first that count, with as many and with nine times as many in the other arm."""
    rng, alarms = np.random.default_rng(20260117), 0
    for _ in range(100):
        candidate, production = NULLS[name](rng, 300), NULLS[name](rng, 300 * others)
        looks = range(20, 301, 20)
        alarms += any(compare(candidate[:n], production[: n * others]).decided for n in looks)
    assert alarms <= 5  # of 100


def test_a_small_effect_is_found() -> None:
    rng, found = np.random.default_rng(5), 0
    for _ in range(100):
        candidate, production = rng.standard_normal(1200) + 0.2, rng.standard_normal(1200)
        found += compare(candidate, production).decided == "better"
    assert found >= 90
