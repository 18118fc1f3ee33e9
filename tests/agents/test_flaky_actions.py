"""flaky-test-hunter: conditions are recorded, verdicts settle, and hints name what the conditions show."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject

from whet.agents.flaky import FlakyHunter, FlakyOutcome, _plans, verdicts_of
from whet.core.ports import TestVerdict
from whet.tools.suite import SuitePlan
from whet.tools.workplace import Workplace

HUNTER = FlakyHunter()


def act(name: str, place: Workplace) -> FlakyOutcome:
    state = HUNTER.observe(place)
    assert HUNTER.action(name) in HUNTER.allowed(state)
    return HUNTER.act(state, HUNTER.action(name), place)


def causes(outcome: FlakyOutcome, test: str) -> set[str]:
    verdict = next(v for v in outcome.verdicts if v.test == test)
    assert verdict.flaky
    return {hint.cause for hint in verdict.hints}


def test_a_test_that_needs_another_before_it_is_flaky_by_order(tmp_path: Path) -> None:
    dependent = "made = []\ndef test_first(): made.append(1)\ndef test_second(): assert made\n"
    project = SmallProject(tmp_path, {"test_order.py": dependent})
    with project.workplace() as place:
        quiet = act("rerun_suite", place)
        act("rerun_suite", place)
        backwards = act("reverse_order", place)
        counts = {(c.test[-6:], c.condition): c[2:] for c in place.history.conditions(place.code_version)}
        state = HUNTER.observe(place)
    assert project.traced()[-1].tests == ["test_second", "test_first"]
    assert counts["second", "own-order"] == (4, 0)
    assert counts["second", "reversed"] == (2, 2)
    assert (quiet.verdicts, quiet.findings, quiet.confirmed_new) == ((), (), 0)
    assert (backwards.confirmed_new, backwards.known_flaky, backwards.executions) == (1, 1, 4)
    assert backwards.doubt_after_bits < backwards.doubt_before_bits
    assert causes(backwards, "test_order.py::test_second") == {"order"}
    assert (state.known_flaky, state.depends_on_external_service) == (1, None)


def test_a_test_that_depends_on_the_hash_seed_is_flaky_by_randomness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    command = [sys.executable, "-c", "print(hash('whet'))"]
    hashed = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout.strip()
    project = SmallProject(tmp_path, {"test_hash.py": f"def test_hash(): assert hash('whet') == {hashed}\n"})
    with project.workplace() as place:
        act("rerun_suite", place)
        act("rerun_suite", place)
        outcome = act("reseed", place)
        conditions = {c.condition: c[2:] for c in place.history.conditions(place.code_version)}
    assert conditions == {"own-order": (4, 0), "reseeded": (3, 3)}
    assert causes(outcome, "test_hash.py::test_hash") == {"randomness"}


# Passes every other time; a real random test would make this one flaky.
TOGGLED = """
    import random
    from pathlib import Path
    def test_draws():
        random.random()
        runs = Path(__file__).with_name("runs")
        runs.write_text(runs.read_text() + "." if runs.exists() else ".")
        assert len(runs.read_text()) % 2
    def test_steady(): pass
"""


def test_suspects_alone_are_run_again_and_what_draws_random_numbers_is_said(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_draw.py": TOGGLED})
    with project.workplace() as place:
        assert HUNTER.observe(place).suspects == 0
        found = act("rerun_suite", place)
        known = HUNTER.observe(place)
        remembered = act("trust_history", place)
    assert [run.tests for run in project.traced()] == [["test_draws", "test_steady"]] * 2
    assert (remembered.executions, remembered.verdicts) == (0, found.verdicts)
    assert causes(found, "test_draw.py::test_draws") == {"randomness"}
    (finding,) = found.findings
    assert (finding.kind, finding.test) == ("flaky-test", "test_draw.py::test_draws")
    assert "Failed 1 of 2 times on unchanged code" in finding.evidence
    assert (known.test_failure_rate, known.suspects) == (0.5, 1)


def test_isolated_suspects_run_alone(tmp_path: Path) -> None:
    two = "def test_one(): assert False\ndef test_two(): assert False\ndef test_three(): pass\n"
    project = SmallProject(tmp_path, {"test_two.py": two})
    with project.workplace() as place:
        place.run("test-executor", SuitePlan(), "own-order")
        act("isolate_suspects", place)
    assert sorted(run.tests for run in project.traced()[1:]) == [["test_one"], ["test_two"]]


def test_nothing_failed_so_nothing_is_said_of_failures(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_fine.py": "def test_fine(): pass\n"})
    with project.workplace() as place:
        state = HUNTER.observe(place)
    assert (state.test_failure_rate, state.avg_execution_time_ms, state.execution_variance_ms) == (None, None, None)
    assert (state.depends_on_network, state.has_timing_dependency, state.failure_pattern) == (None, None, "none")
    assert {a.name for a in HUNTER.allowed(state)}.isdisjoint({"rerun_suspects", "isolate_suspects", "trust_history"})


def test_every_order_and_every_seed_is_another(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"})
    with project.workplace() as place:
        for action in ("shuffle_order", "reseed"):
            seeds = {plan.seed for plan, _ in _plans(action, {}, place)}
            assert len(seeds) == 3, action


def judged(project: SmallProject) -> set[str]:
    with project.workplace() as place:
        passed = TestVerdict(test="t", outcome="passed", duration_seconds=0.1, condition="own-order")
        failed = TestVerdict(test="t", outcome="failed", duration_seconds=0.1, condition="parallel")
        place.history.record("run", "code", [passed] * 5 + [failed] * 3)
        return {test for test, v in verdicts_of(place.history, place.project, "code").items() if v.flaky}


def test_workers_nobody_asked_for_do_not_make_a_test_flaky(tmp_path: Path) -> None:
    assert judged(SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"})) == set()


def test_workers_the_project_asks_for_do(tmp_path: Path) -> None:
    files = {"test_one.py": "def test_one(): pass\n", "pytest.ini": "[pytest]\naddopts = -n 2\n"}
    assert judged(SmallProject(tmp_path, files)) == {"t"}
