"""The run that was not made, with workers: pytest-xdist's own scheduler hands out the tests, to workers that only count
seconds. How it does that decides more about when a failure shows than the order does."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any


class CountingWorker:
    """Takes what a scheduler says to a worker. The last test it has waits until it is known what follows."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"counting{number}")
        self.shutting_down = False
        self.wanted_back: Sequence[int] | None = None
        self._waiting: deque[int] = deque()

    def send_runtest_some(self, tests: Sequence[int]) -> None:
        self._waiting.extend(tests)

    def send_steal(self, tests: Sequence[int]) -> None:
        self.wanted_back = tests

    def shutdown(self) -> None:
        self.shutting_down = True

    def next(self) -> int | None:
        ready = len(self._waiting) > (not self.shutting_down)
        return self._waiting.popleft() if ready else None

    def give_back(self) -> list[int]:
        """All that are wanted, or none; the one that follows next is not given away."""
        wanted, self.wanted_back = list(self.wanted_back or ()), None
        if not set(wanted) <= set(list(self._waiting)[1:]):
            return []
        self._waiting = deque(test for test in self._waiting if test not in wanted)
        return wanted


def failure_with_workers(
    scheduler: Any, order: Sequence[str], seconds: Mapping[str, float], failures: Collection[str]
) -> float | None:
    """When the first of `failures` would have shown. None when a test before it was never timed."""
    workers = [CountingWorker(number) for number in range(scheduler.numnodes)]
    for worker in workers:
        scheduler.add_node(worker)
    for worker in workers:
        scheduler.add_node_collection(worker, list(order))
    scheduler.schedule()
    idle, busy, now = set(range(len(workers))), list[tuple[float, int, int]](), 0.0
    while True:
        for number in sorted(idle):
            if (test := workers[number].next()) is not None:
                if order[test] not in seconds:
                    return None
                heapq.heappush(busy, (now + seconds[order[test]], number, test))
                idle.remove(number)
        if not busy:
            return None
        now, number, test = heapq.heappop(busy)
        if order[test] in failures:
            return now
        idle.add(number)
        scheduler.mark_test_complete(workers[number], test, seconds[order[test]])
        for worker in workers:
            if worker.wanted_back is not None:
                scheduler.remove_pending_tests_from_node(worker, worker.give_back())
