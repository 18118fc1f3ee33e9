"""The t-test and the effect size people know. Valid for one look that was planned beforehand, and for no other: looked
at every hour, a t-test at 5 % finds a difference in most pairs of equal arms sooner or later. Shown beside
`sequences`, never decided by."""

import math
from typing import NamedTuple

import numpy as np

from whet.improvement.proving.sequences import Values

LABEL = "valid for one look only"
_TINY, _MOST_TERMS = 1e-300, 10_000


class FixedTest(NamedTuple):
    """Welch's test; each number is None where it is not defined."""

    t: float | None
    degrees: float | None
    p: float | None
    cohens_d: float | None  # with the pooled standard deviation, candidate − production
    label: str = LABEL


def fixed_test(candidate: Values, production: Values) -> FixedTest:
    first, second = (np.asarray(values, dtype=np.float64).ravel() for values in (candidate, production))
    if min(len(first), len(second)) < 2 or not (np.isfinite(first).all() and np.isfinite(second).all()):
        return FixedTest(None, None, None, None)
    return _test(first.mean() - second.mean(), first.var(ddof=1), second.var(ddof=1), len(first), len(second))


def _test(difference: float, first: float, second: float, many: int, others: int) -> FixedTest:
    parts = first / many, second / others
    variance = sum(parts)
    if not 0.0 < variance < math.inf:
        return FixedTest(None, None, None, None)
    t = difference / math.sqrt(variance)
    degrees = variance**2 / (parts[0] ** 2 / (many - 1) + parts[1] ** 2 / (others - 1))
    pooled = ((many - 1) * first + (others - 1) * second) / (many + others - 2)
    return FixedTest(float(t), float(degrees), student_tails(t, degrees), float(difference / math.sqrt(pooled)))


def student_tails(t: float, degrees: float) -> float:
    """P(|T| ≥ |t|): the regularised incomplete beta function at ν / (ν + t²)."""
    return _incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # beyond its mean the fraction converges slowly; the mirror image does not
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    ways = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(ways + a * math.log(x) + b * math.log1p(-x)) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, by Lentz's method."""
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _apart(1.0 + term * d)
            c = _apart(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _apart(value: float) -> float:
    """From zero, so that it can be divided by."""
    return value if abs(value) > _TINY else _TINY
