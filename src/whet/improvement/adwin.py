"""ADWIN: a window over a stream of numbers that is as long as its mean stayed the same.

A. Bifet, R. Gavaldà, "Learning from time-changing data with adaptive windowing", SDM 2007 (ADWIN2: buckets of
exponentially growing size). Written here because the well-kept library that has it weighs 160 MB with what it needs;
with a `reach` of 1 the two agree on every alarm (docs/intake.md).
"""

import math
from typing import NamedTuple

from whet.core.errors import RefusedInput

_ROOM = 5  # buckets of one size, before the two oldest become one of the next
_SHORTEST = 5  # a part of the window with fewer numbers is not compared
_GRACE = 10


class Cut(NamedTuple):
    """Where the window fell apart, and the means on both sides."""

    before: float
    after: float
    count_before: int
    count_after: int


class Adwin:
    """`delta` bounds false alarms; `every` so many numbers it looks; `reach` is how far apart two numbers of the stream
    can be, so that a few large ones in a short part of the window are no change."""

    def __init__(self, delta: float = 0.002, every: int = 32, reach: float = 1.0) -> None:
        self._delta, self._every, self._reach = delta, every, reach
        self._rows: list[list[float]] = [[]]  # sums of 1, 2, 4 … numbers; in each the oldest first
        self._width, self._total, self._squares, self._ticks = 0, 0.0, 0.0, 0

    def update(self, value: float, lasts: float = 1.0) -> Cut | None:
        """The cut when the stream has changed. Go on with a new window then: this one is of two worlds. Where
        neighbours resemble each other, so many of them as a value `lasts` count as one."""
        if not math.isfinite(value):
            raise RefusedInput(f"Drift cannot be looked for at {value}.", "Leave out what was not measured.")
        self._insert(value)
        self._ticks += 1
        if self._ticks % self._every or self._width <= _GRACE:
            return None
        return self._cut(lasts)

    def _insert(self, value: float) -> None:
        if self._width:
            self._squares += self._width * (value - self._total / self._width) ** 2 / (self._width + 1)
        self._width, self._total = self._width + 1, self._total + value
        self._rows[0].append(value)
        for size, row in enumerate(self._rows):
            if len(row) <= _ROOM:
                break
            if size + 1 == len(self._rows):
                self._rows.append([])
            self._rows[size + 1].append(row.pop(0) + row.pop(0))

    def _cut(self, lasts: float) -> Cut | None:
        """The first place, from the oldest on, at which both sides differ by more than chance allows."""
        count, total = 0, 0.0
        for size in range(len(self._rows) - 1, -1, -1):
            for bucket in self._rows[size]:
                count, total = count + (1 << size), total + bucket
                rest = self._width - count
                if count < _SHORTEST or rest < _SHORTEST:
                    continue
                before, after = total / count, (self._total - total) / rest
                if abs(before - after) > self._allowed(count, rest, lasts):
                    return Cut(before, after, count, rest)
        return None

    def _allowed(self, count: int, rest: int, lasts: float) -> float:
        """Bernstein's bound for the difference of two means, for all cuts together."""
        doubt = math.log(2.0 * math.log(self._width) / self._delta)
        shares = lasts * (1.0 / (count - _SHORTEST + 1) + 1.0 / (rest - _SHORTEST + 1))
        variance = max(self._squares, 0.0) / self._width
        return math.sqrt(2.0 * shares * variance * doubt) + 2.0 / 3.0 * doubt * shares * self._reach
