"""The reading side: what pages show. Lists come in pages by row number, newest first, and sums are kept up to date by
whoever writes, so that nothing here grows with what is stored."""

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from whet.core.candidates import Candidate
from whet.core.ports import AuditEntry, RunRecord
from whet.core.records import Decision, Experience, Finding, Record

T = TypeVar("T")
Severity = Literal["critical", "high", "medium", "low"]


class Page(NamedTuple, Generic[T]):
    """Part of a list. `before` is where the next, older part begins; None: this was the last."""

    items: Sequence[T]
    before: int | None


class Standing(StrEnum):
    """What people say of a finding."""

    UNMARKED = "unmarked"
    REAL = "real"
    FALSE_ALARM = "false-alarm"


class RunLine(NamedTuple):
    """`reward` is what its decisions were credited together; unknown until one was."""

    number: int
    run: RunRecord
    decisions: int
    reward: float | None
    successes: int
    judged: int
    findings: int


class FindingLine(NamedTuple):
    number: int  # of its newest sighting
    fingerprint: str
    finding: Finding  # as last seen
    standing: Standing
    first_seen: datetime
    last_seen: datetime
    first_run: str
    last_run: str


class Asked(Record):
    """Which findings; None means any."""

    kind: str | None = None
    severity: str | None = None
    standing: Standing | None = None


class DecisionLine(NamedTuple):
    number: int
    decision: Decision
    credited: float | None  # unknown while the action runs, or when it never ended


class Decided(NamedTuple):
    """One decision with everything known of it."""

    decision: Decision
    state: dict[str, Any]
    experience: Experience | None


class DayLine(NamedTuple):
    """One day of one agent's decisions by one policy. What a budget cut short is decided but not judged."""

    day: date
    agent: str
    policy: str
    decisions: int
    judged: int
    reward: float
    squares: float  # of the rewards
    successes: int
    explored: int


class DayTotal(NamedTuple):
    """One day's runs, over all agents, with the products that the error of a mean over runs is made of.

    A run belongs to the day of its first decision. With R, S and n a run's reward, successes and judged decisions:
    `reward_reward` is ΣR², `reward_judged` ΣRn and so on.
    """

    day: date
    runs: int
    decisions: int
    judged: int
    reward: float
    successes: int
    reward_reward: float
    reward_judged: float
    judged_judged: float
    success_success: float
    success_judged: float
    seconds: float  # that finished runs took


class DayFound(NamedTuple):
    day: date
    severity: str
    new: int  # never seen before


class Views(Protocol):
    """Every list takes `before` (a row number; None: from the newest) and `limit`."""

    def runs(self, before: int | None = None, limit: int = 25) -> Page[RunLine]: ...

    def run(self, run_id: str) -> RunLine | None: ...

    def findings(self, asked: Asked, before: int | None = None, limit: int = 25) -> Page[FindingLine]:
        """One per fingerprint, as last seen."""

    def finding(self, fingerprint: str) -> FindingLine | None: ...

    def found_in(self, run_id: str, limit: int = 100) -> list[FindingLine]: ...

    def decisions(
        self, agent: str | None = None, run_id: str | None = None, before: int | None = None, limit: int = 25
    ) -> Page[DecisionLine]: ...

    def decision(self, decision_id: str) -> Decided | None: ...

    def waiting(self, before: int | None = None, limit: int = 25) -> Page[DecisionLine]:
        """Decisions that wait for a person: one per agent and state, the newest, where no word stands."""

    def days(self, since: date, until: date) -> list[DayLine]:
        """Both days included, oldest first."""

    def totals(self, since: date | None, until: date) -> list[DayTotal]: ...

    def found(self, since: date, until: date) -> list[DayFound]: ...

    def learning(self, agent: str, limit: int) -> list[dict[str, Any]]:
        """The agent's newest learning statistics, oldest first, as `Runs.learning` gives them."""

    def learners(self) -> list[str]:
        """Agents that have any, sorted."""

    def candidates(self, before: int | None = None, limit: int = 25) -> Page[Candidate]: ...

    def audit(self, before: int | None = None, limit: int = 50) -> Page[AuditEntry]: ...

    def head(self) -> int:
        """The number of the newest audit entry; whatever happens, it grows."""
