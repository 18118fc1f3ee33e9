"""Tiny real projects for agents to work on, with a trace of what pytest really ran."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from whet.core.ports import Store, TestVerdict
from whet.core.records import new_id
from whet.store.sql_store import open_store
from whet.tools.budget import Budget
from whet.tools.project import Project
from whet.tools.python import Python, inspect
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

# Notes which test ran in which process of which pytest run.
_TRACER = """
import os
import pytest

@pytest.fixture(autouse=True)
def _traced(request):
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with open({trace!r}, "a") as trace:
        print(run, worker, request.node.name, file=trace, flush=True)
"""


class Traced(NamedTuple):
    """One pytest run: its tests in the order they began, and the processes they ran in."""

    tests: list[str]
    workers: set[str]


class SmallProject:
    """Files below `root`; everything about it that is not part of it lies beside it."""

    def __init__(self, beside: Path, files: Mapping[str, str]) -> None:
        self.root = beside / "project"
        self.state = beside / "state"
        self._trace = beside / "trace"
        self.root.mkdir(parents=True)
        self.write({"pytest.ini": "[pytest]\n", "conftest.py": _TRACER.format(trace=str(self._trace)), **files})

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")

    def commit(self) -> None:
        if not (self.root / ".git").exists():
            git(self.root, "init", "-q")
            (self.root / ".gitignore").write_text(".whet\n__pycache__\n")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "as it was")

    def traced(self) -> list[Traced]:
        """What pytest ran, run by run."""
        runs: dict[str, Traced] = {}
        for line in self._trace.read_text().splitlines() if self._trace.exists() else ():
            run, worker, test = line.split(" ", 2)
            made = runs.setdefault(run, Traced([], set()))
            made.tests.append(test)
            made.workers.add(worker)
        return list(runs.values())

    @contextmanager
    def store(self) -> Iterator[Store]:
        self.state.mkdir(exist_ok=True)
        with open_store(f"sqlite:///{self.state / 'whet.db'}") as store:
            yield store

    @contextmanager
    def workplace(
        self, python: Python | None = None, seconds: float = 120.0, audit_selection: bool = True
    ) -> Iterator[Workplace]:
        interpreter = python or this_python()
        project = Project(self.root)
        with self.store() as store, Suite(project, interpreter) as suite:
            yield Workplace(
                project=project,
                python=interpreter,
                suite=suite,
                history=store.history,
                budget=Budget(seconds),
                run_id=new_id(),
                code_version=project.code_version(),
                seed=7,
                memory_mb=2048.0,
                state_dir=self.state,
                audit_selection=audit_selection,
                crew=("test-executor",),
            )


@cache
def this_python() -> Python:
    return inspect(Path(sys.executable))


def without(*packages: str) -> Python:
    """This interpreter, as if these were not installed."""
    python = this_python()
    return python.model_copy(update={"packages": {n: v for n, v in python.packages.items() if n not in packages}})


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Kim", "-c", "user.email=kim@localhost", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def remembered(test: str, outcome: str = "passed", seconds: float = 0.01) -> TestVerdict:
    return TestVerdict.model_validate(
        {"test": test, "outcome": outcome, "duration_seconds": seconds, "condition": "own-order"}
    )
