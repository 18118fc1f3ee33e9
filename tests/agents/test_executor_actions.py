"""test-executor: each action makes pytest run as its summary says, and the outcome holds what was measured."""

from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject, remembered

from whet.agents.executor import Executor, ExecutorOutcome, ExecutorState
from whet.core.records import Part
from whet.tools.workplace import Workplace

EXECUTOR = Executor()
THREE = {"test_three.py": "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n"}


def act(name: str, place: Workplace) -> tuple[ExecutorState, ExecutorOutcome, dict[str, Part]]:
    state = EXECUTOR.observe(place)
    action = EXECUTOR.action(name)
    assert action in EXECUTOR.allowed(state)
    outcome = EXECUTOR.act(state, action, place)
    parts = {part.name: part for part in EXECUTOR.value(state, action, outcome).own}
    return state, outcome, parts


def test_nothing_is_known_before_the_first_run(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, THREE)
    with project.workplace() as place:
        state, outcome, parts = act("run_all_tests", place)
    assert (state.total_duration_estimate, state.avg_execution_time, state.flaky_test_rate) == (None, None, None)
    assert (state.previous_failures, state.affected_tests, state.situation.changed) == (None, None, None)
    assert (state.situation.failing, state.situation.pace, state.situation.history) == (None, "unknown", "none")
    assert (outcome.expected_seconds, outcome.speedup) == (None, None)
    assert (outcome.first_failure_seconds, outcome.early_share) == (None, None)
    assert (outcome.tests_run, outcome.confirmed_failures, outcome.unconfirmed_failures) == (3, 0, 0)
    assert parts["time_savings"].points is None
    assert parts["early_failures"].points is None
    assert parts["parallelization"].points is None
    assert outcome.findings == ()


def test_workers_are_those_of_the_action(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, THREE)
    with project.workplace() as place:
        plain = act("run_all_tests", place)[1]
        parallel = act("execute_parallel_2", place)[1]
        conditions = {c.condition for c in place.history.conditions(place.code_version)}
    first, second = project.traced()
    assert (first.workers, plain.workers) == ({"main"}, None)
    assert (second.workers, parallel.workers) == ({"gw0", "gw1"}, 2)
    assert sorted(second.tests) == first.tests == ["test_a", "test_b", "test_c"]
    assert parallel.speedup is not None
    assert conditions == {"own-order", "parallel"}


def test_sequential_overrules_the_workers_the_project_asks_for(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {**THREE, "pytest.ini": "[pytest]\naddopts = -n 2\n"})
    with project.workplace() as place:
        act("run_all_tests", place)
        act("execute_sequential", place)
    asked, sequential = project.traced()
    assert asked.workers == {"gw0", "gw1"}
    assert sequential.workers == {"main"}


@pytest.mark.parametrize(
    ("action", "order"),
    [
        ("run_all_tests", ["test_a", "test_b", "test_c"]),
        ("run_failed_first", ["test_c", "test_a", "test_b"]),
        ("run_fast_first", ["test_b", "test_c", "test_a"]),
    ],
)
def test_order_is_that_of_the_action(tmp_path: Path, action: str, order: list[str]) -> None:
    project = SmallProject(tmp_path, THREE)
    with project.workplace() as place:
        known = (("test_a", "passed", 3.0), ("test_b", "passed", 1.0), ("test_c", "failed", 2.0))
        verdicts = [remembered(f"test_three.py::{test}", outcome, seconds) for test, outcome, seconds in known]
        place.history.record("earlier", "other code", verdicts)
        act(action, place)
    assert project.traced()[0].tests == order


def selecting(tmp_path: Path) -> SmallProject:
    """The change reaches test_near only; test_far fails, and nobody would think of running it."""
    project = SmallProject(
        tmp_path,
        {
            "near.py": "def one():\n    return 1\n",
            "far.py": "def two():\n    return 2\n",
            "test_suite.py": """
                import far, near
                def test_near(): assert near.one() == 1
                def test_far(): assert far.two() == 3
            """,
        },
    )
    project.commit()
    project.write({"near.py": "def one():\n    return 2 - 1\n"})
    with project.store() as store:
        lines = {"test_suite.py::test_near": {"near.py": [2]}, "test_suite.py::test_far": {"far.py": [2]}}
        store.history.cover("earlier", lines)
    return project


def test_selection_is_audited_and_pays_for_what_it_missed(tmp_path: Path) -> None:
    project = selecting(tmp_path)
    with project.workplace() as place:
        state, outcome, parts = act("run_changed_only", place)
    assert state.affected_tests == 1
    assert [run.tests for run in project.traced()] == [["test_near"], ["test_far"]]
    assert (outcome.tests_run, outcome.missed_failures) == (1, 1)
    assert parts["missed_failures"].points == -10.0


def test_selection_that_is_not_audited_does_not_know_what_it_missed(tmp_path: Path) -> None:
    project = selecting(tmp_path)
    with project.workplace(audit_selection=False) as place:
        _, outcome, parts = act("run_changed_only", place)
    assert [run.tests for run in project.traced()] == [["test_near"]]
    assert outcome.missed_failures is None
    assert parts["missed_failures"].points is None


def test_failures_seen_by_the_audit_are_told_to_the_user(tmp_path: Path) -> None:
    project = selecting(tmp_path)
    with project.workplace() as place:
        outcome = act("run_changed_only", place)[1]
    assert [finding.test for finding in outcome.findings] == ["test_suite.py::test_far"]


# Passes once it was run as often as its name says.
COUNTED = """
    from pathlib import Path
    def passes_from(name, times):
        runs = Path(__file__).with_name(name)
        runs.write_text(runs.read_text() + "." if runs.exists() else ".")
        assert len(runs.read_text()) >= times
    def test_second(): passes_from("second", 2)
    def test_fourth(): passes_from("fourth", 4)
    def test_never(): assert False
"""


@pytest.mark.parametrize(
    ("action", "runs", "confirmed", "unchecked"),
    [("run_all_tests", 1, 0, 3), ("retry_failed_1x", 2, 2, 0), ("retry_failed_3x", 4, 1, 0)],
)
def test_retries_are_as_many_as_the_action_says(
    tmp_path: Path, action: str, runs: int, confirmed: int, unchecked: int
) -> None:
    project = SmallProject(tmp_path, {"test_counted.py": COUNTED})
    with project.workplace() as place:
        outcome = act(action, place)[1]
    assert len(project.traced()) == runs
    assert (outcome.confirmed_failures, outcome.unchecked_failures) == (confirmed, unchecked)
    assert outcome.unconfirmed_failures == 0  # a plain run has no plan that could cause a failure
    assert len(outcome.findings) == confirmed + unchecked


def test_failure_caused_by_the_plan_is_unconfirmed_and_costs(tmp_path: Path) -> None:
    unsafe = """
        import os
        def test_alone(): assert "PYTEST_XDIST_WORKER" not in os.environ
        def test_other(): pass
    """
    project = SmallProject(tmp_path, {"test_unsafe.py": unsafe})
    with project.workplace() as place:
        _, outcome, parts = act("execute_parallel_2", place)
    assert [run.tests for run in project.traced()][1] == ["test_alone"]
    assert (outcome.confirmed_failures, outcome.unconfirmed_failures) == (0, 1)
    assert outcome.findings == ()
    assert parts["unconfirmed_failures"].points == -5.0


def test_early_share_is_larger_when_the_failure_comes_first(tmp_path: Path) -> None:
    slow = """
        import time
        def test_a(): time.sleep(3)  # starting pytest takes seconds on a busy machine
        def test_b(): assert False, "as always"
    """
    project = SmallProject(tmp_path, {"test_slow.py": slow})
    with project.workplace() as place:
        late = act("run_all_tests", place)[1]
        early = act("run_failed_first", place)[1]
    assert late.early_share is not None
    assert early.early_share is not None
    assert early.early_share > late.early_share + 0.2
    (finding,) = late.findings
    assert (finding.kind, finding.severity, finding.test) == ("failing-test", "high", "test_slow.py::test_b")
    assert "as always" in finding.evidence
