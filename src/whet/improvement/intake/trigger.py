"""When enough new experiences wait, and the last training is long enough ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from whet.core.errors import RefusedInput
from whet.core.text import number_of


@dataclass(frozen=True)
class Rule:
    """At least so many experiences, and at least so many hours since the last batch."""

    fewest: int = 1000
    hours: float = 24.0

    def __post_init__(self) -> None:
        if self.fewest < 1 or not 0 <= self.hours <= 24 * 365:
            raise RefusedInput(
                f"A training cannot be due after {self.fewest} experiences and {self.hours} hours.",
                "Give at least 1 experience, and from 0 hours to a year.",
            )


class Due(NamedTuple):
    due: bool
    sentence: str


def due(
    waiting: int, oldest: datetime | None, last_batch: datetime | None, now: datetime, rule: Rule | None = None
) -> Due:
    """`oldest` is when the oldest experience that waits was collected.

    The first batch needs the experiences only. Clocks jump: a last batch in the future was closed under a wrong clock;
    then the age of the oldest experience counts, and if that is in the future too, the experiences alone. So a jump
    neither holds training up until the clock has caught up, nor does it make two batches of the same experiences.
    """
    rule = rule or Rule()
    if waiting < 0:
        raise RefusedInput(f"{waiting} experiences cannot wait.", "Give a count from 0.")
    counted = _counted(waiting, rule.fewest)
    since, note = _since(oldest, last_batch, now)
    if since is None:
        return Due(waiting >= rule.fewest, f"{counted}; {note}")
    waited = timedelta(hours=rule.hours) <= now - since
    told = f"{counted}; {_hours(now - since)} of {rule.hours:g} h{note}"
    return Due(waiting >= rule.fewest and waited, told)


def _counted(waiting: int, fewest: int) -> str:
    if waiting > fewest:
        return f"{number_of(waiting, 'experience')}, {fewest:,} needed"
    return f"{waiting:,} of {number_of(fewest, 'experience')}"


def _since(oldest: datetime | None, last_batch: datetime | None, now: datetime) -> tuple[datetime | None, str]:
    """From when the hours count, and what has to be said of it."""
    if last_batch is None:
        return None, "the first batch needs no waiting"
    if last_batch <= now:
        return last_batch, ""
    if oldest is not None and oldest <= now:
        return oldest, " since the oldest was collected (the clock went back since the last batch)"
    return None, "the clock went back since the last batch, so the hours do not count"


def _hours(waited: timedelta) -> str:
    """Whole ones: 23.9 h are not yet 24."""
    minutes = int(waited.total_seconds() // 60)
    return f"{minutes // 60:,} h" if minutes >= 60 else f"{minutes} min"
