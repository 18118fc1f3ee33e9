"""What happened, for those who listen beside the path: progress, reports, metrics.

The engine yields these; it never waits for, and never fails because of, a listener.
"""

from dataclasses import dataclass

from whet.core.records import Decision, Experience, Finding


@dataclass(frozen=True)
class RunStarted:
    run_id: str
    project: str
    tests: int
    budget_seconds: float


@dataclass(frozen=True)
class Decided:
    decision: Decision


@dataclass(frozen=True)
class Progressed:
    """Work inside an action: `done` of `total` tests (total None while unknown)."""

    agent: str
    what: str
    done: int
    total: int | None
    failed: int = 0


@dataclass(frozen=True)
class Experienced:
    experience: Experience
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Warned:
    message: str


@dataclass(frozen=True)
class RunEnded:
    run_id: str
    status: str


Event = RunStarted | Decided | Progressed | Experienced | Warned | RunEnded
