"""How likely a test is to fail: the power law, the factors and what is learned, against numbers worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import unhurried

from whet.skills.ordering.columns import Columns
from whet.skills.ordering.hazard import Hazard


def after(*runs: str) -> Columns:
    """One test t, with these runs."""
    columns = Columns()
    at = columns.meet(["t"])
    for number, outcome in enumerate("".join(runs)):
        columns.run(at, np.array([outcome == "f"]), number)
    return columns


def probability(columns: Columns, hazard: Hazard | None = None) -> float:
    return float((hazard or Hazard()).probabilities(columns, columns.meet(["t"]))[0])


@pytest.mark.parametrize(
    ("runs", "likely"),
    [
        ("", 0.3),  # new: 0.3 × 1^−0.8
        ("p", 0.172305),  # 0.3 × 2^−0.8
        ("pp", 0.124574),  # 0.3 × 3^−0.8
        (3 * "p", 0.082784),  # three and four runs are a kind: 0.3 × 5^−0.8
        (4 * "p", 0.082784),
        (300 * "p", 0.002481),  # 0.3 × 401^−0.8
        ("f", 0.48),  # failed once, just now: 0.6 × 0.8
        ("ff", 0.6),  # twice in a row: 0.6 × 1
        (4 * "f", 0.72),  # 0.6 × 1.2
        ("fp", 0.275688),  # 0.6 × 2^−0.8 × 0.8
        ("fpp", 0.199317),  # 0.6 × 3^−0.8 × 0.8
        ("fpfp", 0.344609),  # two failures in all: 0.6 × 2^−0.8
        ("fpf", 0.48),  # the streak counts while it lasts
    ],
)
def test_it_starts_from_a_power_law(runs: str, likely: float) -> None:
    assert probability(after(runs)) == pytest.approx(likely, abs=1e-6)


def test_a_failure_raises_its_kind_and_the_test_itself() -> None:
    columns, hazard = after(), Hazard()
    hazard.learn(columns, columns.meet(["t"]), np.array([True]))
    # Its kind: (60 × 0.3 + 1) / 61. Its own: (1 + 1) / (0.3 + 1).
    assert probability(columns, hazard) == pytest.approx(19 / 61 * 2 / 1.3)
    another = Columns()
    assert probability(another, hazard) == pytest.approx(19 / 61)


def timed(*seconds: float) -> Columns:
    """Tests that never ran, as long as this."""
    columns = Columns()
    at = columns.meet([f"t{i}" for i in range(len(seconds))])
    columns.time(at, np.zeros(len(seconds), dtype=bool), np.array(seconds))
    return columns


def test_long_tests_that_fail_make_long_tests_likelier() -> None:
    columns, hazard = timed(1, 2, 3, 4, 5), Hazard()
    at = np.arange(5)
    hazard.learn(columns, at, np.array([False, False, False, False, True]))
    kind = (18 + 1) / (60 + 5)
    short, long = kind / 1.3 * (2 / 2.2), kind * (2 / 1.3) * (3 / 2.2)
    assert hazard.probabilities(columns, at) == pytest.approx([short] * 4 + [long])


def test_one_run_counts_once_for_lengths_however_many_fail() -> None:
    columns, hazard = timed(5, 4, 3, 2, 1), Hazard()
    hazard.learn(columns, np.arange(5), np.array([True, False, False, False, True]))
    assert hazard.length_failed.tolist() == [2.5, 2, 2, 2, 2.5]
    assert hazard.length_expected == pytest.approx([2.2] * 5)


def test_a_test_without_a_duration_lies_in_the_middle() -> None:
    columns, hazard = timed(9, 1, np.nan, 2, 8), Hazard()
    hazard.learn(columns, np.arange(5), np.array([False, False, True, False, False]))
    assert hazard.length_failed.tolist() == [2, 2, 3, 2, 2]


def test_few_tests_say_nothing_about_lengths() -> None:
    columns, hazard = timed(1, 2, 3, 4), Hazard()
    hazard.learn(columns, np.arange(4), np.array([False, False, False, True]))
    assert hazard.length_failed.tolist() == [2] * 5


def test_a_kind_that_always_fails_is_believed_in_the_end() -> None:
    hazard = Hazard()
    for _ in range(2000):
        hazard.learn(Columns(), np.array([0]), np.array([True]))
    assert probability(Columns(), hazard) == pytest.approx((18 + 2000) / 2060)


@unhurried
@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7).filter(any), max_size=30))
def test_probabilities_are_probabilities(history: list[list[bool]]) -> None:
    columns, hazard = timed(0, 0, 1, 1e9, np.nan, 2, 3), Hazard()
    at = np.arange(7)
    for number, row in enumerate(history):
        failed = np.array(row)
        hazard.learn(columns, at, failed)
        columns.run(at, failed, number)
        likely = hazard.probabilities(columns, at)
        assert ((likely > 0) & (likely <= 1)).all()
