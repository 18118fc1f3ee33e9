"""coverage-analyzer: find the untested code that matters, at the price the run can pay."""

import io
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.records import Action, ActionKind, Count, Finding, Measures, Outcome, Record, Seconds, State, Valuation
from whet.rewards import specialists
from whet.skills import ordering
from whet.skills.gaps import COMPLEX, Gap, Weighing, gaps, ranges
from whet.tools import git
from whet.tools.coverage_data import CoverageReport, read_coverage, tests_by_file
from whet.tools.coverage_memo import CoverageMemo
from whet.tools.process import Limits
from whet.tools.source import Function, functions
from whet.tools.suite import SuitePlan, SuiteRun
from whet.tools.workplace import Workplace

# How many gaps a report names; more than this nobody reads.
NAMED_GAPS = 15
# Reading a report may outlast the budget by this much: what was measured is worth telling.
REPORT_SECONDS = 60.0
# Doubling stops when a doubled part of the suite adds less than this many points of coverage.
SATURATED_POINTS = 1.0
# Names that every object or container answers to.
AMBIGUOUS = frozenset(name for kind in (object, list, dict, set, str, bytes, io.IOBase) for name in dir(kind))
RANKED = frozenset({"gap_prioritization", "use_graph_algorithm", "report_actionable", "detailed_analysis"})
BRANCHES = frozenset({"detailed_analysis", "gap_prioritization", "use_linear_scan"})
CONTEXTS = frozenset({"detailed_analysis", "gap_prioritization"})


class CoverageState(State):
    """S2 §1.2. None where coverage was never measured on this project."""

    line_coverage: float | None
    branch_coverage: float | None
    function_coverage: float | None
    uncovered_lines: Count | None
    uncovered_branches: Count | None
    critical_paths_uncovered: Count | None
    total_lines: Count | None
    code_complexity: Literal["unknown", "simple", "moderate", "complex"]
    coverage_trend: Literal["unknown", "improving", "stable", "declining"]
    fresh: bool = Field(description="the stored coverage is of exactly this code")
    expected_seconds: Seconds | None

    def discrete(self) -> tuple[Atom, ...]:
        return (
            None if self.line_coverage is None else int(self.line_coverage // 10),
            None if self.branch_coverage is None else int(self.branch_coverage // 10),
            None if self.critical_paths_uncovered is None else min(self.critical_paths_uncovered // 5, 20),
            self.code_complexity,
            self.fresh,
        )


class FileLine(Record):
    """Coverage of one file, for reports."""

    file: str
    percent: float
    missing: tuple[int, ...]


class CoverageOutcome(Outcome):
    tests_run: Count
    line_coverage: float | None
    branch_coverage: float | None
    function_coverage: float | None
    uncovered_lines: Count | None
    uncovered_branches: Count | None
    gaps_total: Count | None
    gaps_named_that_matter: Count | None = Field(
        description="of the gaps this report names, those with a reason to matter"
    )
    expected_seconds: Seconds | None
    lower_bound: bool = Field(description="measured on a part of the suite only")
    top_gaps: tuple[Gap, ...] = ()
    files: tuple[FileLine, ...] = ()


class CoverageAnalyzer(Agent[CoverageState, CoverageOutcome, Workplace]):
    name = "coverage-analyzer"
    category = "core-testing"
    state_type = CoverageState
    outcome_type = CoverageOutcome
    actions = (
        Action(name="quick_scan", kind=ActionKind.FASTER, summary="line coverage of one run, gaps in file order"),
        Action(
            name="detailed_analysis", kind=ActionKind.DEEPER, summary="branch coverage, and which test runs which line"
        ),
        Action(
            name="gap_prioritization",
            kind=ActionKind.DEEPER,
            summary="the same; only gaps that matter, ranked by change, complexity, churn and callers",
        ),
        Action(name="use_linear_scan", kind=ActionKind.AS_CONFIGURED, summary="branch coverage, gaps in file order"),
        Action(
            name="use_binary_search",
            kind=ActionKind.FOCUSED,
            summary="1/8, 1/4, 1/2 … of the suite until coverage stops growing",
            hides=True,
        ),
        Action(
            name="use_graph_algorithm", kind=ActionKind.DEEPER, summary="line coverage; gaps ranked by what calls them"
        ),
        Action(name="report_summary", kind=ActionKind.RECALLED, summary="the stored coverage, totals only", hides=True),
        Action(name="report_detailed", kind=ActionKind.RECALLED, summary="the stored coverage, gaps in file order"),
        Action(name="report_actionable", kind=ActionKind.RECALLED, summary="the stored coverage, gaps ranked"),
    )

    def obstacle(self, workplace: Workplace) -> str | None:
        if workplace.python.has("coverage"):
            return None
        path = workplace.python.path
        return f"coverage is not installed in {path}. Install it: {path} -m pip install coverage"

    def observe(self, workplace: Workplace) -> CoverageState:
        memo = CoverageMemo.load(workplace.coverage_memo)
        report = None if memo is None else memo.report
        sources = _functions(workplace)
        named = () if report is None else gaps(report, _weighing(workplace, sources))
        return CoverageState(
            situation=workplace.situation(),
            line_coverage=report.line_percent if report else None,
            branch_coverage=report.branch_percent if report else None,
            function_coverage=report.function_percent if report else None,
            uncovered_lines=_uncovered_lines(report),
            uncovered_branches=_uncovered_branches(report),
            critical_paths_uncovered=sum(g.matters for g in named) if report else None,
            total_lines=sum(len(f.executed) + len(f.missing) for f in report.files.values()) if report else None,
            code_complexity=_complexity(sources),
            coverage_trend=_trend(memo),
            fresh=memo is not None and memo.code_version == workplace.code_version,
            expected_seconds=workplace.suite_seconds(),
        )

    def allowed(self, state: CoverageState) -> tuple[Action, ...]:
        return tuple(a for a in self.actions if state.fresh or a.kind is not ActionKind.RECALLED)

    def safe_default(self, state: CoverageState) -> Action:
        return self.action("detailed_analysis")

    def act(self, state: CoverageState, action: Action, workplace: Workplace) -> CoverageOutcome:
        started = time.monotonic()
        recalled = action.kind is ActionKind.RECALLED
        runs, report = _recall(workplace) if recalled else _measure(self.name, action.name, workplace)
        named, total = _named(action.name, report, workplace)
        problem = next((p for run in runs if (p := run.problem())), None)
        # Lines that only a part of the suite left out are not known to be untested.
        partial = bool(runs) and (problem is not None or len(runs[-1].tests) < len(workplace.collection.ids))
        return CoverageOutcome(
            duration_seconds=time.monotonic() - started,
            peak_memory_mb=max((r.peak_memory_mb for r in runs if r.peak_memory_mb is not None), default=None),
            failed=problem,
            findings=() if partial else tuple(_finding(gap) for gap in named if gap.matters),
            tests_run=sum(len(run.tests) for run in runs),
            line_coverage=report.line_percent if report else None,
            branch_coverage=report.branch_percent if report else None,
            function_coverage=report.function_percent if report else None,
            uncovered_lines=_uncovered_lines(report),
            uncovered_branches=_uncovered_branches(report),
            gaps_total=total,
            gaps_named_that_matter=None if report is None or partial else sum(g.matters for g in named),
            expected_seconds=state.expected_seconds,
            lower_bound=partial,
            top_gaps=named,
            files=_file_lines(report),
        )

    def value(self, state: CoverageState, action: Action, outcome: CoverageOutcome) -> Valuation:
        measures = Measures(
            expected_seconds=outcome.expected_seconds,
            # What ran nothing has no speed to be praised for.
            actual_seconds=outcome.duration_seconds if outcome.tests_run else None,
            task_failed=outcome.failed is not None,
        )
        return Valuation(measures=measures, own=specialists.coverage(gaps_that_matter=outcome.gaps_named_that_matter))


def _recall(workplace: Workplace) -> tuple[list[SuiteRun], CoverageReport | None]:
    memo = CoverageMemo.load(workplace.coverage_memo)
    return [], None if memo is None else memo.report


def _measure(agent: str, action: str, workplace: Workplace) -> tuple[list[SuiteRun], CoverageReport | None]:
    branches: Literal["branches", "lines"] = "branches" if action in BRANCHES else "lines"
    if action == "use_binary_search":
        return _by_doubling(agent, workplace)
    plan = SuitePlan(coverage=branches, contexts=action in CONTEXTS, workers=0)
    run = workplace.run(agent, plan, "covered", "measuring coverage")
    report = _read(run, workplace)
    if report is not None and run.problem() is None:
        _remember(report, workplace)
        if action in CONTEXTS and run.coverage_file is not None:
            workplace.history.cover(workplace.code_version, tests_by_file(run.coverage_file, workplace.project.root))
    return [run], report


def _by_doubling(agent: str, workplace: Workplace) -> tuple[list[SuiteRun], CoverageReport | None]:
    """Fast tests first: cheap ones usually cover most. Stops when twice the tests add less than a point."""
    tests = ordering.fast_first(workplace.collection.ids, workplace.records())
    runs: list[SuiteRun] = []
    report: CoverageReport | None = None
    for size in (len(tests) // 8, len(tests) // 4, len(tests) // 2, len(tests)):
        if size < 1 or workplace.budget.left() <= 0:
            continue
        run = workplace.run(
            agent, SuitePlan(select=tests[:size], coverage="lines", workers=0), "selected", "measuring coverage"
        )
        runs.append(run)
        newer = _read(run, workplace)
        grown = _growth(report, newer)
        report = newer or report
        if grown is not None and grown < SATURATED_POINTS:
            break
    return runs, report


def _growth(before: CoverageReport | None, after: CoverageReport | None) -> float | None:
    if before is None or after is None or before.line_percent is None or after.line_percent is None:
        return None
    return after.line_percent - before.line_percent


def _read(run: SuiteRun, workplace: Workplace) -> CoverageReport | None:
    if run.coverage_file is None:
        return None
    limits = Limits(timeout_seconds=max(workplace.budget.left(), REPORT_SECONDS), memory_mb=workplace.memory_mb)
    return read_coverage(run, workplace.python, workplace.project, limits)


def _remember(report: CoverageReport, workplace: Workplace) -> None:
    before = CoverageMemo.load(workplace.coverage_memo)
    previous = None if before is None else before.report.line_percent
    memo = CoverageMemo(code_version=workplace.code_version, report=report, previous_line_percent=previous)
    memo.save(workplace.coverage_memo)


def _named(action: str, report: CoverageReport | None, workplace: Workplace) -> tuple[tuple[Gap, ...], int | None]:
    """The gaps this action's report names, in its order, and how many there are in all."""
    if report is None:
        return (), None
    found = gaps(report, _weighing(workplace, _functions(workplace)))
    if action == "report_summary":
        return (), len(found)
    if action == "use_graph_algorithm":
        found = tuple(sorted(found, key=lambda g: (-g.callers, -g.score)))
    if action not in RANKED:
        found = tuple(sorted(found, key=lambda g: (g.file, g.lines[0])))
    if action in {"gap_prioritization", "report_actionable"}:
        found = tuple(g for g in found if g.matters)
    return found[:NAMED_GAPS], len(found)


def _functions(workplace: Workplace) -> dict[str, tuple[Function, ...]]:
    root = workplace.project.root
    return {str(path.relative_to(root).as_posix()): functions(path) for path in workplace.project.source_files()}


def _weighing(workplace: Workplace, sources: Mapping[str, Sequence[Function]]) -> Weighing:
    changed = {} if workplace.changes is None else workplace.changes.files
    return Weighing(
        functions=sources, changed=changed, churn=git.churn(workplace.project.root), callers=_callers(sources)
    )


def _callers(sources: Mapping[str, Sequence[Function]]) -> dict[str, int]:
    """How many functions call a name, for names that can only mean one function of this project.

    A call of `pop` may be any list's; counting it for a method of that name would be inventing.
    """
    every = [f for fs in sources.values() for f in fs]
    defined = Counter(f.name.rsplit(".", 1)[-1] for f in every)
    calls = Counter(call for f in every for call in set(f.calls))
    return {name: calls[name] for name, times in defined.items() if times == 1 and name not in AMBIGUOUS}


def _complexity(sources: Mapping[str, Sequence[Function]]) -> str:
    """By the share of functions that are complex: a tenth is moderate, a quarter complex."""
    every = [f.complexity for fs in sources.values() for f in fs]
    if not every:
        return "unknown"
    share = sum(c >= COMPLEX for c in every) / len(every)
    return "simple" if share < 0.1 else "moderate" if share < 0.25 else "complex"


def _trend(memo: CoverageMemo | None) -> str:
    if memo is None or memo.previous_line_percent is None or memo.report.line_percent is None:
        return "unknown"
    change = memo.report.line_percent - memo.previous_line_percent
    return "improving" if change > 0.5 else "declining" if change < -0.5 else "stable"


def _uncovered_lines(report: CoverageReport | None) -> int | None:
    return None if report is None else sum(len(f.missing) for f in report.files.values())


def _uncovered_branches(report: CoverageReport | None) -> int | None:
    if report is None or report.branch_percent is None:
        return None
    return sum(len(f.missing_branches or ()) for f in report.files.values())


def _file_lines(report: CoverageReport | None) -> tuple[FileLine, ...]:
    files = {} if report is None else report.files
    sizes = {path: len(f.executed) + len(f.missing) for path, f in files.items()}
    return tuple(
        FileLine(file=path, percent=100.0 * len(f.executed) / sizes[path], missing=f.missing)
        for path, f in files.items()
        if sizes[path]
    )


def _finding(gap: Gap) -> Finding:
    changed = any("changed" in reason for reason in gap.reasons)
    lines = f"line{'s' if len(gap.lines) > 1 else ''} {ranges(gap.lines)}"
    what = f"{gap.function} is not tested" if gap.untouched else f"part of {gap.function or 'the module'} is not tested"
    return Finding(
        kind="coverage-gap",
        title=f"{gap.file}: {what} ({lines})",
        severity="high" if changed else "medium",
        evidence=f"No test ran {lines}. Why it matters: " + "; ".join(gap.reasons) + ".",
        reproduce="coverage run -m pytest && coverage report --show-missing",
        file=gap.file,
        line=gap.lines[0],
    )
