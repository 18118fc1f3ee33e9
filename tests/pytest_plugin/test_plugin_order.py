"""`pytest --whet` as people run it."""

import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import environment, executed, git, project, run, said

from whet.bootstrap.lane import find_lane
from whet.bootstrap.site import open_site
from whet.core.sheets import Sheet

SUITE = {
    "test_one.py": """
        import time
        def test_slow(): time.sleep(0.3)
        def test_good(): pass
    """,
    "test_two.py": """
        def test_bad(): assert 0
        def test_fine(): pass
    """,
}


def sheets(root: Path) -> list[Sheet]:
    with open_site(root).store() as store:
        return list(store.sheets.read())


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was run once. Tests that use it add runs, so they look at the newest only."""
    root = project(tmp_path_factory.mktemp("known"), SUITE)
    assert run(root).returncode == 1
    return root


def test_a_failure_comes_first_the_next_time_and_the_line_says_what_that_gained(known: Path) -> None:
    second = run(known, "-v")
    assert executed(second)[0] == "test_two.py::test_bad"
    when = r"first failure after [\d.]+ m?s \(test 1 of 4\); in the suite's own order it would have come after"
    assert re.search(when + r" about [\d.]+ m?s\.", said(second)), said(second)
    assert "test_two.py::test_bad:" in second.stdout, "with -v, reasons of the first ten"


def test_what_ran_is_recorded_with_outcomes_and_seconds(tmp_path: Path) -> None:
    kinds = """
        import pytest
        def test_p(): pass
        def test_f(): assert 0
        @pytest.fixture
        def broken(): raise ValueError
        def test_e(broken): pass
        @pytest.mark.skip
        def test_s(): pass
        @pytest.mark.xfail
        def test_x(): assert 0
        @pytest.mark.xfail
        def test_y(): pass
    """
    root = project(tmp_path, {"test_kinds.py": kinds})
    done = run(root, "-q")
    assert len(said(done).splitlines()) == 1
    [sheet] = sheets(root)
    outcomes = dict(zip((t.split("::")[1] for t in sheet.tests), sheet.outcomes, strict=True))
    assert outcomes == {"test_p": "p", "test_f": "f", "test_e": "e", "test_s": "s", "test_x": "x", "test_y": "X"}
    assert sheet.complete
    assert sheet.source == "pytest"
    assert all(0 <= seconds < 10 for seconds in sheet.seconds)


def test_runs_that_stop_early_are_recorded_as_far_as_they_came(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): assert 0\ndef test_b(): pass"})
    done = run(root, "-x")
    [sheet] = sheets(root)
    assert (list(sheet.tests), sheet.complete) == (["test_one.py::test_a"], False)
    assert "this failure" in said(done)


def test_picked_tests_make_no_complete_run(known: Path) -> None:
    run(known, "test_one.py", "-k", "good")
    newest = sheets(known)[-1]
    assert (list(newest.tests), newest.complete) == (["test_one.py::test_good"], False)


def test_collecting_shows_the_order_and_records_nothing(known: Path) -> None:
    before = len(sheets(known))
    done = run(known, "--collect-only", "-q")
    assert done.stdout.splitlines()[0] == "test_two.py::test_bad"
    assert len(sheets(known)) == before


def test_shadow_keeps_the_order_and_tells_the_other(known: Path) -> None:
    before = len(sheets(known))
    shadow = run(known, "-v", "--whet-shadow")
    assert executed(shadow)[0] == "test_one.py::test_slow"
    assert re.search(r"test 3 of 4\); with --whet it would have come after about [\d.]+ m?s", said(shadow)), said(
        shadow
    )
    assert len(sheets(known)) == before + 1


def test_the_users_own_order_wins(known: Path) -> None:
    done = run(known, "-v", "--ff", "-p", "cacheprovider")
    assert "--ff orders the tests, Whet only watched" in said(done)
    assert executed(done)[0] != "test_two.py::test_bad"


def test_settings_switch_it_on_and_without_them_nothing_happens(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): pass"})
    assert said(run(root, plain=True)) == ""
    assert not (root / ".whet").exists()
    (root / "pytest.ini").write_text("[pytest]\nwhet = true\n")
    assert said(run(root, plain=True)) == "whet: 1 tests, 1 run known; nothing failed."


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("--whet-budget=soon", "Write 90s, 5m or 1h"),
        ("--whet-risk=150%", "Write 5% or 0.05"),
        ("--whet-map=some", "invalid choice"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_remedy(tmp_path: Path, argument: str, told: str) -> None:
    done = run(project(tmp_path, SUITE), argument)
    assert done.returncode == 4
    assert told in done.stderr


def test_a_damaged_store_costs_the_order_and_not_the_run(tmp_path: Path) -> None:
    root = project(tmp_path, SUITE)
    (root / ".whet").mkdir()
    (root / ".whet" / "whet.db").write_bytes(b"this is no database, whatever it is named" * 100)
    done = run(root, "-v")
    assert done.returncode == 1
    assert executed(done)[0] == "test_one.py::test_slow"
    assert "the suite's own order was kept, " in said(done)
    assert "Move the file away" in said(done)


def test_a_store_that_others_hold_locked_does_not_hold_up_the_tests(tmp_path: Path) -> None:
    root = project(tmp_path, SUITE)
    run(root)
    with closing(sqlite3.connect(root / ".whet" / "whet.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = run(root, "-v")
        assert done.returncode == 1
        assert len(executed(done)) == 4
        told = r"this run was not recorded \(Busy: The store \S+ stayed locked by another process\. Wait for"
        assert re.search(told, said(done)), said(done)
    assert len(sheets(root)) == 1


def test_a_test_that_moves_keeps_its_history(tmp_path: Path) -> None:
    root = project(tmp_path, SUITE)
    run(root)
    (root / "test_two.py").rename(root / "test_moved.py")
    done = run(root, "-v")
    assert executed(done)[0] == "test_moved.py::test_bad"
    assert "1. test_moved.py::test_bad: failed in its last run" in done.stdout
    with open_site(root).store() as store:
        assert store.sheets.renamed() == {
            f"test_two.py::{name}": f"test_moved.py::{name}" for name in ("test_bad", "test_fine")
        }


def test_without_git_it_orders_all_the_same(known: Path) -> None:
    done = run(known, "-v", PATH=str(known))
    assert executed(done)[0] == "test_two.py::test_bad"
    assert sheets(known)[-1].branch is None


def test_a_git_that_does_not_answer_is_told(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): pass", ".git": "gitdir: nowhere\n"})
    assert "what changed is not known: git does not answer here (`git status` says why)" in said(run(root))


def test_branch_and_commit_are_recorded(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): pass"})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    git(root, "switch", "-q", "-c", "feature")
    lane = find_lane(root, {})
    assert (lane.branch, lane.default) == ("feature", "main")
    assert lane.branches == {"feature", "main", None}
    assert find_lane(root, {"GITHUB_HEAD_REF": "theirs"}).branch == "theirs"
    run(root)
    [sheet] = sheets(root)
    assert (sheet.branch, sheet.commit) == ("feature", lane.commit)


def test_ctrl_c_records_what_ran(tmp_path: Path) -> None:
    slow = "import time\ndef test_a(): pass\ndef test_b():\n    print('now', flush=True)\n    time.sleep(60)\n"
    root = project(tmp_path, {"test_one.py": slow})
    command = [sys.executable, "-m", "pytest", "--whet", "-s", "-p", "no:cacheprovider"]
    with subprocess.Popen(command, cwd=root, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "now" not in process.stdout.readline():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        told = process.stdout.read()
    assert process.returncode == 2
    assert "whet: 2 tests" in told
    [sheet] = sheets(root)
    assert (list(sheet.tests), sheet.complete) == (["test_one.py::test_a"], False)


def test_the_last_of_several_attempts_counts(tmp_path: Path) -> None:
    """As retry plugins do: the whole protocol again."""
    conftest = """
        from _pytest.runner import runtestprotocol
        def pytest_runtest_protocol(item, nextitem):
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            first = runtestprotocol(item, nextitem=nextitem, log=False)
            for report in first:
                report.outcome = "rerun" if report.failed else report.outcome
                item.ihook.pytest_runtest_logreport(report=report)
            item._initrequest()
            runtestprotocol(item, nextitem=nextitem)
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            return True
        def pytest_report_teststatus(report):
            if report.outcome == "rerun":
                return "rerun", "R", "RERUN"
    """
    flaky = "seen = []\ndef test_a():\n    seen.append(1)\n    assert len(seen) > 1\n"
    root = project(tmp_path, {"conftest.py": conftest, "test_one.py": flaky})
    assert run(root).returncode == 0
    assert [sheet.outcomes for sheet in sheets(root)] == ["p"]


def test_a_suite_that_deletes_our_directory_loses_nothing(tmp_path: Path) -> None:
    wipe = "import shutil\ndef test_a(): shutil.rmtree('.whet', ignore_errors=True)\n"
    root = project(tmp_path, {"test_one.py": wipe})
    run(root)
    assert len(sheets(root)) == 1
