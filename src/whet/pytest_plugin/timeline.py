"""What ran, how it ended, and when the first failure showed."""

from __future__ import annotations

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

    __slots__ = ("outcome", "seconds", "worker")

    def __init__(self) -> None:
        self.outcome: str | None = None
        self.seconds = 0.0
        self.worker: object = None  # pytest-xdist's, that ran it

    def add(self, report: Any) -> None:
        self.worker = getattr(report, "node", None)
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
        self.failed_at_its_end: set[str] = set()  # by whatever ended with it: in another order, with another test
        self._began: float | None = None
        self._newest: dict[object, float] = {}  # by worker

    def start(self) -> None:
        if self._began is None:
            self._began = _CLOCK[0]()

    def add(self, test: str, report: Any) -> None:
        self.start()
        result = self.results.setdefault(test, Result())
        result.add(report)
        now = self._newest[result.worker] = _CLOCK[0]()
        if report.failed and report.when == "teardown":
            self.failed_at_its_end.add(test)
        if getattr(report, "whet_quarantined", None):
            self.quarantined_failures += [test] if test not in self.quarantined_failures else []
        elif report.failed and self.first_failure is None and self._began is not None:
            self.first_failure = FirstFailure(test, now - self._began, len(self.results))

    def between_seconds(self) -> float:
        """What passed beside the tests themselves, per test, over the whole run."""
        if self._began is None or not self.results:
            return 0.0
        inside = sum(result.seconds for result in self.results.values())
        passed = sum(newest - self._began for newest in self._newest.values())
        return max(0.0, passed - inside) / len(self.results)

    def up_to_first_failure(self) -> list[str]:
        """The failing test, and those before it on its worker."""
        first = self.first_failure
        if first is None:
            return []
        started = list(self.results)[: first.number]
        return [test for test in started if self.results[test].worker is self.results[first.test].worker]

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


def failure_in_order(order: Sequence[str], seconds: Mapping[str, float], failures: Collection[str]) -> float | None:
    """When the first of `failures` would have shown, had the tests run in this order in one process.

    None when a test before it was never timed.
    """
    passed = 0.0
    for test in order:
        if test not in seconds:
            return None
        passed += seconds[test]
        if test in failures:
            return passed
    return None
