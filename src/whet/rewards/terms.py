"""Bounded pieces that rewards are made of. A piece that was not measured is None and counts nothing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from whet.core.errors import RefusedInput
from whet.core.records import Measures, Part, Severities

# Beyond this a tally changes no bounded part any more, and it stays exact as a float.
_LARGEST_TALLY: Final = 10**12

Ingredients = Mapping[str, float | None]


@dataclass(frozen=True)
class Bounds:
    """Least and most points. Both sides include 0, because a part that was not measured counts nothing."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= 0.0 <= self.high:
            raise RefusedInput(
                f"Bounds {self.low}..{self.high} leave out 0.",
                "A part that was not measured counts 0 points, so its bounds must include 0.",
            )

    def clamp(self, points: float) -> float:
        # + 0.0 turns -0.0 into 0.0, which reads as a loss where there is none.
        return max(self.low, min(self.high, points)) + 0.0

    def weighted(self, weight: float) -> "Bounds":
        ends = sorted((self.low * weight + 0.0, self.high * weight + 0.0))
        return Bounds(*ends)

    def plus(self, other: "Bounds") -> "Bounds":
        return Bounds(self.low + other.low, self.high + other.high)


@dataclass(frozen=True)
class Term:
    """One part of a profile: what it reads from the measures, its weight and its bounds."""

    name: str
    weight: float
    bounds: Bounds
    ingredients: Callable[[Measures], Ingredients]

    def part(self, measures: Measures, weight: float) -> Part:
        points, because = combine(self.ingredients(measures), self.bounds)
        return Part(name=self.name, points=points, weight=weight, because=because)


@dataclass(frozen=True)
class Scale:
    """A term of an agent's own: so many points for each unit of something measured, within bounds."""

    name: str
    points_each: float
    bounds: Bounds
    unit: str

    def part(self, amount: float | None, why_unknown: str | None = None) -> Part:
        """The part for `amount`; None makes it unknown, and `why_unknown` says why."""
        if amount is None:
            return Part(name=self.name, points=None, because=why_unknown or f"not measured: {self.unit}")
        if amount != amount:  # NaN; math.isnan would fail on a whole number too large for a float
            raise RefusedInput(
                f"The reward term {self.name} got NaN for {self.unit}.",
                "Give a number, or None if it was not measured.",
            )
        held = float(max(-_LARGEST_TALLY, min(_LARGEST_TALLY, amount)))
        points, because = combine({f"{held:.6g} × {self.unit}": held * self.points_each}, self.bounds)
        return Part(name=self.name, points=points, because=because)


def combine(ingredients: Ingredients, bounds: Bounds) -> tuple[float | None, str]:
    """The clamped sum of what was measured, and a sentence that explains it.

    When nothing was measured the points are None, not 0.
    """
    known = {name: points for name, points in ingredients.items() if points is not None}
    unknown = [name for name, points in ingredients.items() if points is None]
    missing = f"not measured: {', '.join(unknown)}" if unknown else ""
    if not known:
        return None, missing
    total = sum(known.values())
    points = bounds.clamp(total)
    held = f", held at {points:+.6g}" if points != total else ""
    told = ", ".join(f"{name} {value:+.6g}" for name, value in known.items()) + held
    return points, f"{told}; {missing}" if missing else told


def tally(found: Severities | None, points: Mapping[str, int]) -> float | None:
    """Points by severity, summed; unknown when nothing was counted."""
    if found is None:
        return None
    return counted(sum(points[severity] * count for severity, count in found.items()), 1)


def counted(count: int | None, points_each: int) -> float | None:
    """Points for a count; unknown when it was not counted."""
    if count is None:
        return None
    return float(max(-_LARGEST_TALLY, min(_LARGEST_TALLY, count * points_each)))


def when(happened: bool | None, points: float) -> float | None:
    """The points when it happened, 0 when it did not, unknown when nobody looked."""
    if happened is None:
        return None
    return points if happened else 0.0


def change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def ratio(expected: float | None, actual: float | None) -> float | None:
    """How many times better than expected: expected / actual, defined for zeros too.

    Nothing expected and nothing used is no change (1); something expected and
    nothing used is as good as it gets (infinity, which the bounds then hold).
    """
    if expected is None or actual is None:
        return None
    if actual == 0.0:
        return 1.0 if expected == 0.0 else math.inf
    return expected / actual
