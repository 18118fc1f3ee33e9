"""One protocol for every method: walk the cycles in their order; the method orders, is scored, then learns.

For a cycle a method sees which tests are executed, in an order shuffled by the seed, so that the order in the file
says nothing; and verdicts and durations of earlier cycles. Learning from `full` feedback it sees everything that
happened in them, with `budget` only what ran within the budget. Cycles without a failure are learned from, not scored.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from benchmarks.ordering_history import Cycle, History, Tests

from whet.skills.ordering import metrics
from whet.skills.ordering.metrics import Flags, Seconds

Feedback = Literal["full", "budget"]
Positions = npt.NDArray[np.intp]
Scores = dict[str, float]
BUDGET_SHARE = 0.5


class Ran(NamedTuple):
    """What a method gets to see of a cycle, in the order it ran."""

    positions: Positions  # among the tests it was asked to order
    tests: Tests
    seconds: Seconds
    failed: Flags
    complete: bool
    left_out: Tests = np.array([], dtype=np.intp)  # of these, no execution ran


class Method(Protocol):
    def order(self, cycle: int, tests: Tests) -> Positions:
        """Every position among `tests` once, best first."""

    def learn(self, cycle: int, ran: Ran) -> None: ...


MakeMethod = Callable[[History, int], Method]  # for a history, with a seed


class Optimal:
    """In hindsight: no order is better by any of the measures."""

    def __init__(self, history: History, seed: int) -> None:
        self._best: Positions = np.array([], dtype=np.intp)

    def peek(self, shown: Cycle) -> None:
        self._best = metrics.best_order(shown.seconds, shown.failed)

    def order(self, cycle: int, tests: Tests) -> Positions:
        return self._best

    def learn(self, cycle: int, ran: Ran) -> None:
        """It knows already."""


class Replay(NamedTuple):
    scores: dict[int, Scores]  # by the number of the failing cycle
    ms_per_cycle: float

    def mean(self, cycles: frozenset[int] | None = None) -> Scores | None:
        """Unweighted over these failing cycles, all by default; None when there are none."""
        return average([scores for number, scores in self.scores.items() if cycles is None or number in cycles])


def shuffled(history: History, seed: int) -> Iterator[Cycle]:
    """The cycles with their executions in the order a method is shown them."""
    rng = random.Random(seed)
    for cycle in history.cycles:
        places = list(range(len(cycle.tests)))
        rng.shuffle(places)
        yield Cycle(cycle.number, cycle.tests[places], cycle.seconds[places], cycle.failed[places])


def replay(history: History, make: MakeMethod, feedback: Feedback, seed: int) -> Replay:
    method, scores, spent_seconds = make(history, seed), {}, 0.0
    for shown in shuffled(history, seed):
        if isinstance(method, Optimal):
            method.peek(shown)
        began = time.perf_counter()
        order = method.order(shown.number, shown.tests)
        spent_seconds += time.perf_counter() - began
        check_order(order, shown)
        if shown.failed.any():
            scores[shown.number] = scored(shown, order)
        ran = what_ran(shown, order, feedback)
        began = time.perf_counter()
        method.learn(shown.number, ran)
        spent_seconds += time.perf_counter() - began
    return Replay(scores, 1000 * spent_seconds / len(history.cycles))


def check_order(order: Positions, shown: Cycle) -> None:
    if len(order) != len(shown.tests) or len(np.unique(order)) != len(order):
        raise ValueError(f"a method must return every execution of cycle {shown.number} exactly once")


def scored(shown: Cycle, order: Positions) -> Scores:
    seconds, failed = shown.seconds[order], shown.failed[order]
    return {
        "napfd": metrics.napfd(seconds, failed, BUDGET_SHARE),
        "recall": metrics.recall(seconds, failed, BUDGET_SHARE),
        "apfd": metrics.apfd(failed),
        "apfdc": metrics.apfdc(seconds, failed),
        "first_rank": metrics.failure_rank_share(failed),
        "first_time": metrics.failure_time_share(seconds, failed),
    }


def what_ran(shown: Cycle, order: Positions, feedback: Feedback) -> Ran:
    positions = order
    if feedback == "budget":
        positions = order[metrics.runs_within_share(shown.seconds[order], BUDGET_SHARE)]
    return seen_of(shown, positions)


def seen_of(shown: Cycle, positions: Positions) -> Ran:
    tests, complete = shown.tests[positions], len(positions) == len(shown.tests)
    left_out = np.setdiff1d(shown.tests, tests)
    return Ran(positions, tests, shown.seconds[positions], shown.failed[positions], complete, left_out)


def average(scores: Sequence[Scores]) -> Scores | None:
    """Measure by measure; None when there are none."""
    if not scores:
        return None
    return {name: math.fsum(s[name] for s in scores) / len(scores) for name in scores[0]}
