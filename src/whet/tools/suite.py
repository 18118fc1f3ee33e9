"""The user's test suite: collects and runs it with pytest in the user's interpreter."""

import json
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from whet.core.errors import RefusedInput
from whet.tools.environment import environment
from whet.tools.process import Completed, Limits, run
from whet.tools.project import Project
from whet.tools.python import Python
from whet.tools.suite_events import EventLog
from whet.tools.suite_records import Place, SuitePlan, SuiteRun, TestResult

__all__ = ["OnTest", "Place", "Suite", "SuitePlan", "SuiteRun", "TestResult"]

# Called with each finished test, how many are finished, and how many there are (None while unknown).
OnTest = Callable[[TestResult, int, int | None], None]

_PROBE = Path(__file__).with_name("probe")
_TAIL = 8000
_PASTED_IDS = 50


class Suite:
    """Runs in a private temporary directory for everything it writes; `close` removes it."""

    def __init__(self, project: Project, python: Python) -> None:
        python.require("pytest")
        self.project = project
        self.python = python
        self._directory = Path(tempfile.mkdtemp(prefix="whet-"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)

    def collect(self, limits: Limits) -> SuiteRun:
        """Which tests there are, without running any."""
        return self._pytest(SuitePlan(workers=0), limits, ["--collect-only"], None)

    def run(self, plan: SuitePlan, limits: Limits, on_test: OnTest | None = None) -> SuiteRun:
        if plan.coverage != "none":
            self.python.require("coverage")
            if plan.workers:
                raise RefusedInput(
                    f"Coverage was asked for with {plan.workers} workers; it is measured in one process.",
                    "Use workers=0 or None with coverage.",
                )
        if plan.workers:
            self.python.require("pytest-xdist")
        return self._pytest(plan, limits, [], on_test)

    def _pytest(self, plan: SuitePlan, limits: Limits, extra: list[str], on_test: OnTest | None) -> SuiteRun:
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        (directory / "plan.json").write_text(json.dumps(self._instructions(plan, directory)), encoding="utf-8")
        log = EventLog(directory / "events")
        # Of the tests' own: the user's tmp_path directories of earlier runs stay, ours go at once. A short name,
        # since sockets have room for 107 characters.
        with tempfile.TemporaryDirectory(prefix="w", ignore_cleanup_errors=True) as temporary:
            completed = run(
                self._command(plan, extra, directory),
                cwd=self.project.root,
                env={**self._environment(plan, directory), "PYTEST_DEBUG_TEMPROOT": temporary},
                limits=limits,
                on_tick=lambda: _tell(log, on_test),
                load_processes=plan.load_processes,
            )
        _tell(log, on_test)
        return self._answer(plan, limits, completed, log, directory)

    def _instructions(self, plan: SuitePlan, directory: Path) -> dict[str, Any]:
        """What the probe is told; see `probe/whet_probe` and `probe/whet_cover.py`."""
        root = self.project.root
        return {
            "root": str(root),
            "started_at": time.time(),
            "select": plan.select,
            "order": plan.order,
            "seed": plan.seed,
            "contexts": plan.contexts and plan.coverage != "none",
            "no_retries": plan.no_retries,
            "sequential": plan.workers == 0 or plan.coverage != "none",
            "coverage": {
                "data_file": str(directory / "coverage"),
                "branch": plan.coverage == "branches",
                "source": [str(place) for place in (root, root / "src") if place.is_dir()],
            },
        }

    def _command(self, plan: SuitePlan, extra: list[str], directory: Path) -> list[str]:
        module = "pytest" if plan.coverage == "none" else "whet_cover"
        command = [str(self.python.path), "-m", module, "-p", "whet_probe", "-q", "--color=no"]
        command += ["-o", f"cache_dir={directory / 'cache'}", *extra]
        if plan.workers:
            command += ["-n", str(plan.workers)]
        return [*command, "-x"] if plan.stop_first else command

    def _environment(self, plan: SuitePlan, directory: Path) -> dict[str, str]:
        env = environment(self.python)
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_PROBE), env.get("PYTHONPATH"))))
        env["WHET_PLAN"] = str(directory / "plan.json")
        env["WHET_EVENTS"] = str(directory / "events")
        if plan.hash_seed is not None:
            env["PYTHONHASHSEED"] = str(plan.hash_seed)
        if plan.coverage != "none":
            env["COVERAGE_FILE"] = str(directory / "coverage")
        return env

    def _answer(
        self, plan: SuitePlan, limits: Limits, completed: Completed, log: EventLog, directory: Path
    ) -> SuiteRun:
        coverage_file = directory / "coverage"
        return SuiteRun(
            exit_code=completed.exit_code,
            signal=completed.signal,
            duration_seconds=completed.duration_seconds,
            tests=tuple(log.tests),
            collected=log.collected,
            ids=log.ids,
            places=log.places,
            collection_errors=tuple(log.collection_errors),
            running=tuple(log.running),
            finished=log.finished,
            timed_out=completed.timed_out,
            timeout_seconds=limits.timeout_seconds,
            memory_exceeded=completed.memory_exceeded,
            peak_memory_mb=completed.peak_memory_mb,
            output_tail=completed.output[-_TAIL:],
            first_failure_seconds=log.first_failure_seconds(),
            coverage_file=coverage_file if coverage_file.is_file() else None,
            command=self._pasteable(plan),
            directory=self.project.root,
            selection=None if plan.select is None else len(plan.select),
        )

    def _pasteable(self, plan: SuitePlan) -> str:
        """What a user can type to get the same without Whet, as far as pytest alone can do it."""
        command = [str(self.python.path), "-m", "pytest", "-q"]
        if plan.coverage != "none":
            branch = ["--branch"] if plan.coverage == "branches" else []
            command[2:3] = ["coverage", "run", *branch, "-m", "pytest"]
        if plan.workers is not None and self.python.has("pytest-xdist"):
            command += ["-n", str(plan.workers)]
        if plan.order != "own" and self.python.has("pytest-randomly"):
            command += ["-p", "no:randomly"]
        command += ["-x"] if plan.stop_first else []
        command += _pasteable_ids(plan)
        hash_seed = "" if plan.hash_seed is None else f"PYTHONHASHSEED={plan.hash_seed} "
        return f"cd {shlex.quote(str(self.project.root))} && {hash_seed}{shlex.join(command)}"


def _tell(log: EventLog, on_test: OnTest | None) -> None:
    before = len(log.tests)
    total = len(log.ids) or None
    for place, test in enumerate(log.catch_up(), start=before + 1):
        if on_test is not None:
            on_test(test, place, len(log.ids) or total)


def _pasteable_ids(plan: SuitePlan) -> list[str]:
    chosen = list(plan.select or ())
    if isinstance(plan.order, tuple):
        first = [test for test in plan.order if plan.select is None or test in set(chosen)]
        chosen = first + [test for test in chosen if test not in set(first)]
    elif plan.order == "reversed":
        chosen.reverse()
    return chosen if len(chosen) <= _PASTED_IDS else []
