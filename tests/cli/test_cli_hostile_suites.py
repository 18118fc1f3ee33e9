"""Suites that misbehave, and people who interrupt: nothing is left running, nothing is lost."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from tests.cli.command_line import EXECUTOR_ONLY, WHET, environment, processes_with, project_in, whet

from whet.store.sql_store import SqlStore, open_store


def stored(root: Path) -> SqlStore:
    key = (root / ".whet" / "audit.key").read_bytes()
    return open_store(f"sqlite:///{root / '.whet' / 'whet.db'}", key)


def until(what: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def slow_project(root: Path) -> Path:
    """Its test waits while `go` is missing, and says so in `began`."""
    return project_in(
        root,
        {
            "test_slow.py": """
                import pathlib, time
                here = pathlib.Path(__file__).parent
                def test_slow():
                    (here / "began").touch()
                    while not (here / "go").exists():
                        time.sleep(0.05)
            """
        },
    )


def begin(root: Path) -> "subprocess.Popen[str]":
    run = subprocess.Popen(
        [str(WHET), "run"],
        cwd=root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until((root / "began").exists)
    return run


def test_killed_in_the_middle_the_store_is_whole_and_the_next_visit_works(tmp_path: Path) -> None:
    root = slow_project(tmp_path / "p")
    run = begin(root)
    run.kill()
    run.communicate()
    with stored(root) as store:
        (record,) = store.runs.recent()
        decided = {d.agent: d.action for d in store.decisions.recent()}
        assert store.audit.verify().problem is None
        assert store.experiences.count() == 0
    assert record.status != "finished"
    assert decided == {"fleet-commander": "dispatch_test_executor", "test-executor": "run_all_tests"}
    until(lambda: not [p for p in processes_with("whet_probe") if _works_in(p, root)])
    (root / "go").touch()
    again = whet("run", cwd=root)
    assert again.returncode == 0, again.stderr
    with stored(root) as store:
        assert [r.status for r in store.runs.recent()] == ["finished", "interrupted"]


def _works_in(pid: int, root: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").resolve() == root.resolve()
    except OSError:
        return False


def test_interrupted_is_marked_so_and_is_no_finding(tmp_path: Path) -> None:
    root = slow_project(tmp_path / "p")
    run = begin(root)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=30)
    assert "Traceback" not in said
    with stored(root) as store:
        assert [r.status for r in store.runs.recent()] == ["interrupted"]
        assert store.audit.verify().problem is None
    # 1 means findings; a shell's own code for an interruption is 130
    assert run.returncode == 130


def test_the_second_of_two_is_told_to_wait(tmp_path: Path) -> None:
    root = slow_project(tmp_path / "p")
    first = begin(root)
    second = whet("run", cwd=root)
    (root / "go").touch()
    first.communicate(timeout=60)
    assert second.returncode == 2
    assert f"Another whet is at work in this project (process {first.pid})." in second.stderr
    assert first.returncode == 0
    with stored(root) as store:
        assert len(store.runs.recent()) == 1
        assert store.audit.verify().problem is None


def test_a_suite_that_deletes_its_directory_does_not_take_the_memory_with_it(tmp_path: Path) -> None:
    wiping = """
        import pathlib, shutil
        def test_wipe():
            shutil.rmtree(pathlib.Path(__file__).parent)
    """
    root = project_in(tmp_path / "p", {"test_wipe.py": wiping})
    done = whet("run", root)
    assert "Traceback" not in done.stderr
    assert "they were written back" in done.stderr
    kept = whet("explain", "--format", "json", cwd=root)
    assert "test-executor" in kept.stdout
    # the key that seals the trail is part of the memory
    assert whet("audit", "verify", cwd=root).returncode == 0


def test_a_hundred_megabytes_of_output_are_not_kept(tmp_path: Path) -> None:
    loud = """
        import os
        def test_loud(capfd):
            with capfd.disabled():
                for _ in range(100):
                    os.write(1, b"x" * 1_000_000)
    """
    root = project_in(tmp_path / "p", {"test_loud.py": loud})
    done = whet("run", root)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) + len(done.stderr) < 100_000
    assert sum(f.stat().st_size for f in (root / ".whet").iterdir()) < 5_000_000


def test_a_hanging_suite_is_ended_with_all_its_descendants(tmp_path: Path) -> None:
    token = f"whet-test-{uuid4().hex}"
    hanging = f"""
        import subprocess, sys, time
        def test_hang():
            subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(300)", "{token}"], start_new_session=True
            )
            time.sleep(300)
    """
    settings = EXECUTOR_ONLY + "[tool.whet.limits]\ntimeout_seconds = 4.0\n"
    root = project_in(tmp_path / "p", {"test_hang.py": hanging}, settings)
    done = whet("run", root)
    assert processes_with(token) == []
    assert done.returncode == 1
    assert "did not finish within" in done.stdout
    assert "test_hang" in done.stdout


@pytest.mark.parametrize("name", ["run", "status", "eval"])
def test_help_shows_what_to_type(name: str) -> None:
    done = whet(name, "--help")
    assert (done.returncode, done.stdout[:6]) == (0, "Usage:")
