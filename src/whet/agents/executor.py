"""test-executor: run the suite well — with how many workers, which tests, in what order, with how many retries."""

from collections.abc import Sequence
from typing import Literal

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
from whet.skills import ordering
from whet.skills.flakiness import FLAKY_AT, flaky_probability
from whet.tools.suite import SuitePlan, SuiteRun, TestResult
from whet.tools.system import available_memory_mb, cpu_count, in_ci
from whet.tools.workplace import FAILED, Workplace, failures

WORKERS = (2, 4, 8, 16)
# More workers than this per usable core only wait for each other, and make timing tests fail.
WORKERS_PER_CPU = 2
# More failures than this are not failures of single tests; confirming each would cost more than it tells.
CONFIRM_AT_MOST = 50
_RETRY_PLUGINS = ("pytest-rerunfailures", "flaky")


class ExecutorState(State):
    """S2 §1.2, plus what decides which actions make sense."""

    num_tests: Count
    total_duration_estimate: Seconds | None
    test_complexity: Literal["unknown", "simple", "moderate", "complex"]
    parallel_workers: Count = Field(
        description="workers that can really run at once: usable cores; 0 without pytest-xdist"
    )
    available_memory_mb: float | None
    ci_environment: bool
    avg_execution_time: Seconds | None
    flaky_test_rate: Probability | None
    previous_failures: Count | None
    affected_tests: Count | None = Field(description="tests that the change can reach; None when that is not known")
    configured_workers: bool
    retry_plugin: bool

    def discrete(self) -> tuple[Atom, ...]:
        return (
            min(self.num_tests // 100, 100),
            self.test_complexity,
            min(self.parallel_workers, 16),
            self.ci_environment,
            None if self.previous_failures is None else self.previous_failures > 0,
            self.selectable(),
        )

    def selectable(self) -> bool:
        """Whether the change reaches some of the tests and not all."""
        return self.affected_tests is not None and 0 < self.affected_tests < self.num_tests


class ExecutorOutcome(Outcome):
    exit_code: int | None
    tests_collected: Count
    tests_run: Count
    confirmed_failures: Count = Field(description="failed, and failed again when run plainly right after")
    unchecked_failures: Count = Field(description="failed, and were not run again")
    unconfirmed_failures: Count | None = Field(
        description="failed under a plan that may itself be the cause, and passed when run plainly; None: nobody looked"
    )
    missed_failures: Count | None = Field(
        description="failures among the tests the plan left out, when they were audited"
    )
    first_failure_seconds: Seconds | None
    early_share: Probability | None = Field(description="mean share of the run still to come when a failure showed")
    workers: Count | None
    expected_seconds: Seconds | None
    speedup: float | None
    test_seconds: Seconds | None = Field(None, description="sum of the single tests' durations")
    usable_cores: Count


class Executor(Agent[ExecutorState, ExecutorOutcome, Workplace]):
    name = "test-executor"
    category = "core-testing"
    state_type = ExecutorState
    outcome_type = ExecutorOutcome
    actions = (
        Action(
            name="execute_sequential",
            kind=ActionKind.AS_CONFIGURED,
            summary="one process, though the project asks for workers",
        ),
        *(
            Action(name=f"execute_parallel_{n}", kind=ActionKind.FASTER, summary=f"all tests on {n} workers")
            for n in WORKERS
        ),
        Action(name="run_all_tests", kind=ActionKind.AS_CONFIGURED, summary="all tests, as the project runs them"),
        Action(
            name="run_changed_only", kind=ActionKind.FOCUSED, summary="only tests that the change can reach", hides=True
        ),
        Action(name="run_failed_first", kind=ActionKind.ORDERED, summary="all tests, those most likely to fail first"),
        Action(name="run_fast_first", kind=ActionKind.ORDERED, summary="all tests, short ones first"),
        Action(
            name="no_retry", kind=ActionKind.AS_CONFIGURED, summary="all tests, the project's automatic retries off"
        ),
        Action(name="retry_failed_1x", kind=ActionKind.REPEATED, summary="all tests, failed ones once more"),
        Action(
            name="retry_failed_3x", kind=ActionKind.REPEATED, summary="all tests, failed ones up to three times more"
        ),
    )

    def observe(self, workplace: Workplace) -> ExecutorState:
        records = workplace.records()
        count, seconds = len(workplace.collection.ids), workplace.suite_seconds()
        return ExecutorState(
            situation=workplace.situation(),
            num_tests=count,
            total_duration_estimate=seconds,
            test_complexity=_complexity(seconds, count),
            parallel_workers=cpu_count() if workplace.python.has("pytest-xdist") else 0,
            available_memory_mb=available_memory_mb(),
            ci_environment=in_ci(),
            avg_execution_time=None if seconds is None or not count else seconds / count,
            flaky_test_rate=_flaky_rate(list(records.values())) if records else None,
            previous_failures=sum(r.last_outcome in FAILED for r in records.values()) if records else None,
            affected_tests=_affected_count(workplace),
            configured_workers=workplace.project.configured_workers(),
            retry_plugin=any(workplace.python.has(p) for p in _RETRY_PLUGINS),
        )

    def allowed(self, state: ExecutorState) -> tuple[Action, ...]:
        return tuple(action for action in self.actions if _makes_sense(action.name, state))

    def safe_default(self, state: ExecutorState) -> Action:
        return self.action("run_all_tests")

    def act(self, state: ExecutorState, action: Action, workplace: Workplace) -> ExecutorOutcome:
        plan = _plan(action.name, workplace)
        run = workplace.run(self.name, plan, _condition(action.name))
        failed = failures(run)
        again = _again(self.name, action.name, failed, workplace)
        passed_again = {t.id for r in again for t in r.tests if t.outcome == "passed"}
        checked = {t.id for r in again for t in r.tests}
        standing = tuple(t for t in failed if t not in passed_again)
        audit = _audit(self.name, plan, workplace)
        seconds = run.duration_seconds + sum(r.duration_seconds for r in again)
        expected = state.total_duration_estimate
        return ExecutorOutcome(
            duration_seconds=seconds,
            peak_memory_mb=run.peak_memory_mb,
            failed=run.problem(),
            findings=_findings(run, standing, audit, workplace),
            exit_code=run.exit_code,
            tests_collected=len(workplace.collection.ids),
            tests_run=len(run.tests),
            confirmed_failures=sum(t in checked for t in standing),
            unchecked_failures=sum(t not in checked for t in standing),
            unconfirmed_failures=_plan_caused(action.name, failed, again, passed_again),
            missed_failures=_missed(plan, audit),
            first_failure_seconds=run.first_failure_seconds,
            early_share=_early_share(run, standing),
            workers=plan.workers,
            expected_seconds=expected,
            speedup=None if expected is None or not seconds else expected / seconds,
            test_seconds=sum(t.duration_seconds for t in run.tests) if run.tests else None,
            usable_cores=cpu_count(),
        )

    def value(self, state: ExecutorState, action: Action, outcome: ExecutorOutcome) -> Valuation:
        workers = min(outcome.workers or 0, outcome.usable_cores)
        efficiency = None if workers < 2 or outcome.speedup is None else min(outcome.speedup / workers, 1.0)
        savings = None if outcome.speedup is None else max(-1.0, 1.0 - 1.0 / max(outcome.speedup, 1e-9))
        measures = Measures(
            bugs_found={"high": outcome.confirmed_failures + outcome.unchecked_failures},
            expected_seconds=outcome.expected_seconds,
            actual_seconds=outcome.duration_seconds,
            task_failed=outcome.failed is not None,
            false_positives=outcome.unconfirmed_failures,
        )
        own = (
            *specialists.execution(
                parallelization_efficiency=efficiency,
                resource_utilization=_utilization(outcome),
                time_savings=savings,
                failed_scheduling=0 if outcome.failed is None else 1,
            ),
            *specialists.trust(
                missed_failures=outcome.missed_failures, unconfirmed_failures=outcome.unconfirmed_failures
            ),
            *specialists.risk(early_share=outcome.early_share),
        )
        return Valuation(measures=measures, own=own, anyway=_anyway(outcome))


def _anyway(outcome: ExecutorOutcome) -> Valuation | None:
    """Failures that are there show in every full run, on average half-way through it, whatever the plan."""
    failing = outcome.confirmed_failures + outcome.unchecked_failures + (outcome.missed_failures or 0)
    if not failing:
        return None
    return Valuation(measures=Measures(bugs_found={"high": failing}), own=specialists.risk(early_share=0.5))


def _makes_sense(name: str, state: ExecutorState) -> bool:
    if name.startswith("execute_parallel_"):
        return int(name.rsplit("_", 1)[1]) <= WORKERS_PER_CPU * state.parallel_workers and state.num_tests > 1
    checks = {
        "execute_sequential": state.configured_workers and state.parallel_workers > 0,
        "run_changed_only": state.selectable(),
        "run_failed_first": bool(state.previous_failures),
        "run_fast_first": state.total_duration_estimate is not None,
        "no_retry": state.retry_plugin,
        # With nothing failing and nothing flaky on record, a retry is the plain run under another name.
        "retry_failed_1x": state.previous_failures != 0 or bool(state.flaky_test_rate),
        "retry_failed_3x": state.previous_failures != 0 or bool(state.flaky_test_rate),
    }
    return checks.get(name, True)


def _plan(name: str, workplace: Workplace) -> SuitePlan:
    if name.startswith("execute_parallel_"):
        return SuitePlan(workers=int(name.rsplit("_", 1)[1]))
    tests = workplace.collection.ids
    match name:
        case "execute_sequential":
            return SuitePlan(workers=0)
        case "run_changed_only":
            return SuitePlan(select=_affected(workplace))
        case "run_failed_first":
            return SuitePlan(order=_likely_first(workplace))
        case "run_fast_first":
            return SuitePlan(order=ordering.fast_first(tests, workplace.records()))
        case "no_retry":
            return SuitePlan(no_retries=True)
    return SuitePlan()


def _likely_first(workplace: Workplace) -> tuple[str, ...]:
    """In the learned order where there is one; else by decayed failures."""
    tests = workplace.collection.ids
    if workplace.rank is None:
        return ordering.failed_first(tests, workplace.records())
    return tuple(workplace.rank(tests))


def _condition(name: str) -> str:
    if name.startswith("execute_parallel_"):
        return "parallel"
    return {"run_changed_only": "selected", "run_failed_first": "shuffled", "run_fast_first": "shuffled"}.get(
        name, "own-order"
    )


def _again(agent: str, action: str, failed: Sequence[str], workplace: Workplace) -> list[SuiteRun]:
    """Failed tests once more, plainly: to retry them where that was decided, or to see whether the plan caused them."""
    times = {"retry_failed_1x": 1, "retry_failed_3x": 3}.get(action, 0 if _condition(action) == "own-order" else 1)
    runs: list[SuiteRun] = []
    left = list(failed)[:CONFIRM_AT_MOST]
    for _ in range(times):
        if not left or workplace.budget.left() <= 0:
            break
        run = workplace.run(agent, SuitePlan(select=tuple(left), workers=0), "selected", "confirming failures")
        runs.append(run)
        left = [t for t in left if t in failures(run)]
    return runs


def _plan_caused(action: str, failed: Sequence[str], again: Sequence[SuiteRun], passed: set[str]) -> int | None:
    """Failures that the plan brought about. A plain run has no plan that could; there a retry shows a flaky test."""
    if _condition(action) == "own-order" or not failed:
        return 0
    return len(passed) if again else None


def _audit(agent: str, plan: SuitePlan, workplace: Workplace) -> SuiteRun | None:
    """Run what a selection left out, to learn what it missed. Not part of the action's time."""
    if plan.select is None or not workplace.audit_selection or workplace.budget.left() <= 0:
        return None
    chosen = set(plan.select)
    rest = tuple(t for t in workplace.collection.ids if t not in chosen)
    return workplace.run(agent, SuitePlan(select=rest), "selected", "auditing the selection")


def _missed(plan: SuitePlan, audit: SuiteRun | None) -> int | None:
    if plan.select is None:
        return 0
    return None if audit is None or audit.problem() is not None else len(failures(audit))


def _affected(workplace: Workplace) -> tuple[str, ...]:
    changes = workplace.changes
    _, covered = workplace.history.coverage()
    return ordering.affected(workplace.collection.ids, {} if changes is None else changes.files, covered)


def _affected_count(workplace: Workplace) -> int | None:
    if workplace.changes is None or not workplace.changes.files or not workplace.history.coverage()[1]:
        return None
    return len(_affected(workplace))


def _complexity(seconds: float | None, tests: int) -> str:
    """By the mean time of a test: under 20 ms simple, under 200 ms moderate."""
    if seconds is None or not tests:
        return "unknown"
    mean = seconds / tests
    return "simple" if mean < 0.02 else "moderate" if mean < 0.2 else "complex"


def _flaky_rate(records: Sequence[TestRecord]) -> float:
    flaky = sum(flaky_probability(r.same_code_executions, r.same_code_failures) >= FLAKY_AT for r in records)
    return flaky / len(records)


def _early_share(run: SuiteRun, failing: Sequence[str]) -> float | None:
    """Mean share of the run still to come when a failure showed; None when nothing failed."""
    shown = [t.ended_seconds for t in run.tests if t.id in set(failing)]
    if not shown or not run.duration_seconds:
        return None
    return sum(max(0.0, 1.0 - s / run.duration_seconds) for s in shown) / len(shown)


def _utilization(outcome: ExecutorOutcome) -> float | None:
    """Test seconds done per second and usable core."""
    if outcome.test_seconds is None or not outcome.duration_seconds:
        return None
    return min(1.0, outcome.test_seconds / (outcome.duration_seconds * outcome.usable_cores))


def _findings(
    run: SuiteRun, standing: Sequence[str], audit: SuiteRun | None, workplace: Workplace
) -> tuple[Finding, ...]:
    problem = run.problem()
    troubles = [_trouble(problem, run)] if problem else []
    results = [t for t in run.tests if t.id in set(standing)]
    if audit is not None:
        results += [t for t in audit.tests if t.outcome in FAILED]
    records = workplace.records()
    return (*troubles, *(_failing(t, records.get(t.id), workplace) for t in results))


def _trouble(problem: str, run: SuiteRun) -> Finding:
    return Finding(
        kind="suite-problem",
        title="pytest could not do its job",
        severity="critical",
        evidence=problem,
        reproduce=run.command,
    )


def _failing(result: TestResult, record: TestRecord | None, workplace: Workplace) -> Finding:
    probability = 0.0
    if record is not None:
        probability = flaky_probability(record.same_code_executions, record.same_code_failures)
    doubt = " It has passed on this same code: it may be flaky." if probability >= 0.5 else ""
    return Finding(
        kind="failing-test",
        title=f"{result.id} {'fails' if result.outcome == 'failed' else 'breaks in set-up or tear-down'}",
        severity="medium" if probability >= 0.5 else "high",
        evidence=(result.message or "no message") + doubt,
        reproduce=workplace.reproduce(result.id),
        file=result.file,
        line=result.line,
        test=result.id,
        probability=1.0 - probability,
    )
