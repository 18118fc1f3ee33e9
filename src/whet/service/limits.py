"""How often somebody may ask: buckets that fill again with time, of this process."""

from collections import OrderedDict
from typing import Final, Protocol

_MOST_REMEMBERED: Final = 10_000


class Limit(Protocol):
    """`per_minute` at once, then as fast as the bucket fills."""

    async def take(self, who: str, now: float) -> bool:
        """False when there is nothing left to take."""

    def exhausted(self, who: str, now: float) -> bool:
        """Whether there is nothing left as far as is known here, without taking."""

    def retry_seconds(self) -> int:
        """When asking again makes sense."""

    async def close(self) -> None: ...


class OwnLimit:
    """The least recent are forgotten: they are full again."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self.rate = per_minute / 60.0
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def take(self, who: str, now: float) -> bool:
        left = self._left(who, now)
        self._buckets[who] = (max(left - 1.0, 0.0) if left >= 1.0 else left, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > _MOST_REMEMBERED:
            self._buckets.popitem(last=False)
        return left >= 1.0

    def exhausted(self, who: str, now: float) -> bool:
        return who in self._buckets and self._left(who, now) < 1.0

    def retry_seconds(self) -> int:
        return max(1, round(1.0 / self.rate))

    async def close(self) -> None:
        """There is nothing to close."""

    def _left(self, who: str, now: float) -> float:
        left, since = self._buckets.get(who, (float(self.per_minute), now))
        return min(float(self.per_minute), left + max(0.0, now - since) * self.rate)
