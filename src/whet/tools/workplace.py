"""What an agent works on: one project, its tools, its history, and what is left of the budget."""

import random
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from whet.core.events import Event, Progressed
from whet.core.ports import TestHistory, TestRecord, TestVerdict
from whet.core.records import Count, Record, Situation
from whet.core.services import NoService, ServiceUnderTest
from whet.tools import git
from whet.tools.budget import Budget
from whet.tools.process import Limits
from whet.tools.project import Project
from whet.tools.python import Python
from whet.tools.suite import Suite, SuitePlan, SuiteRun, TestResult

FAILED = frozenset({"failed", "error"})
# A suite shorter than this is "fast": starting workers costs more than they save.
_FAST_SECONDS, _SLOW_SECONDS = 5.0, 60.0
_TIGHT_SHARE = 2.0  # the budget is tight when fewer than two plain runs of the suite fit into it


class Dispatched(Record):
    """What came of sending an agent."""

    failed: str | None
    new_findings: Count


@dataclass
class Workplace:
    """Handed to every agent of a run. Only `run` changes anything: it executes tests and files their verdicts."""

    project: Project
    python: Python
    suite: Suite
    history: TestHistory
    budget: Budget
    run_id: str
    code_version: str
    seed: int
    memory_mb: float
    state_dir: Path
    known_as: str | None = None  # in the store; by its folder where nobody says
    action_seconds: float | None = None
    audit_selection: bool = True
    emit: Callable[[Event], None] = lambda _event: None
    crew: tuple[str, ...] = ()
    obstacles: dict[str, str] = field(default_factory=dict)
    dispatch: Callable[[str], "Dispatched"] | None = None
    agents_done: list[str] = field(default_factory=list)
    executed: dict[str, TestVerdict] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)  # by failing test, what pytest printed last
    # The order that was learned for these tests, and where whole runs go so that it is learned.
    rank: Callable[[Sequence[str]], Sequence[str]] | None = None
    remember: Callable[[SuiteRun, git.Changes | None], None] | None = None
    service: ServiceUnderTest = field(default_factory=NoService)

    @property
    def name(self) -> str:
        return self.known_as or self.project.name

    @property
    def coverage_memo(self) -> Path:
        return self.state_dir / "coverage.json"

    @cached_property
    def collection(self) -> SuiteRun:
        """The tests there are, collected once per run."""
        return self.suite.collect(self.limits())

    @cached_property
    def changes(self) -> "git.Changes | None":
        return git.changes(self.project.root)

    @property
    def changed_files(self) -> Sequence[str]:
        return () if self.changes is None else tuple(self.changes.files)

    def records(self) -> dict[str, TestRecord]:
        """What is known of the tests that exist now."""
        known = self.history.tests(self.code_version)
        return {test: known[test] for test in self.collection.ids if test in known}

    def suite_seconds(self) -> float | None:
        """What one plain run should take, from history: the sum of mean durations plus collecting.

        Unknown unless nine of ten tests were timed in a plain run before.
        """
        plain = self.history.plain_seconds()
        timed = [plain[test] for test in self.collection.ids if test in plain]
        if not timed or len(timed) < 0.9 * len(self.collection.ids):
            return None
        mean = sum(timed) / len(timed)
        return mean * len(self.collection.ids) + self.collection.duration_seconds

    def limits(self) -> Limits:
        seconds = self.budget.left() if self.action_seconds is None else min(self.action_seconds, self.budget.left())
        return Limits(timeout_seconds=max(seconds, 1.0), memory_mb=self.memory_mb)

    def rng(self, purpose: str) -> random.Random:
        """Reproducible by the run's seed, independent per purpose."""
        return random.Random(f"{self.seed}:{purpose}:{len(self.agents_done)}")  # noqa: S311 - not for secrets

    def run(self, agent: str, plan: SuitePlan, condition: str, what: str = "running tests") -> SuiteRun:
        """Run the suite and remember every verdict under the condition it was made in."""
        failed = 0

        def progress(result: TestResult, done: int, total: int | None) -> None:
            nonlocal failed
            failed += result.outcome in FAILED
            self.emit(Progressed(agent, what, done, total, failed))

        work = self.changes  # before tests write files of their own
        run = self.suite.run(plan, self.limits(), progress)
        made = verdicts(run, condition)
        self.history.record(self.run_id, self.code_version, made)
        self.said.update({test.id: test.text for test in run.tests if test.text})
        if self.crew[:1] == (agent,):  # the one that runs the suite for the user; the others run it to find out things
            self.executed.update({verdict.test: verdict for verdict in made})
            if self.remember is not None and run.selection is None and run.tests:
                self.remember(run, work)
        return run

    def reproduce(self, test: str) -> str:
        """What to paste in the project's directory to see this one test again."""
        active = shutil.which("python") == str(self.python.path)
        return shlex.join(["python" if active else str(self.python.path), "-m", "pytest", test])

    def situation(self) -> Situation:
        """The abstract state every agent shares."""
        tests, records = len(self.collection.ids), self.records()
        seconds = self.suite_seconds()
        return Situation(
            suite=_size(tests),
            pace=_pace(seconds),
            failing=any(r.last_outcome in FAILED for r in records.values()) if records else None,
            changed=None if self.changes is None else bool(self.changes.files),
            history=_depth(list(records.values())),
            budget="tight" if self.budget.left() < _TIGHT_SHARE * (seconds or 0.0) else "ample",
        )


def verdicts(run: SuiteRun, condition: str) -> list[TestVerdict]:
    return [
        TestVerdict.model_validate(
            {
                "test": t.id,
                "outcome": t.outcome,
                "duration_seconds": t.duration_seconds,
                "condition": condition,
                "message": t.message,
                "network": t.network,
                "slept_seconds": t.slept_seconds,
            }
        )
        for t in run.tests
    ]


def failures(run: SuiteRun) -> tuple[str, ...]:
    return tuple(t.id for t in run.tests if t.outcome in FAILED)


def _size(tests: int) -> str:
    return "empty" if tests == 0 else "small" if tests < 100 else "medium" if tests < 1000 else "large"


def _pace(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return "fast" if seconds < _FAST_SECONDS else "moderate" if seconds < _SLOW_SECONDS else "slow"


def _depth(records: Sequence[TestRecord]) -> str:
    runs = max((r.executions for r in records), default=0)
    return "none" if runs == 0 else "some" if runs < 10 else "rich"
