"""coverage-analyzer: what is measured, what is remembered, and what is only a lower bound."""

from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject, remembered, without

from whet.agents.coverage import CoverageAnalyzer, CoverageOutcome, CoverageState, _callers
from whet.core.records import ActionKind
from whet.tools.source import Function
from whet.tools.workplace import Workplace

ANALYZER = CoverageAnalyzer()
CODE = {
    "calc.py": "def half(n):\n    return n / 2\n\n\ndef twice(n):\n    return n * 2\n",
    "test_calc.py": "import calc\ndef test_half(): assert calc.half(4) == 2\ndef test_nothing(): pass\n",
}


def act(name: str, place: Workplace) -> tuple[CoverageState, CoverageOutcome]:
    state = ANALYZER.observe(place)
    action = ANALYZER.action(name)
    assert action in ANALYZER.allowed(state)
    return state, ANALYZER.act(state, action, place)


def test_nothing_is_known_of_coverage_before_it_is_measured(tmp_path: Path) -> None:
    with SmallProject(tmp_path, CODE).workplace() as place:
        state = ANALYZER.observe(place)
    measured = (state.line_coverage, state.branch_coverage, state.function_coverage, state.uncovered_lines)
    assert measured == (None, None, None, None)
    assert (state.total_lines, state.critical_paths_uncovered, state.coverage_trend) == (None, None, "unknown")
    assert not [a for a in ANALYZER.allowed(state) if a.kind is ActionKind.RECALLED]


def test_which_test_runs_which_line_is_stored_and_recalled_without_running_anything(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, CODE)
    with project.workplace() as place:
        _, outcome = act("detailed_analysis", place)
        version, covered = place.history.coverage()
        ran = len(project.traced())
        state, recalled = act("report_detailed", place)
        summary = act("report_summary", place)[1]
    assert (version, covered["test_calc.py::test_half"]["calc.py"]) == (place.code_version, (2,))
    assert "calc.py" not in covered.get("test_calc.py::test_nothing", {})
    # 4 lines of code, of which `return n * 2` never ran; no branch anywhere
    assert outcome.line_coverage == pytest.approx(75.0)
    assert (outcome.uncovered_lines, outcome.tests_run, outcome.lower_bound) == (1, 2, False)
    assert (state.fresh, state.line_coverage) == (True, outcome.line_coverage)
    assert len(project.traced()) == ran
    assert (recalled.tests_run, recalled.peak_memory_mb) == (0, None)
    assert (recalled.line_coverage, recalled.top_gaps) == (outcome.line_coverage, outcome.top_gaps)
    assert (summary.top_gaps, summary.gaps_total) == ((), 1)


def test_stored_coverage_of_other_code_is_not_offered(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, CODE)
    with project.workplace() as place:
        _, outcome = act("quick_scan", place)
    assert outcome.branch_coverage is None
    assert outcome.uncovered_branches is None
    project.write({"calc.py": CODE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n"})
    with project.workplace() as place:
        state = ANALYZER.observe(place)
    assert not state.fresh
    assert "report_detailed" not in [a.name for a in ANALYZER.allowed(state)]


def doubling(tmp_path: Path) -> SmallProject:
    """Fifteen quick tests of one line; only the slowest test, the last to be taken, runs the complex function."""
    branches = "".join(f"    if n == {i}:\n        return {i}\n" for i in range(12))
    quick = "".join(f"def test_quick{i}(): assert code.easy() == 1\n" for i in range(15))
    return SmallProject(
        tmp_path,
        {
            "code.py": f"def easy():\n    return 1\n\n\ndef hard(n):\n{branches}    return -1\n",
            "test_code.py": f"import code\n{quick}def test_slowest():\n    for i in range(20):\n        code.hard(i)\n",
        },
    )


def measure_by_doubling(project: SmallProject) -> CoverageOutcome:
    with project.workplace() as place:
        slowest = "test_code.py::test_slowest"
        timed = [remembered(test, seconds=9.0 if test == slowest else 0.01) for test in place.collection.ids]
        place.history.record("earlier", place.code_version, timed)
        return act("use_binary_search", place)[1]


def test_a_part_of_the_suite_gives_a_lower_bound_that_is_not_remembered(tmp_path: Path) -> None:
    project = doubling(tmp_path)
    outcome = measure_by_doubling(project)
    assert [len(run.tests) for run in project.traced()] == [2, 4]
    assert (outcome.tests_run, outcome.lower_bound) == (6, True)
    with project.workplace() as place:
        assert ANALYZER.observe(place).line_coverage is None


def test_a_part_of_the_suite_does_not_prove_code_untested(tmp_path: Path) -> None:
    """test_slowest runs `hard`; that it was left out makes no gap."""
    assert [finding.title for finding in measure_by_doubling(doubling(tmp_path)).findings] == []


def test_without_coverage_the_obstacle_says_how_to_install_it(tmp_path: Path) -> None:
    with SmallProject(tmp_path, CODE).workplace(without("coverage")) as place:
        obstacle = ANALYZER.obstacle(place)
    assert obstacle is not None
    assert obstacle.endswith(f"Install it: {place.python.path} -m pip install coverage")


def function(name: str, *calls: str) -> Function:
    return Function(name=name, start=1, definition=1, body=2, end=3, complexity=1, calls=calls)


def test_callers_are_counted_only_where_a_name_can_mean_one_function() -> None:
    sources = {
        "a.py": (function("Stack.pop"), function("rare", "pop", "twice", "helper")),
        "b.py": (function("twice"), function("Other.twice"), function("helper"), function("user", "helper", "pop")),
    }
    assert _callers(sources) == {"rare": 0, "helper": 2, "user": 0}
