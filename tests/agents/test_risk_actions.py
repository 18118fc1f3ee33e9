"""regression-risk-analyzer: changed lines become risk, and the riskiest tests are run to see."""

from pathlib import Path

from tests.agents.workplaces import SmallProject, remembered

from whet.agents.risk import RiskAnalyzer
from whet.core.records import Action

ANALYZER = RiskAnalyzer()
NAMES = ("alpha", "bravo", "carol", "delta", "erica")
CODE = {f"{name}.py": f"def {name}():\n    return 1\n" for name in NAMES}
TESTS = "".join(f"def test_{i}(): assert {name}.{name}() == 1\n" for i, name in enumerate(NAMES))


def project_with(tmp_path: Path, change: bool = True) -> SmallProject:
    project = SmallProject(tmp_path, {**CODE, "test_all.py": f"import {', '.join(NAMES)}\n{TESTS}"})
    project.commit()
    if change:
        project.write({"delta.py": "def delta():\n    return 2\n"})
    with project.store() as store:
        lines = {f"test_all.py::test_{i}": {f"{name}.py": [2]} for i, name in enumerate(NAMES)}
        store.history.cover("earlier", lines)
    return project


def names(actions: tuple[Action, ...]) -> set[str]:
    return {action.name for action in actions}


def test_the_test_that_runs_the_changed_line_is_the_riskiest_and_is_run(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    with project.workplace() as place:
        state = ANALYZER.observe(place)
        outcome = ANALYZER.act(state, ANALYZER.action("assess_by_coverage"), place)
    assert (state.changed_files, state.changed_lines, state.uncommitted) == (1, 1, True)
    assert outcome.top[0].test == "test_all.py::test_3"
    assert (outcome.top[0].risk, outcome.top[0].because) == (1.0, "runs 1 changed line(s)")
    assert [run.tests for run in project.traced()] == [["test_3"]]
    assert (outcome.tests_ranked, outcome.tests_run, outcome.failures_in_slice) == (5, 1, 1)
    # nothing was known to fail before, so there is no share of it
    assert (outcome.failures_known, outcome.early_share) == (None, None)
    (finding,) = outcome.findings
    assert (finding.kind, finding.file, finding.line) == ("risky-change", "delta.py", 2)


def test_share_of_the_known_failures_that_the_slice_caught(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    with project.workplace() as place:
        failed = [remembered(f"test_all.py::test_{i}", "failed" if i in (0, 3) else "passed") for i in range(5)]
        place.history.record("earlier", place.code_version, failed)
        outcome = ANALYZER.act(ANALYZER.observe(place), ANALYZER.action("assess_by_coverage"), place)
    assert (outcome.failures_known, outcome.early_share) == (2, 0.5)


def test_without_git_nothing_is_said_of_changes(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_one.py": "def test_one(): assert False\n"})
    with project.workplace() as place:
        state = ANALYZER.observe(place)
        outcome = ANALYZER.act(state, ANALYZER.safe_default(state), place)
    assert (state.changed_files, state.changed_lines, state.uncommitted) == (None, None, None)
    assert (state.known_failures, state.expected_seconds) == (None, None)
    assert names(ANALYZER.allowed(state)) == {"assess_by_history"}
    assert outcome.failures_in_slice == 1
    assert outcome.findings == ()


def test_without_git_it_is_not_known_whether_a_failure_is_a_regression(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_one.py": "def test_one(): assert False\n"})
    with project.workplace() as place:
        state = ANALYZER.observe(place)
        action = ANALYZER.safe_default(state)
        outcome = ANALYZER.act(state, action, place)
    assert ANALYZER.value(state, action, outcome).measures.regression_detected is None


def test_methods_that_need_a_map_or_a_change_are_left_out_without_them(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    with project.workplace() as place:
        changed = ANALYZER.observe(place)
    assert names(ANALYZER.allowed(changed)) == names(ANALYZER.actions)
    without_map = changed.model_copy(update={"coverage_map": False})
    assert names(ANALYZER.actions) - names(ANALYZER.allowed(without_map)) == {"assess_by_coverage"}
    unchanged = changed.model_copy(update={"changed_files": 0, "changed_lines": 0})
    assert names(ANALYZER.allowed(unchanged)) == {"assess_by_history", "assess_by_churn"}


def test_a_test_that_passed_on_the_same_code_is_not_blamed_on_the_change(tmp_path: Path) -> None:
    project = project_with(tmp_path)
    with project.workplace() as place:
        place.history.record("earlier", place.code_version, [remembered("test_all.py::test_3", "passed")])
        outcome = ANALYZER.act(ANALYZER.observe(place), ANALYZER.action("assess_by_coverage"), place)
    assert (outcome.failures_in_slice, outcome.findings) == (1, ())


def test_the_prediction_does_not_read_the_answer(tmp_path: Path) -> None:
    """Failures on the present code are what is to be predicted; only earlier code is history."""
    project = project_with(tmp_path)
    with project.workplace() as place:
        failed = [remembered(f"test_all.py::test_{i}", "failed" if i == 3 else "passed") for i in range(5)]
        place.history.record("now", place.code_version, failed)
        here = ANALYZER.act(ANALYZER.observe(place), ANALYZER.action("assess_by_history"), place)
        place.history.record("before", "older code", failed)
        knowing = ANALYZER.act(ANALYZER.observe(place), ANALYZER.action("assess_by_history"), place)
    assert len({risk.risk for risk in here.top}) == 1
    assert knowing.top[0].test == "test_all.py::test_3"
    assert (here.regressions, knowing.regressions) == (0, 0)
