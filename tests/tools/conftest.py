"""Small real projects for the tools to work on."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from whet.tools.process import Limits
from whet.tools.project import Project
from whet.tools.python import Python, inspect
from whet.tools.suite import Suite

Files = dict[str, str]


@pytest.fixture(scope="session")
def python() -> Python:
    return inspect(Path(sys.executable))


@pytest.fixture
def limits() -> Limits:
    return Limits(timeout_seconds=60, memory_mb=2048)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Files], Path]:
    def written(files: Files) -> Path:
        root = tmp_path / "project"
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")
        return root

    return written


@pytest.fixture(autouse=True)
def _quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis is installed beside Whet, not beside these projects; loading it takes most of a small run."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")


@pytest.fixture
def suite_of(write: Callable[[Files], Path], python: Python) -> Iterator[Callable[[Files], Suite]]:
    opened: list[Suite] = []

    def suite(files: Files) -> Suite:
        # Its own settings file keeps pytest from looking further up for one.
        opened.append(Suite(Project(write({"pytest.ini": "[pytest]\n", **files})), python))
        return opened[-1]

    yield suite
    for one in opened:
        one.close()


def alive(pid: int) -> bool:
    """Whether a process still runs; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.fixture
def survivors(tmp_path: Path) -> Iterator[Callable[[], list[int]]]:
    """Processes of a test write their pid into `tmp_path / 'pids'`; which of them are still alive."""
    pids = tmp_path / "pids"
    pids.mkdir()

    def living() -> list[int]:
        return [int(name.name) for name in pids.iterdir() if alive(int(name.name))]

    yield living
    for pid in living():
        os.kill(pid, 9)
