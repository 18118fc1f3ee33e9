"""Durations and times as results files write them."""

import re
from datetime import UTC, datetime, timedelta
from math import nan

# Three years: what is longer is no test's duration but a clock that was set.
LONGEST_SECONDS = 1e8
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")
# Writers without a clock put the start of an epoch.
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


def seconds_of(text: str | None) -> float:
    """Not stated is NaN; ValueError for what is no duration: not a number, negative, not finite."""
    if not text or text.isspace():
        return nan
    try:
        value = float(text)
    except ValueError:
        value = _written_for_people(text.strip())
    return checked_seconds(value)


def checked_seconds(value: float) -> float:
    if 0.0 <= value <= LONGEST_SECONDS:
        return value
    raise ValueError(value)


def _written_for_people(text: str) -> float:
    """1,234.5 (surefire), 0,5 (some locales), 0:01:05."""
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    if _DECIMAL_COMMA.fullmatch(text):
        return float(text.replace(",", "."))
    if clock := _CLOCK.fullmatch(text):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
    raise ValueError(text)


def moment_of(text: str | None) -> datetime | None:
    """A time as text; None for none, and for what cannot be the time of a run. Without a zone it is UTC."""
    if not text:
        return None
    try:
        stated = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return _plausible(stated if stated.tzinfo else stated.replace(tzinfo=UTC))


def moment_of_epoch(seconds: float) -> datetime | None:
    try:
        return _plausible(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _plausible(stated: datetime) -> datetime | None:
    """A run in the future would count as the newest for ever."""
    try:
        at = stated.astimezone(UTC)
    except OverflowError:
        return None
    return at if _EARLIEST <= at <= datetime.now(UTC) + timedelta(days=1) else None
