"""How long experiences on the stream are fit to train with, and how many of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from whet.core.errors import RefusedInput


@dataclass(frozen=True)
class Retention:
    """What is older than `days`, or has `stream` newer ones behind it that wait as well, is not trained with."""

    days: float = 7.0
    stream: int = 100_000

    def __post_init__(self) -> None:
        if not 0 < self.days <= 3650 or self.stream < 1:
            raise RefusedInput(
                f"Experiences cannot be kept for {self.days} days and {self.stream} on the stream.",
                "Give more than 0 and at most 3,650 days, and at least 1 on the stream.",
            )

    def expired(self, at: datetime, now: datetime) -> bool:
        return now - at > timedelta(days=self.days)
