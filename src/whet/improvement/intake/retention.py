"""How long experiences on the stream are fit to train with, and how many of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from whet.core.errors import RefusedInput

# Clocks of two machines may differ; by more than this a time is no time.
AHEAD: Final = timedelta(days=1)


@dataclass(frozen=True)
class Retention:
    """What is older than `days`, or has `stream` newer ones behind it that wait as well, is not trained with. So many
    `verdicts` are kept, to tell people what became of the newest."""

    days: float = 7.0
    stream: int = 100_000
    verdicts: int = 100_000

    def __post_init__(self) -> None:
        if not 0 < self.days <= 3650 or min(self.stream, self.verdicts) < 1:
            raise RefusedInput(
                f"Experiences cannot be kept for {self.days} days and {self.stream} on the stream.",
                "Give more than 0 and at most 3,650 days, and at least 1 on the stream.",
            )

    def forgotten_before(self, now: datetime) -> datetime:
        """Whatever was collected before then is expired by its own time, also when that was ahead of the clock: nobody
        has to remember its key to know it for a late one."""
        return now - timedelta(days=self.days) - AHEAD

    def expired(self, at: datetime, now: datetime) -> bool:
        return now - at > timedelta(days=self.days)
