"""What a report says, apart from how it is shown.

None always means "not known"; every form shows it as such, never as 0.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whet.core.records import Count, Finding, Part, Points, Probability, Recollection, Record, Seconds

Percent = Annotated[float, Field(ge=0.0, le=100.0)]
Status = Literal["running", "finished", "interrupted"]


class TestLine(Record):
    """One test, over everything that is known of it."""

    __test__: ClassVar[bool] = False

    id: str
    last_outcome: str | None
    mean_seconds: Seconds | None
    executions: Count
    failures: Count


class FoundLine(Record):
    finding: Finding
    new: bool


class StepLine(Record):
    """One decision of the run and what came of it. `started_seconds` counts from the run's start."""

    agent: str
    action: str
    action_summary: str
    decided_by: Literal["policy", "safe-default", "person"]
    explored: bool
    confidence: Probability | None
    probability: Probability | None
    reward_raw: Points | None
    reward_shaped: Points | None
    reward_credited: Points | None
    parts: tuple[Part, ...] = ()
    started_seconds: Seconds | None = None
    duration_seconds: Seconds | None
    why: str
    memories: tuple[Recollection, ...] = ()
    highlights: dict[str, str] = Field(default_factory=dict)


class CoverageLine(Record):
    """One file; `missing` are line numbers that nothing executed."""

    path: str
    percent: Percent | None
    missing: tuple[Count, ...] = ()


class FlakyLine(Record):
    """One test in doubt: how likely it is flaky, with an interval where there is one."""

    test: str
    probability: Probability | None
    low: Probability | None = None
    high: Probability | None = None
    failures: Count
    executions: Count
    causes: tuple[str, ...] = ()


class RiskLine(Record):
    test: str
    risk: Probability | None
    reason: str


class VisitLine(Record):
    """One earlier run (or this one, as the last) for the line of learning."""

    number: Count
    started_at: datetime
    credited: float | None
    seconds_used: Seconds | None
    findings: Count | None


class RunReport(Record):
    project: str
    run_id: str
    started_at: datetime
    ended_at: datetime | None
    seed: int
    budget_seconds: Seconds
    used_seconds: Seconds | None
    status: Status
    python_path: str | None
    python_version: str | None
    whet_version: str | None = None
    tests: tuple[TestLine, ...] = ()
    findings: tuple[FoundLine, ...] = ()
    steps: tuple[StepLine, ...] = ()
    coverage: tuple[CoverageLine, ...] | None = None
    flaky: tuple[FlakyLine, ...] = ()
    risks: tuple[RiskLine, ...] = ()
    what_changed: tuple[str, ...] = ()
    learning: tuple[VisitLine, ...] = ()
    exit_code: int | None = None
