"""What the loop needs from the outside world, and what it may rely on.

Every implementation passes the contract suite of its port (`whet.checks`). All
methods may be called from several threads; none keeps a reference to its
arguments. A method that returns has committed: what it acknowledged survives
`kill -9`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

from pydantic import Field

from whet.core.candidates import Candidates
from whet.core.learning_log import LearningLog
from whet.core.memories import Memories, Recalled
from whet.core.people import People
from whet.core.queues import TrainingQueue
from whet.core.records import (
    Action,
    Alternative,
    Count,
    Decision,
    Experience,
    Finding,
    Recollection,
    Record,
    Review,
    Seconds,
    State,
)
from whet.core.sheets import Sheets

Rate = Annotated[float, Field(gt=0.0, le=1.0)]
# Q-values are discounted sums of rewards; beyond this something is wrong, and it is refused.
LARGEST_Q_VALUE = 1e6
QValue = Annotated[float, Field(ge=-LARGEST_Q_VALUE, le=LARGEST_Q_VALUE)]


class Scope(StrEnum):
    INDIVIDUAL = "individual"
    CATEGORY = "category"
    FLEET = "fleet"


class Cell(NamedTuple):
    """One place in one table. Category and fleet tables hold action kinds where agents hold actions."""

    scope: Scope
    owner: str
    state_key: str
    action: str


class Entry(Record):
    """What a cell holds: the Q-value, how often it was visited, Welford's mean and sum of squares of its targets."""

    q_value: float
    visits: Count
    mean: float
    m2: Annotated[float, Field(ge=0.0)]

    def variance(self) -> float | None:
        """Sample variance of the targets; unknown below two visits."""
        return None if self.visits < 2 else self.m2 / (self.visits - 1)


class Move(Record):
    """Move one cell: q ← q + rate · (target − q).

    With `averaged`, the rate is at least 1 / (visits + 1), so that first visits
    average instead of crawling from zero; the first one replaces a borrowed value.
    """

    cell: Cell
    rate: Rate
    averaged: bool = True


class Lesson(Record):
    """How one experience changes the tables: own cells towards the target, shared ones towards the
    new value of the first own cell."""

    target: QValue
    own: tuple[Move, ...] = Field(min_length=1)
    shared: tuple[Move, ...] = ()


class QTables(Protocol):
    """Hierarchical Q-tables. Updates are atomic on the server: concurrent learners lose none."""

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Entry]:
        """The entries that exist; absent cells are absent from the answer."""

    def rows(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        """A whole table."""

    def owners(self) -> list[tuple[Scope, str]]:
        """The tables that exist, sorted."""

    def initialise(self, values: Mapping[Cell, float]) -> int:
        """Set cells that do not exist yet (no visits); never overwrites. How many were set."""

    def replay(self, lesson: Lesson) -> None:
        """Move Q-values again without counting a visit."""

    def wipe(self, scope: Scope, owner: str) -> int:
        """Forget one table. How many cells it had."""

    def restore(self, scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> None:
        """The whole table becomes exactly `rows`, to the bit, in one transaction with its audit entry."""


class Arrived(NamedTuple):
    """An experience as the stream holds it: `position` grows, with gaps."""

    position: int
    experience: Experience
    surprise: float  # its priority: how far it was from what was expected
    code_version: str | None = None  # of its run


class Experiences(Protocol):
    def learn(self, experience: Experience, lesson: Lesson | None) -> bool:
        """Store the experience and apply its lesson in one transaction, with its audit entry.

        False, and no change at all, when an experience with this key is stored already.
        """

    def recent(self, agent: str | None = None, limit: int = 100, run_id: str | None = None) -> list[Experience]:
        """Newest first."""

    def of_decision(self, decision_id: str) -> Experience | None: ...

    def after(self, position: int, project: str, limit: int) -> list[Arrived]:
        """What this project's runs lived after that position, oldest first; none comes up later before one that was
        seen."""

    def sample(self, agent: str, size: int, seed: int) -> list[Experience]:
        """Drawn with replacement, proportional to priority^0.6; the same seed draws the same rows."""

    def set_priorities(self, priorities: Mapping[str, float]) -> None:
        """By experience key: the size of the surprise, for later draws."""

    def count(self, agent: str | None = None) -> int: ...


class Ruling(Record):
    """A person's standing word for one state of one agent."""

    agent: str
    state_key: str
    action: str
    verdict: Literal["approved", "overridden"]
    decision_id: str
    by: str
    at: datetime


class Decisions(Protocol):
    def record(self, decision: Decision, state: State) -> None:
        """Before the action runs, so that a crash leaves a trace of what was being done."""

    def find(self, prefix: str) -> list[tuple[Decision, dict[str, object]]]:
        """Decisions, with their states, whose id starts with `prefix`."""

    def recent(self, agent: str | None = None, limit: int = 100, run_id: str | None = None) -> list[Decision]: ...

    def pending(self) -> list[Decision]:
        """Waiting for a person, oldest first; one per agent and state, the newest."""

    def rule(self, decision_id: str, verdict: Review, action: str, by: str) -> Ruling:
        """A person approves or overrides; from now on `action` runs in that state."""

    def ruling(self, agent: str, state_key: str) -> Ruling | None: ...

    def revoke(self, agent: str, state_key: str) -> bool:
        """Take a standing word back. False when there was none."""

    def count(self, agent: str | None = None) -> int: ...


class TestVerdict(Record):
    """One execution of one test."""

    __test__: ClassVar[bool] = False

    test: str
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    duration_seconds: Seconds
    condition: Literal[
        "own-order", "covered", "shuffled", "reversed", "isolated", "reseeded", "loaded", "parallel", "selected"
    ]
    message: str = ""
    network: bool | None = None
    slept_seconds: Seconds | None = None


class TestRecord(Record):
    """What is known of one test over all runs, and over runs of the present code alone."""

    __test__: ClassVar[bool] = False

    test: str
    executions: Count
    failures: Count
    same_code_executions: Count
    same_code_failures: Count
    last_outcome: str
    mean_seconds: Seconds
    last_failed_runs_ago: Count | None = Field(description="0: failed in the newest run that executed it; None: never")
    decayed_failures: Annotated[float, Field(ge=0.0)] = Field(description="sum of 0.7^(runs ago) over its failures")


class ConditionCount(NamedTuple):
    """How one test fared on the present code under one condition."""

    test: str
    condition: str
    executions: int
    failures: int


class TestHistory(Protocol):
    __test__: ClassVar[bool] = False

    def record(self, run_id: str, code_version: str, verdicts: Iterable[TestVerdict]) -> None: ...

    def tests(self, code_version: str) -> dict[str, TestRecord]:
        """Everything known, by test id; `same_code_*` counts only this code version."""

    def conditions(self, code_version: str) -> list[ConditionCount]: ...

    def plain_seconds(self) -> dict[str, float]:
        """Mean duration by test over plain runs in the suite's own order; others are slower for their own reasons."""

    def traits(self) -> dict[str, tuple[bool | None, float | None]]:
        """By test: whether it ever opened a network connection, and the longest it slept, if measured."""

    def cover(self, code_version: str, lines: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
        """Replace the coverage map: test → file → executed lines."""

    def coverage(self) -> tuple[str | None, dict[str, dict[str, tuple[int, ...]]]]:
        """The code version of the coverage map, and the map; (None, {}) when none was measured."""


class RunRecord(Record):
    id: str
    project: str
    code_version: str
    budget_seconds: Seconds
    seed: int
    started_at: datetime
    ended_at: datetime | None = None
    status: Literal["running", "finished", "interrupted"] = "running"
    summary: dict[str, Any] = Field(default_factory=dict)


class Runs(Protocol):
    def start(self, run: RunRecord) -> None: ...

    def finish(self, run_id: str, status: Literal["finished", "interrupted"], summary: Mapping[str, Any]) -> None: ...

    def recent(self, limit: int = 20) -> list[RunRecord]:
        """Newest first."""

    def note_findings(self, run_id: str, findings: Iterable[Finding]) -> list[bool]:
        """Per finding: True when its fingerprint was never seen before."""

    def findings(self, run_id: str | None = None) -> list[Finding]:
        """Of one run, or everything known, newest first, one per fingerprint."""

    def note_learning(self, run_id: str, agent: str, stats: Mapping[str, float | int | None]) -> None:
        """S2's learning statistics of one agent in one run."""

    def learning(self, agent: str | None = None) -> list[dict[str, Any]]:
        """Oldest first."""


class AuditEntry(Record):
    seq: Count
    kind: str
    subject: str
    payload: dict[str, Any]
    at: datetime
    digest: str


class AuditReport(Record):
    """What `whet audit verify` found. `problem` is None when the chain holds."""

    entries: Count
    head: str | None
    keyed: bool
    problem: str | None = None


class AuditTrail(Protocol):
    """Append-only and hash-chained, the head kept apart and under the same key."""

    def append(self, kind: str, subject: str, payload: Mapping[str, Any]) -> str: ...

    def entries(self, limit: int = 100) -> list[AuditEntry]:
        """Newest first."""

    def verify(self, expected_head: str | None = None) -> AuditReport: ...


# Of a document as UTF-8. A service of 200 operations needs some hundred kilobytes.
LARGEST_KNOWLEDGE_BYTES = 16 * 1024 * 1024


class ServiceKnowledge(Protocol):
    """What was learned of each service, as one text that only its author can read.

    There is no plain way to save: whoever has learned something says how it goes together with what is kept, so that
    two runs at once lose nothing.
    """

    def load(self, service: str) -> str | None:
        """The document of this service; None when nothing was ever learned of it."""

    def update(self, service: str, combine: Callable[[str | None], str]) -> str:
        """Keep what `combine` makes of the kept document, in one transaction, and return it.

        Others wait meanwhile. `combine` may be called again with a newer document, so it must be a function of its
        argument; when it raises, or the document is larger than LARGEST_KNOWLEDGE_BYTES (RefusedInput), nothing is
        changed. It must not use the store.
        """

    def services(self) -> list[str]:
        """Everything that has a document, sorted."""

    def forget(self, service: str) -> bool:
        """False when there was nothing to forget."""


class Store(Protocol):
    """One project's memory of record."""

    @property
    def tables(self) -> QTables: ...
    @property
    def experiences(self) -> Experiences: ...
    @property
    def decisions(self) -> Decisions: ...
    @property
    def history(self) -> TestHistory: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def audit(self) -> AuditTrail: ...
    @property
    def sheets(self) -> Sheets: ...
    @property
    def knowledge(self) -> ServiceKnowledge: ...
    @property
    def candidates(self) -> Candidates: ...
    @property
    def learning(self) -> LearningLog: ...
    @property
    def queue(self) -> TrainingQueue: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def people(self) -> People: ...

    def close(self) -> None: ...


class Choice(Record):
    """What a policy answers: a proposal, and what it thought of every allowed action.

    `version` names what the answer was made from: it changes whenever the same
    state could be answered differently.
    """

    action: str
    explored: bool
    version: str
    alternatives: tuple[Alternative, ...] = Field(min_length=1)
    memories: tuple[Recollection, ...] = Field((), description="that counted")


class Policy(Protocol):
    """Chooses; never learns."""

    @property
    def name(self) -> str: ...

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        """One of `allowed`, with the probability of each.

        `recalled` are experiences of this agent in states like this one, scored by how like. Nobody has to use them.
        """


class PolicySource(Protocol):
    """Which policy decides now; the rollout puts canaries behind this port."""

    def policy_for(self, agent: str, unit: str) -> Policy: ...
