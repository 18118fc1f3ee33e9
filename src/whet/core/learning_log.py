"""What continuous learning must not forget: how far the stream was read, what was kept of it and why not, what was
trained with. Everything here is written so that a crash between two steps repeats the first and changes nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from whet.core.records import Count, Experience, Record


class Quality(StrEnum):
    """What the filter makes of an experience."""

    GOOD = "good"
    MALFORMED = "malformed"
    OUT_OF_RANGE = "out of range"
    DUPLICATE = "duplicate"
    STALE = "stale"
    OFF_DISTRIBUTION = "off distribution"
    SUSPECTED_HACK = "suspected reward hacking"


class Judged(NamedTuple):
    key: str
    agent: str
    quality: Quality
    why: str  # a sentence; empty for good ones


class Batch(Record):
    """Experiences that one training takes together. Never changed once it is closed."""

    number: Count
    agent: str
    size: Count
    first: str
    last: str
    closed_at: datetime


class Unreadable(NamedTuple):
    """What is stored as an experience and is none by today's rules; `why` is a sentence."""

    key: str
    agent: str
    why: str


class Seen(NamedTuple):
    """An experience as the stream holds it: `position` grows, with gaps."""

    position: int
    experience: Experience | Unreadable


class UnitResult(NamedTuple):
    """What one run's decisions by one policy earned, for one agent."""

    unit: str  # the run's id
    policy: str  # `Decision.policy`
    decisions: int
    reward: float  # mean credited reward of the decisions
    success: float  # share whose tool did its job
    at: datetime  # of the first of them


class LearningLog(Protocol):
    """The stream of experiences is the store's own table of them; this is how far learning got with it."""

    def unread(self, limit: int) -> list[Seen]:
        """Experiences after the cursor, oldest first; what is none any more is told as such and stops nothing."""

    def backlog(self) -> int:
        """How many experiences are after the cursor."""

    def judge(self, judged: Sequence[Judged], read_up_to: int) -> None:
        """Keep the verdicts and move the cursor, in one transaction. A key judged before keeps its first verdict."""

    def verdicts(self, agent: str | None = None) -> Mapping[Quality, int]: ...

    def refused(self, limit: int = 100) -> list[Judged]:
        """What was not good, newest first."""

    def collect(self, experiences: Sequence[Experience], at: datetime) -> int:
        """Into the training set, each key once; how many were new."""

    def waiting(self, agent: str) -> tuple[int, datetime | None]:
        """How many of the training set are in no batch yet, and when the oldest of them was collected."""

    def agents_waiting(self) -> list[str]:
        """Agents with experiences in no batch, sorted."""

    def close_batch(self, agent: str, at: datetime, fewest: int) -> Batch | None:
        """Everything that waits becomes a batch; None when that is fewer than `fewest` (or nothing)."""

    def batches(self, agent: str | None = None) -> list[Batch]:
        """Newest first."""

    def members(self, batch: int) -> list[Experience]:
        """Oldest first."""

    def trained_before(self, agent: str, batch: int, limit: int) -> list[Experience]:
        """The newest of earlier batches, oldest first: what is replayed against forgetting."""

    def trim(self, kept: int) -> int:
        """Let go of all but the newest `kept` of what batches hold; how many went. Batches keep their size."""

    def forget(self, before: datetime, verdicts: int) -> int:
        """The keys of what was let go and was collected before then, and verdicts but for the newest; how many went.

        A key that is forgotten could be collected again: whoever collects has to refuse by its own time what is as old.
        """

    def results(self, agent: str, since: datetime) -> list[UnitResult]:
        """Per run and policy, oldest first; decisions before `since`, what was cut short, and rewards that were not
        earned do not count."""
