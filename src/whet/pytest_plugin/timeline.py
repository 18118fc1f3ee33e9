"""What ran, how it ended, and when the first failure showed."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from whet.core.sheets import FAILURES

# Inside a tuple, because libraries that fake the time replace module attributes.
_CLOCK = (time.perf_counter,)


class FirstFailure(NamedTuple):
    test: str
    seconds: float  # since the first test began
    number: int  # of the tests that were started until then


class Result:
    """One test's reports put together; a retry begins anew, so that the last outcome counts."""

    __slots__ = ("outcome", "seconds")

    def __init__(self) -> None:
        self.outcome: str | None = None
        self.seconds = 0.0

    def add(self, report: Any) -> None:
        if report.when == "setup":
            self.outcome, self.seconds = None, 0.0
        if not hasattr(report, "context"):  # subtests lie within the test's own time
            self.seconds += getattr(report, "duration", 0.0) or 0.0
        outcome = _letter(report)
        if outcome is not None and self.outcome not in FAILURES:
            self.outcome = outcome


class Timeline:
    def __init__(self) -> None:
        self.results: dict[str, Result] = {}
        self.first_failure: FirstFailure | None = None
        self.quarantined_failures: list[str] = []
        self._began: float | None = None
        self._newest = 0.0

    def start(self) -> None:
        if self._began is None:
            self._began = _CLOCK[0]()

    def add(self, test: str, report: Any) -> None:
        self.start()
        self.results.setdefault(test, Result()).add(report)
        self._newest = _CLOCK[0]()
        if getattr(report, "whet_quarantined", None):
            self.quarantined_failures += [test] if test not in self.quarantined_failures else []
        elif report.failed and self.first_failure is None and self._began is not None:
            self.first_failure = FirstFailure(test, self._newest - self._began, len(self.results))

    def between_seconds(self) -> float:
        """What passed beside the tests themselves, per test, over the whole run."""
        if self._began is None or not self.results:
            return 0.0
        inside = sum(result.seconds for result in self.results.values())
        return max(0.0, self._newest - self._began - inside) / len(self.results)

    def ended(self) -> dict[str, Result]:
        return {test: result for test, result in self.results.items() if result.outcome is not None}

    def failures(self) -> set[str]:
        """That make the run red."""
        counted = {test for test, result in self.results.items() if result.outcome in FAILURES}
        return counted - set(self.quarantined_failures)


def _letter(report: Any) -> str | None:
    """What this phase says about the whole test; None when it leaves that to the others."""
    kept: str | None = getattr(report, "whet_quarantined", None)
    if kept:
        return kept
    expected = hasattr(report, "wasxfail")
    if report.outcome == "failed":
        return "f" if report.when in ("call", "???") else "e"  # ???: pytest-xdist lost the worker
    if report.outcome == "skipped":
        return "x" if expected else "s"
    if report.outcome == "passed" and report.when == "call":
        return "X" if expected else "p"
    return None


def failure_in_order(
    order: Sequence[str], seconds: Mapping[str, float], failures: Collection[str], workers: int = 1
) -> float | None:
    """When the first of `failures` would have shown, had the tests run in this order on so many workers.

    None when a test before it was never timed.
    """
    free = [0.0] * workers
    first = math.inf
    for test in order:
        start = heapq.heappop(free)
        if start >= first:
            break
        if test not in seconds:
            return None
        end = start + seconds[test]
        heapq.heappush(free, end)
        if test in failures:
            first = min(first, end)
    return None if math.isinf(first) else first
