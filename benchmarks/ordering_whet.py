"""Our orderer in the replay: each cycle becomes a sheet, and only the public skill is used.

Where a cycle executes a test several times, the skill is told of every execution, to be ranked and to be learned from.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from benchmarks.ordering_history import Cycle, History, Tests
from benchmarks.ordering_replay import Positions, Ran

from whet.core.sheets import LEFT_OUT, Sheet
from whet.skills.ordering import Goal, Orderer, Ranked

Executions = Mapping[str, Sequence[int]]  # by test, the positions of its executions among those shown
# Histories do not all say when a cycle ran, and no other method is told: an hour passes between two cycles.
_BEGIN, _BETWEEN = datetime(2000, 1, 1, tzinfo=UTC), timedelta(hours=1)


class Ours:
    """`Orderer.rank` and `Orderer.learn` as a method of the replay."""

    goal = Goal.BUDGET

    def __init__(self, history: History, seed: int = 0) -> None:
        self.orderer = Orderer()
        self._names = history.tests
        self._cycles = 0

    def order(self, cycle: int, tests: Tests) -> Positions:
        executions = self.executions(tests)
        return in_turn([ranked.test for ranked in self.rank(self._named(tests))], executions)

    def rank(self, tests: Sequence[str]) -> list[Ranked]:
        return self.orderer.rank(tests, goal=self.goal)

    def _named(self, tests: Tests) -> list[str]:
        return [self._names[test] for test in tests.tolist()]

    def executions(self, tests: Tests) -> Executions:
        found: dict[str, list[int]] = {}
        for place, test in enumerate(self._named(tests)):
            found.setdefault(test, []).append(place)
        return found

    def learn(self, cycle: int, ran: Ran) -> None:
        self.orderer.learn(self.sheet(cycle, ran))
        self._cycles += 1

    def sheet(self, cycle: int, ran: Ran) -> Sheet:
        left_out = self._named(ran.left_out)
        return Sheet(
            id=f"cycle-{cycle}",
            at=_BEGIN + self._cycles * _BETWEEN,
            source="junit",
            tests=[*self._named(ran.tests), *left_out],
            outcomes="".join("f" if failed else "p" for failed in ran.failed.tolist()) + LEFT_OUT * len(left_out),
            seconds=[*ran.seconds.tolist(), *[math.nan] * len(left_out)],
            complete=ran.complete,
        )


class OursForWholeRuns(Ours):
    goal = Goal.WHOLE_RUN


def in_turn(tests: Sequence[str], executions: Executions) -> Positions:
    """A position for each: the first time a test is named its first execution, then its second."""
    left = {test: list(reversed(places)) for test, places in executions.items()}
    return np.array([left[test].pop() for test in tests], dtype=np.intp)


def in_place(tests: Sequence[str], executions: Executions) -> Positions:
    """The positions of all executions of these tests, test by test."""
    return np.array([place for test in tests for place in executions[test]], dtype=np.intp)


def failed(test: str, shown: Cycle, executions: Executions) -> bool:
    return bool(shown.failed[list(executions[test])].any())
