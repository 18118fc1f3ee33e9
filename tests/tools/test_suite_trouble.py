"""Suites that misbehave: every one ends, says why, and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whet.tools.process import Limits
from whet.tools.suite import Suite, SuitePlan, SuiteRun

MakeSuite = Callable[[dict[str, str]], Suite]
Living = Callable[[], list[int]]


def problem(run: SuiteRun) -> str:
    said = run.problem()
    assert said is not None
    return said


def test_no_tests(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"code.py": "x = 1\n"})
    run = suite.run(SuitePlan(), limits)
    assert run.exit_code == 5
    assert f"No tests were collected in {suite.project.root}" in problem(run)
    assert "test_*.py" in problem(run)


def test_selected_tests_that_are_gone(suite_of: MakeSuite, limits: Limits) -> None:
    run = suite_of({"test_a.py": "def test_a(): pass\n"}).run(SuitePlan(select=("test_a.py::gone",)), limits)
    assert "None of the 1 chosen tests exists" in problem(run)


@pytest.mark.parametrize("workers", [0, 2])
def test_collection_errors(suite_of: MakeSuite, limits: Limits, workers: int) -> None:
    suite = suite_of({"test_a.py": "import no_such_module\n", "test_b.py": "def test_b(): pass\n"})
    run = suite.run(SuitePlan(workers=workers), limits)
    assert len(run.collection_errors) == 1
    assert "test_a.py" in run.collection_errors[0]
    assert "no_such_module" in problem(run)


def test_usage_errors(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_a.py": "def test_a(): pass\n"})
    run = suite.run(SuitePlan(), limits)
    assert run.exit_code == 4
    assert "--no-such-option" in problem(run)


@pytest.mark.parametrize("garbage", ["\x00\x01 garbage ((", "raise SystemExit(0)", "import os; os._exit(0)"])
def test_garbage_in_conftest(suite_of: MakeSuite, limits: Limits, garbage: str) -> None:
    run = suite_of({"conftest.py": garbage, "test_a.py": "def test_a(): pass\n"}).run(SuitePlan(), limits)
    assert run.tests == ()
    assert problem(run)


def test_internal_errors(suite_of: MakeSuite, limits: Limits) -> None:
    plugin = "def pytest_runtest_logreport(report): raise RuntimeError('plugin trouble')\n"
    run = suite_of({"conftest.py": plugin, "test_a.py": "def test_a(): pass\n"}).run(SuitePlan(), limits)
    assert run.exit_code == 3
    assert "internal error" in problem(run)


def test_a_hang_is_cut_off_and_named(suite_of: MakeSuite, survivors: Living, tmp_path: Path) -> None:
    code = f"""
        import os, subprocess, sys, time
        def test_quick(): pass
        def test_hangs():
            wait = "import os, time; open({str(tmp_path / "pids")!r} + '/%d' % os.getpid(), 'w'); time.sleep(300)"
            subprocess.Popen([sys.executable, "-c", wait], start_new_session=True)
            time.sleep(300)
    """
    run = suite_of({"test_h.py": code}).run(SuitePlan(), Limits(timeout_seconds=4))
    assert run.timed_out
    assert [test.id for test in run.tests] == ["test_h.py::test_quick"]
    assert run.running == ("test_h.py::test_hangs",)
    assert "within 4 s (while running test_h.py::test_hangs)" in problem(run)
    assert list((tmp_path / "pids").iterdir())
    assert survivors() == []


def test_a_memory_hog_is_cut_off(suite_of: MakeSuite) -> None:
    code = "import time\ndef test_hog():\n    held = b'x' * 300_000_000\n    time.sleep(60)\n"
    run = suite_of({"test_m.py": code}).run(SuitePlan(), Limits(timeout_seconds=60, memory_mb=200))
    assert run.memory_exceeded
    assert "memory" in problem(run)


@pytest.mark.parametrize("end", ["os._exit(0)", "os._exit(1)", "os.kill(os.getpid(), 11)", "os.kill(os.getpid(), 9)"])
def test_sudden_ends_are_noticed(suite_of: MakeSuite, limits: Limits, end: str) -> None:
    code = f"import os\ndef test_before(): pass\ndef test_end(): {end}\n"
    run = suite_of({"test_e.py": code}).run(SuitePlan(), limits)
    assert [test.id for test in run.tests] == ["test_e.py::test_before"]
    assert "while running test_e.py::test_end" in problem(run)


def test_a_lost_worker_is_a_failure(suite_of: MakeSuite, limits: Limits) -> None:
    code = "import os\ndef test_before(): pass\ndef test_end(): os._exit(1)\n"
    run = suite_of({"test_e.py": code}).run(SuitePlan(workers=2), limits)
    outcomes = {test.id: (test.outcome, test.started_seconds) for test in run.tests}
    assert outcomes["test_e.py::test_end"] == ("failed", None)
    assert outcomes["test_e.py::test_before"][0] == "passed"


def test_a_suite_that_kills_its_parent_is_still_measured(suite_of: MakeSuite, limits: Limits) -> None:
    code = "import os\ndef test_kills(): os.kill(os.getppid(), 9)\ndef test_after(): pass\n"
    run = suite_of({"test_k.py": code}).run(SuitePlan(), limits)
    assert run.exit_code == 0
    assert len(run.tests) == 2


def test_a_suite_that_deletes_its_directory(suite_of: MakeSuite, limits: Limits) -> None:
    code = "import os, shutil\ndef test_deletes(): shutil.rmtree(os.getcwd())\ndef test_after(): pass\n"
    suite = suite_of({"test_d.py": code})
    run = suite.run(SuitePlan(), limits)
    assert [test.outcome for test in run.tests] == ["passed", "passed"]
    assert not suite.project.root.exists()


def test_a_test_that_closes_every_descriptor(suite_of: MakeSuite, limits: Limits) -> None:
    code = "import os\ndef test_closes(): os.closerange(3, 256)\ndef test_after(): pass\n"
    run = suite_of({"pytest.ini": "[pytest]\naddopts = -s\n", "test_c.py": code}).run(SuitePlan(), limits)
    assert [test.id for test in run.tests] == ["test_c.py::test_closes", "test_c.py::test_after"]


def test_a_forked_child_that_escapes_is_not_counted(suite_of: MakeSuite, limits: Limits) -> None:
    code = """
        import os
        def test_forks():
            if os.fork() == 0:
                return
            os.wait()
        def test_after(): pass
    """
    run = suite_of({"test_f.py": code}).run(SuitePlan(), limits)
    assert [test.id for test in run.tests] == ["test_f.py::test_forks", "test_f.py::test_after"]


def test_loud_suites_are_bounded(suite_of: MakeSuite, limits: Limits) -> None:
    code = "import os\ndef test_loud():\n    for _ in range(100): os.write(1, b'y' * 1_000_000)\n"
    run = suite_of({"pytest.ini": "[pytest]\naddopts = -s\n", "test_l.py": code}).run(SuitePlan(), limits)
    assert [test.outcome for test in run.tests] == ["passed"]
    assert len(run.output_tail) <= 8000
    assert "1 passed" in run.output_tail


def test_messages_are_cut(suite_of: MakeSuite, limits: Limits) -> None:
    run = suite_of({"test_m.py": "def test_m(): raise ValueError('y' * 1_000_000)\n"}).run(SuitePlan(), limits)
    assert len(run.tests[0].message) == 4000


def test_lines_of_others_in_the_events_are_passed_over(suite_of: MakeSuite, limits: Limits) -> None:
    code = """
        import os
        def test_writes():
            with open(os.environ["WHET_EVENTS"], "a") as events:
                events.write('[1]\\n{"event": "finished", "id": "x"}\\nnot json\\n{"event": "collected"}\\n')
    """
    run = suite_of({"test_w.py": code}).run(SuitePlan(), limits)
    assert [test.id for test in run.tests] == ["test_w.py::test_writes"]
