"""How often somebody may ask: buckets that fill again with time, per process."""

from collections import OrderedDict
from typing import Final

_MOST_REMEMBERED: Final = 10_000


class Limit:
    """`per_minute` at once, then as fast as the bucket fills. The least recent are forgotten: they are full again."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._rate = per_minute / 60.0
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, now: float) -> bool:
        """False when there is nothing left to take."""
        left = self._left(who, now)
        self._buckets[who] = (max(left - 1.0, 0.0) if left >= 1.0 else left, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > _MOST_REMEMBERED:
            self._buckets.popitem(last=False)
        return left >= 1.0

    def exhausted(self, who: str, now: float) -> bool:
        """Whether there is nothing left, without taking."""
        return who in self._buckets and self._left(who, now) < 1.0

    def retry_seconds(self) -> int:
        """When asking again makes sense."""
        return max(1, round(1.0 / self._rate))

    def _left(self, who: str, now: float) -> float:
        left, since = self._buckets.get(who, (float(self.per_minute), now))
        return min(float(self.per_minute), left + max(0.0, now - since) * self._rate)
