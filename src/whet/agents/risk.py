"""regression-risk-analyzer: say which tests the change puts at risk, and run those first to see."""

import shlex
import time
from collections.abc import Mapping

from pydantic import Field

from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.ports import TestRecord
from whet.core.records import (
    Action,
    ActionKind,
    Count,
    Finding,
    Measures,
    Outcome,
    Probability,
    Seconds,
    State,
    Valuation,
)
from whet.rewards import specialists
from whet.skills import risk as methods
from whet.skills.risk import Evidence, Risk
from whet.tools import git
from whet.tools.suite import SuitePlan
from whet.tools.workplace import FAILED, Workplace, failures

# The slice of the suite that is run to test the prediction.
SLICE = 0.2
NAMED_RISKS = 20
# From here on a test runs changed lines (skills.risk.by_coverage).
REACHES = 0.5
_METHODS = {
    "assess_by_coverage": methods.by_coverage,
    "assess_by_diff": methods.by_diff,
    "assess_by_history": methods.by_history,
    "assess_by_churn": methods.by_churn,
    "assess_combined": methods.combined,
}


class RiskState(State):
    changed_files: Count | None
    changed_lines: Count | None
    uncommitted: bool | None
    coverage_map: bool
    history_runs: Count
    known_failures: Count | None
    num_tests: Count
    expected_seconds: Seconds | None

    def discrete(self) -> tuple[Atom, ...]:
        return (
            None if self.changed_files is None else min(self.changed_files, 5),
            self.coverage_map,
            min(self.history_runs, 10) // 2,
            None if self.known_failures is None else self.known_failures > 0,
        )


class RiskOutcome(Outcome):
    tests_ranked: Count
    tests_run: Count
    failures_in_slice: Count
    regressions: Count | None = Field(description="caught tests that passed on earlier code; None without a change")
    failures_known: Count | None = Field(
        description="failing tests of this code known from earlier full runs and this slice"
    )
    early_share: Probability | None = Field(description="share of the known failing tests that the slice caught")
    expected_seconds: Seconds | None
    top: tuple[Risk, ...] = ()


class RiskAnalyzer(Agent[RiskState, RiskOutcome, Workplace]):
    name = "regression-risk-analyzer"
    category = "advanced-testing"
    state_type = RiskState
    outcome_type = RiskOutcome
    actions = (
        Action(
            name="assess_by_coverage", kind=ActionKind.FOCUSED, summary="risk by the changed lines each test executes"
        ),
        Action(name="assess_by_diff", kind=ActionKind.FASTER, summary="risk by names and places of changed files"),
        Action(
            name="assess_by_history", kind=ActionKind.ORDERED, summary="risk by how often and how lately a test failed"
        ),
        Action(
            name="assess_by_churn",
            kind=ActionKind.ORDERED,
            summary="risk by how often the code a test runs is committed",
        ),
        Action(
            name="assess_combined", kind=ActionKind.DEEPER, summary="risk by changed lines, names and history together"
        ),
    )

    def observe(self, workplace: Workplace) -> RiskState:
        records, changes = workplace.records(), workplace.changes
        return RiskState(
            situation=workplace.situation(),
            changed_files=None if changes is None else len(changes.files),
            changed_lines=None if changes is None else sum(len(lines) for lines in changes.files.values()),
            uncommitted=None if changes is None else changes.uncommitted,
            coverage_map=bool(workplace.history.coverage()[1]),
            history_runs=max((r.executions for r in records.values()), default=0),
            known_failures=sum(r.last_outcome in FAILED for r in records.values()) if records else None,
            num_tests=len(workplace.collection.ids),
            expected_seconds=workplace.suite_seconds(),
        )

    def allowed(self, state: RiskState) -> tuple[Action, ...]:
        changed = bool(state.changed_files)
        possible = {
            "assess_by_coverage": changed and state.coverage_map,
            "assess_by_diff": changed,
            "assess_by_churn": state.changed_files is not None,
            "assess_combined": changed,
        }
        return tuple(a for a in self.actions if possible.get(a.name, True))

    def safe_default(self, state: RiskState) -> Action:
        return self.action("assess_combined" if state.changed_files else "assess_by_history")

    def act(self, state: RiskState, action: Action, workplace: Workplace) -> RiskOutcome:
        started = time.monotonic()
        known = {t for t, r in workplace.records().items() if r.same_code_failures and r.last_outcome in FAILED}
        earlier = _earlier(workplace.records())
        evidence = _evidence(workplace, earlier)
        risks = methods.ranked(_METHODS[action.name](evidence))
        size = max(1, round(SLICE * len(risks)))
        plan = SuitePlan(select=tuple(r.test for r in risks[:size]))
        run = workplace.run(self.name, plan, "selected", "trying the riskiest tests")
        caught = set(failures(run))
        failing = known | caught
        return RiskOutcome(
            duration_seconds=time.monotonic() - started,
            peak_memory_mb=run.peak_memory_mb,
            failed=run.problem(),
            findings=_findings(caught, evidence, workplace),
            tests_ranked=len(risks),
            tests_run=len(run.tests),
            failures_in_slice=len(caught),
            regressions=_regressions(caught, state, earlier),
            failures_known=len(failing) if known else None,
            early_share=len(caught) / len(failing) if failing and known else None,
            expected_seconds=state.expected_seconds,
            top=tuple(risks[:NAMED_RISKS]),
        )

    def value(self, state: RiskState, action: Action, outcome: RiskOutcome) -> Valuation:
        measures = Measures(
            bugs_found={"high": outcome.failures_in_slice},
            regression_detected=None if outcome.regressions is None else outcome.regressions > 0,
            expected_seconds=outcome.expected_seconds,
            actual_seconds=outcome.duration_seconds,
            task_failed=outcome.failed is not None,
        )
        return Valuation(measures=measures, own=specialists.risk(early_share=outcome.early_share))


def _earlier(records: Mapping[str, TestRecord]) -> dict[str, TestRecord]:
    """What was known before the present code was ever run: a prediction must not read the answer."""
    return {t: record for t, r in records.items() if (record := _before_this_code(r)).executions}


def _before_this_code(record: TestRecord) -> TestRecord:
    if not record.same_code_executions:
        return record
    failures = record.failures - record.same_code_failures
    return record.model_copy(
        update={
            "executions": record.executions - record.same_code_executions,
            "failures": failures,
            "decayed_failures": min(record.decayed_failures, 0.7 * failures),
        }
    )


def _regressions(caught: set[str], state: RiskState, earlier: Mapping[str, TestRecord]) -> int | None:
    if not state.changed_files:
        return None
    return sum(test in earlier and not earlier[test].failures for test in caught)


def _evidence(workplace: Workplace, earlier: Mapping[str, TestRecord]) -> Evidence:
    return Evidence(
        tests=workplace.collection.ids,
        changed={} if workplace.changes is None else workplace.changes.files,
        covered=workplace.history.coverage()[1],
        records=earlier,
        churn=git.churn(workplace.project.root),
    )


def _findings(caught: set[str], evidence: Evidence, workplace: Workplace) -> tuple[Finding, ...]:
    """One finding for the change: tests that reach it and fail every time on this code.

    A risk nobody saw come true is not a finding, and neither is a test that has passed on the same code.
    """
    changes, reach, records = workplace.changes, methods.by_coverage(evidence), workplace.records()
    hit = [reach[t] for t in sorted(caught) if reach[t].risk >= REACHES and _always_fails(records.get(t))]
    if changes is None or not changes.files or not evidence.covered or not hit:
        return ()
    file = max(changes.files, key=lambda f: (f.endswith(".py"), len(changes.files[f])))
    tests = ", ".join(r.test for r in hit[:3]) + (f" and {len(hit) - 3} more" if len(hit) > 3 else "")
    return (
        Finding(
            kind="risky-change",
            title=f"The change since {changes.base[:12]} reaches {len(hit)} failing test(s)",
            severity="high",
            evidence=f"{tests}: {hit[0].because}.",
            reproduce=shlex.join(["git", "diff", changes.base[:12], "--", file]),
            file=file,
            line=min(changes.files[file], default=None),
        ),
    )


def _always_fails(record: TestRecord | None) -> bool:
    return record is not None and 0 < record.same_code_failures == record.same_code_executions
