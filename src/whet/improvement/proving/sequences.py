"""Is the candidate better? Two arms compared so that the answer may be looked at as often as one likes.

A normal-mixture confidence sequence (H. Robbins 1970; its asymptotic form for unknown, unequal variances: I.
Waudby-Smith et al., "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics
2024). With V the estimated variance of the difference and τ² the mixture's variance, the difference is known to

    ± √( 2 V (1 + V/τ²) · log( √(1 + τ²/V) / α ) )

at all looks at once. One number per unit (run), never per step: steps of one run are alike, and counting each of them
would claim more evidence than there is.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from whet.core.errors import RefusedInput

# The interval is narrowest, for its level, around this many units in each arm: at a tenth of them it is a quarter wider
# than the best that could be had there, at ten times as many 7 %.
DECIDED_AROUND = 600
# Below this, a mean of skewed numbers is too far from normal for any such interval.
FEWEST_UNITS = 20
# So many units with the spread of both arms together are mixed into each arm's own: a small arm that has not met a rare
# loss yet, or in which nothing varied so far, would otherwise seem certain.
BORROWED_UNITS = 300

Verdict = Literal["better", "worse"]
Values = Sequence[float] | npt.NDArray[np.float64]


class Arm(NamedTuple):
    """What one arm's units say together."""

    units: int
    mean: float
    variance: float  # of a unit, with n − 1


class Comparison(NamedTuple):
    """Candidate − production. Without an interval, `why` says what is missing; nothing may be decided then."""

    difference: float | None
    lower: float | None
    upper: float | None
    candidate_units: int
    production_units: int
    level: float
    decided: Verdict | None
    why: str


def compare(candidate: Values, production: Values, level: float = 0.95) -> Comparison:
    """By the mean of each arm's units, e.g. the mean credited reward of each run."""
    arms = [np.asarray(values, dtype=np.float64).ravel() for values in (candidate, production)]
    if not all(np.isfinite(arm).all() for arm in arms):
        return _unknown(len(arms[0]), len(arms[1]), level, "some values are missing or not finite")
    return compare_arms(_arm(arms[0]), _arm(arms[1]), level)


def compare_shares(candidate: Values, production: Values, level: float = 0.95) -> Comparison:
    """The same for units that are shares from 0 to 1, e.g. the share of a run's decisions that succeeded."""
    arms = [np.asarray(values, dtype=np.float64).ravel() for values in (candidate, production)]
    if not all(((arm >= 0.0) & (arm <= 1.0)).all() for arm in arms):  # NaN is in no range
        return _unknown(len(arms[0]), len(arms[1]), level, "some values are missing or no shares from 0 to 1")
    found = compare_arms(_share_arm(arms[0]), _share_arm(arms[1]), level)
    if found.lower is None or found.upper is None:
        return found
    return found._replace(lower=max(found.lower, -1.0), upper=min(found.upper, 1.0))


def compare_arms(candidate: Arm, production: Arm, level: float = 0.95) -> Comparison:
    """The same from what is known of each arm."""
    if not 0.0 < level < 1.0:
        raise RefusedInput(f"The confidence level is {level}.", "Give a number between 0 and 1, such as 0.95.")
    if min(candidate.units, production.units) < FEWEST_UNITS:
        return _unknown(candidate.units, production.units, level, f"fewer than {FEWEST_UNITS} runs in an arm")
    difference, radius = candidate.mean - production.mean, _radius(candidate, production, 1.0 - level)
    if not (math.isfinite(difference) and math.isfinite(radius)):
        return _unknown(candidate.units, production.units, level, "the values are too large to reckon with")
    if radius == 0.0:
        return _unknown(candidate.units, production.units, level, "all values are the same")
    lower, upper = difference - radius, difference + radius
    decided: Verdict | None = "better" if lower > 0.0 else "worse" if upper < 0.0 else None
    why = f"the interval {'leaves out' if decided else 'includes'} zero"
    return Comparison(difference, lower, upper, candidate.units, production.units, level, decided, why)


def _unknown(candidate: int, production: int, level: float, why: str) -> Comparison:
    return Comparison(None, None, None, candidate, production, level, None, why)


def _arm(values: npt.NDArray[np.float64]) -> Arm:
    if not len(values):
        return Arm(0, 0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name later
        return Arm(len(values), float(values.mean()), float(values.var(ddof=1)) if len(values) > 1 else 0.0)


def _share_arm(values: npt.NDArray[np.float64]) -> Arm:
    """With one success and one failure added to the spread, as in A. Agresti & B. Caffo 2000: an arm in which nothing
    failed yet is not certain never to fail."""
    return _arm(values)._replace(variance=float(np.append(values, (0.0, 1.0)).var(ddof=1)))


def _radius(candidate: Arm, production: Arm, alpha: float) -> float:
    spreads = _spreads(candidate, production)
    parts = [spread / arm.units for spread, arm in zip(spreads, (candidate, production), strict=True)]
    variance = sum(parts)
    if not 0.0 < variance < math.inf:
        return variance
    mixture = _mixture_in_spreads(alpha) * sum(spreads) / 2.0
    ratio = variance / mixture
    looks = 2.0 * (1.0 + ratio) * (0.5 * math.log1p(1.0 / ratio) - math.log(alpha))
    return math.sqrt(variance * _as_student(looks, _degrees(parts, candidate.units, production.units)))


def _spreads(candidate: Arm, production: Arm) -> tuple[float, float]:
    """Of a unit in each arm."""
    share = candidate.units / (candidate.units + production.units)
    between = share * (1.0 - share) * (candidate.mean - production.mean) ** 2
    together = share * candidate.variance + (1.0 - share) * production.variance + between
    return _borrowing(candidate, together), _borrowing(production, together)


def _borrowing(arm: Arm, together: float) -> float:
    mixed = (arm.units * arm.variance + BORROWED_UNITS * together) / (arm.units + BORROWED_UNITS)
    return max(arm.variance, mixed)


def _mixture_in_spreads(alpha: float) -> float:
    """τ² for which the interval is narrowest at DECIDED_AROUND units in each arm (Waudby-Smith et al., eq. 16)."""
    logs = -2.0 * math.log(alpha)
    return (logs + math.log(logs) + 1.0) * 2.0 / DECIDED_AROUND


def _degrees(parts: Sequence[float], candidate: int, production: int) -> float:
    """Welch and Satterthwaite's degrees of freedom."""
    first, second = (part / sum(parts) for part in parts)
    return 1.0 / (first * first / (candidate - 1) + second * second / (production - 1))


def _as_student(squared: float, degrees: float) -> float:
    """What a squared normal limit is for Student's t, by D. L. Wallace 1959: the variance is estimated, too."""
    stretched = squared * ((8.0 * degrees + 3.0) / (8.0 * degrees + 1.0)) ** 2 / degrees
    return degrees * math.expm1(stretched) if stretched < 500.0 else math.inf
