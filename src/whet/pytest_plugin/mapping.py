"""Which lines a test executes, by coverage.py, for a few tests per run."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whet.pytest_plugin.advice import Advice

if TYPE_CHECKING:
    import coverage

Lines = dict[str, list[int]]  # by file, as a path below the root
_CLOCK = (time.perf_counter,)
_SLOWER = 2.0  # about what tracing does to a test
_USUAL_SECONDS = 0.01  # of a test never timed
_COVERAGE_TOOL = 1  # sys.monitoring's number for coverage tools


class Tracer:
    """Traces one test after the other while the time for it lasts."""

    def __init__(self, root: Path, wanted: frozenset[str], seconds: float) -> None:
        self._root = root
        self._wanted = wanted
        self._left = seconds
        self._began: float | None = None

    @classmethod
    def if_possible(cls, config: pytest.Config, advice: Advice, order: Sequence[str], workers: int) -> Tracer | None:
        """For tests that will run in this order. Not beside another tracer: pytest-cov, coverage, a debugger."""
        if not advice.to_map or _somebody_traces(config):
            return None
        if config.option.whet_map == "full":
            return cls(config.rootpath, advice.to_map, math.inf)
        return cls(config.rootpath, _from_the_back(advice, order), advice.map_seconds / workers)

    def start(self, test: str) -> None:
        if test in self._wanted and self._left > 0 and self._began is None and sys.gettrace() is None:
            self._coverage.start()
            self._began = _CLOCK[0]()

    @cached_property
    def _coverage(self) -> coverage.Coverage:
        """Imported by the first test that is traced: runs that trace nothing need not wait for it."""
        import coverage

        tracing = coverage.Coverage(data_file=None, config_file=False, source=[str(self._root)], messages=False)
        # Frames of the tracer survive the test that started it; this one can be stopped anywhere.
        tracing.set_option("run:core", "ctrace")
        tracing.set_option("run:disable_warnings", ["no-data-collected", "module-not-measured", "no-ctracer"])
        return tracing

    def stop(self) -> Lines | None:
        """What was executed since the start; None when nothing was traced."""
        if self._began is None:
            return None
        self._coverage.stop()
        self._left -= _CLOCK[0]() - self._began
        self._began = None
        data = self._coverage.get_data()
        traced = {name: data.lines(name) or [] for name in data.measured_files()}
        self._coverage.erase()
        return {
            file: sorted(lines)
            for name, lines in traced.items()
            if lines and (file := _below(Path(name), self._root)) is not None
        }


def _from_the_back(advice: Advice, order: Sequence[str]) -> frozenset[str]:
    """As many as there is time for, those first that run last: tracing must not delay a failure that is expected."""
    seconds = {placed.test: placed.expected_seconds for placed in advice.ranking}
    chosen, left = set(), advice.map_seconds
    for test in reversed(order):
        if test in advice.to_map:
            known = seconds.get(test)
            left -= _SLOWER * (_USUAL_SECONDS if known is None else known)
            if left < 0:
                break
            chosen.add(test)
    return frozenset(chosen)


def _somebody_traces(config: pytest.Config) -> bool:
    if sys.gettrace() is not None or getattr(config.option, "cov_source", None) or config.getoption("trace", False):
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and monitoring.get_tool(_COVERAGE_TOOL) is not None


def _below(file: Path, root: Path) -> str | None:
    """The path of a file of the project; None for installed packages and the like."""
    if not file.is_relative_to(root) or file.is_relative_to(sys.prefix) or "site-packages" in file.parts:
        return None
    return file.relative_to(root).as_posix()
