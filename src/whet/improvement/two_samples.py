"""Whether two stretches of one feature differ: by more than chance, and by how much.

`lasts` is for how many neighbours a value lasts (`lasting`): so many count as one.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Number = float | None
# Fewer independent values than this say nothing: how long they last is not known well enough.
_FEWEST_WORTH = 8.0
_RARE = 5.0  # expected counts below this are pooled; chi-square is not to be trusted with them


class Difference(NamedTuple):
    """`size` is in the feature's own unit for numbers, and the share that moved for names and for the unknown."""

    p: float
    size: float


def numbers_differ(before: Sequence[Number], after: Sequence[Number], lasts: float = 1.0) -> Difference:
    """Kolmogorov and Smirnov's test, with the unknown below everything known."""
    if len({*before, *after}) == 1:
        return Difference(1.0, 0.0)
    ranked = known_first([*before, *after])
    one, other = sorted(ranked[: len(before)]), sorted(ranked[len(before) :])
    distance = max(abs(_below(one, x) - _below(other, x)) for x in {*one, *other})
    counts = (len(one) / lasts, len(other) / lasts)
    chance = kolmogorov_p(distance, *counts) if min(counts) >= _FEWEST_WORTH else 1.0
    return Difference(chance, max(_moved(before, after), _unknown_moved(before, after)))


def known_first(values: Sequence[Number]) -> list[float]:
    """With the unknown below everything known."""
    lowest = min((value for value in values if value is not None), default=0.0) - 1.0
    return [lowest if value is None else value for value in values]


def kolmogorov_p(distance: float, one: float, other: float) -> float:
    """Of a distance at least as large, by the limiting distribution with Stephens's correction for small samples."""
    root = math.sqrt(one * other / (one + other))
    scaled = (root + 0.12 + 0.11 / root) * distance
    if scaled < 0.3:  # below it the chance is 1 to five digits, and the series converges slowly
        return 1.0
    terms = (math.copysign(math.exp(-2.0 * (k * scaled) ** 2), 1 if k % 2 else -1) for k in range(1, 21))
    return min(1.0, max(0.0, 2.0 * math.fsum(terms)))


def _below(values: Sequence[float], x: float) -> float:
    return bisect_right(values, x) / len(values)


def _moved(before: Sequence[Number], after: Sequence[Number]) -> float:
    """The area between both distributions of what is known: how far, on average, a value has moved."""
    one, other = (sorted(v for v in values if v is not None) for values in (before, after))
    if not one or not other:
        return 0.0
    places = sorted({*one, *other})
    return math.fsum((high - low) * abs(_below(one, low) - _below(other, low)) for low, high in pairwise(places))


def _unknown_moved(before: Sequence[Number], after: Sequence[Number]) -> float:
    return abs(sum(v is None for v in before) / len(before) - sum(v is None for v in after) / len(after))


def names_differ(before: Sequence[str], after: Sequence[str], lasts: float = 1.0) -> Difference:
    """Chi-square of homogeneity; names that are rare in both are counted together."""
    one, other = Counter(before), Counter(after)
    if len(one | other) == 1:
        return Difference(1.0, 0.0)
    size = 0.5 * math.fsum(abs(one[n] / len(before) - other[n] / len(after)) for n in {*one, *other})
    cells = _pooled(one, other)
    if len(cells) < 2 or min(len(before), len(after)) / lasts < _FEWEST_WORTH:
        return Difference(1.0, size)
    shares = [(a + b) / (len(before) + len(after)) for a, b in cells]
    squares = math.fsum(
        (seen - share * count) ** 2 / (share * count)
        for (a, b), share in zip(cells, shares, strict=True)
        for seen, count in ((a, len(before)), (b, len(after)))
    )
    return Difference(chi_square_p(squares / lasts, len(cells) - 1), size)


def _pooled(one: Counter[str], other: Counter[str]) -> list[tuple[int, int]]:
    total, smaller = one.total() + other.total(), min(one.total(), other.total())
    names = {*one, *other}
    common = {n for n in names if (one[n] + other[n]) * smaller / total >= _RARE}
    rare = (sum(one[n] for n in names - common), sum(other[n] for n in names - common))
    return [(one[n], other[n]) for n in sorted(common)] + ([rare] if any(rare) else [])


def chi_square_p(squares: float, degrees: int) -> float:
    """Of a sum at least as large; the closed form for whole degrees of freedom."""
    half = squares / 2.0
    if degrees % 2:
        terms = (
            math.exp(-half + (i - 0.5) * math.log(half) - math.lgamma(i + 0.5)) for i in range(1, degrees // 2 + 1)
        )
        return min(1.0, math.erfc(math.sqrt(half)) + (math.fsum(terms) if half > 0 else 0.0))
    if half == 0:
        return 1.0
    return min(1.0, math.fsum(math.exp(-half + i * math.log(half) - math.lgamma(i + 1)) for i in range(degrees // 2)))


def holm(values: Sequence[float]) -> list[float]:
    """Corrected for being several (S. Holm, 1979); in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    corrected, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected
