"""What people say: of findings, of runs, of what outcomes are worth. It changes rewards, each exactly once."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from whet.core.ports import Lesson, Store
from whet.core.records import Count, Experience, Part, Points, Record
from whet.core.views import Views

Stars = Annotated[int, Field(ge=1, le=5)]
Verdict = Literal["real", "false-alarm"]


class Mark(Record):
    """A person's word on a finding; the newest holds."""

    fingerprint: str
    verdict: Verdict
    by: str
    at: datetime


class Rating(Record):
    """How useful a run was to a person, from 1 to 5; the newest holds."""

    run_id: str
    stars: Stars
    by: str
    at: datetime


class Rated(NamedTuple):
    """Ratings of a period together."""

    ratings: int
    total: int
    squares: int


class RewardRules(Record):
    """What outcomes are worth by a person's word, over what settings say."""

    number: Count
    profile: str
    weights: dict[str, float]
    by: str
    at: datetime


class Correction(Record):
    """An experience's reward after people spoke, and which cells it had taught.

    `difference` is how far the whole correction moves the reward from what was measured. The store knows what was
    applied before and teaches what is missing of it, so that the same correction twice counts once.
    """

    key: str
    parts: tuple[Part, ...] = Field(description="of the reward as corrected")
    difference: Points
    lesson: Lesson | None = Field(
        description="as the experience, as it is kept, would teach it; None: it taught nothing"
    )
    because: str


class Feedback(Protocol):
    """Every change is one transaction with its audit entry."""

    def mark(self, fingerprint: str, verdict: Verdict | None, by: str) -> Mark | None:
        """None takes a mark back. WhetError when there is no such finding."""

    def marks(self, fingerprints: Sequence[str]) -> dict[str, Mark]: ...

    def rate(self, run_id: str, stars: Stars, by: str) -> Rating:
        """WhetError when there is no such run."""

    def rating(self, run_id: str) -> Rating | None: ...

    def rated(self, since: datetime, until: datetime) -> Rated: ...

    def newest(self, limit: int) -> tuple[list[Mark], list[Rating]]:
        """What was said last, newest first."""

    def behind(self, fingerprint: str, limit: int = 100) -> list[Experience]:
        """Experiences whose outcome has this finding, newest first."""

    def applied(self, keys: Sequence[str]) -> dict[str, float]:
        """How far corrections have moved these rewards; absent: not at all."""

    def correct(self, correction: Correction) -> float:
        """The experience gets the reward, sums follow, and its cells move by what is missing of the difference.
        How much that was: 0 when it was applied already."""

    def corrected(self, agent: str, batch: int, since: datetime) -> int:
        """How many experiences of the agent's batches up to this one have got another reward since then. Whoever trains
        with them after that trains with the new one."""

    def rules(self) -> RewardRules | None:
        """What holds now; None: what settings say."""

    def set_rules(self, profile: str, weights: Mapping[str, float], by: str) -> RewardRules: ...

    def drop_rules(self, by: str) -> bool:
        """Settings hold again. False when they did."""


class PagedStore(Store, Protocol):
    """A store as pages use it: with its reading side, and with what people say."""

    @property
    def views(self) -> Views: ...
    @property
    def feedback(self) -> Feedback: ...
