"""The t-test shown beside it, against numbers of scipy."""

import math

import pytest

from whet.improvement.proving.fixed import FixedTest, fixed_test, student_tails

FIRST, SECOND = [5.1, 4.9, 6.2, 5.7, 5.5, 6.1, 4.4], [4.1, 5.0, 4.8, 4.6, 5.2]


def test_welch_and_cohen_as_scipy_has_them() -> None:
    found = fixed_test(FIRST, SECOND)
    assert found.t == pytest.approx(2.1677239081344593, rel=1e-12)
    assert found.degrees == pytest.approx(9.95734013048056, rel=1e-12)
    assert found.p == pytest.approx(0.05549572731371604, rel=1e-10)
    assert found.cohens_d == pytest.approx(1.1772513835904896, rel=1e-12)
    assert "one look" in found.label


@pytest.mark.parametrize(
    ("t", "degrees", "both_tails"),
    [
        (0.0, 5.0, 1.0),
        (0.5, 1.0, 0.7048327646991335),
        (-2.0, 3.7, 0.12181720190523398),
        (4.0, 30.0, 0.0003818456360837564),
        (1.96, 1e6, 0.04999606758526985),
        (40.0, 5.0, 1.8411962171772954e-07),
    ],
)
def test_students_tails_as_scipy_has_them(t: float, degrees: float, both_tails: float) -> None:
    assert student_tails(t, degrees) == pytest.approx(both_tails, rel=1e-9)


@pytest.mark.parametrize("bad", [[], [1.0], [1.0, math.nan], [1.0, math.inf]])
def test_what_is_not_defined_is_unknown(bad: list[float]) -> None:
    assert fixed_test(bad, SECOND) == fixed_test(SECOND, bad) == FixedTest(None, None, None, None)


def test_numbers_that_never_vary_have_no_test() -> None:
    assert fixed_test([1.0, 1.0], [2.0, 2.0]).p is None
