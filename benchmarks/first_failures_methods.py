"""The orders that Whet is compared with, and how long each takes to the first failure.

All are judged by the same recorded runs: time to the first failure is what the tests up to and with the first failing
one took, in that method's order.
"""

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from benchmarks.first_failures_history import History
from benchmarks.first_failures_recording import Recorded, Recording, Told, Verdict

SEEDS = 20
DECAY, PRIOR = 0.7, 0.5


class Method(Protocol):
    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        """The tests of a mutated commit. Of its plain run, `told`, only what was collected may be looked at."""

    def learn(self, commit: str, told: Told) -> None:
        """What a full run at this commit showed."""


class Own:
    """pytest without options."""

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        return told.collected

    def learn(self, commit: str, told: Told) -> None: ...


class Random(Own):
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        return self._rng.sample(told.collected, len(told.collected))


class FailedFirst(Own):
    """pytest --ff: what failed when it last ran, then everything else, both in the suite's own order."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        return sorted(told.collected, key=lambda test: test not in self._failed)

    def learn(self, commit: str, told: Told) -> None:
        self._failed -= told.ran.keys()
        self._failed |= {test for test, verdict in told.ran.items() if verdict.failed}


class Decay(Random):
    """Exponentially decayed failure rate, ties at random: the heuristic that public learners lose to."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._rate: dict[str, float] = {}

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        shuffled = super().order(recorded, told)
        return sorted(shuffled, key=lambda test: -self._rate.get(test, PRIOR))

    def learn(self, commit: str, told: Told) -> None:
        for test, verdict in told.ran.items():
            self._rate[test] = DECAY * self._rate.get(test, PRIOR) + (1 - DECAY) * verdict.failed


class Testmon(Own):
    """What real pytest-testmon chose to run; should no failing test be among it, the rest follows."""

    def __init__(self, chosen: Mapping[int, Sequence[str]]) -> None:
        self._chosen = chosen

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        chosen = self._chosen[recorded.pair.number]
        return [*chosen, *(test for test in told.collected if test not in set(chosen))]


class Optimal(Own):
    """In hindsight: the quickest failing test first."""

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        return sorted(told.collected, key=lambda test: (not told.ran[test].failed, told.ran[test].seconds))


def baselines(testmon: Mapping[int, Sequence[str]]) -> dict[str, list[Method]]:
    """Those that draw lots several times, to be averaged. `testmon`: what it chose, by mutation."""
    return {
        "random": [Random(seed) for seed in range(SEEDS)],
        "own": [Own()],
        "ff": [FailedFirst()],
        "decay": [Decay(seed) for seed in range(SEEDS)],
        "testmon": [Testmon(testmon)],
        "optimal": [Optimal()],
    }


def first_failure_seconds(order: Sequence[str], ran: Mapping[str, Verdict]) -> float:
    used = 0.0
    for test in order:
        used += ran[test].seconds
        if ran[test].failed:
            return used
    raise ValueError("no test of this order failed")


def walk(history: History, recording: Recording, methods: Sequence[Method], continuing: bool) -> dict[int, float]:
    """Mean seconds to the first failure by mutation. `continuing`: every run is learned from, the failing one and the
    green one after the revert; else all that any method ever saw is one green run of the base."""
    for method in methods:
        method.learn(history.base, recording.base)
    seconds: dict[int, float] = {}
    for recorded in recording.pairs:
        told = recorded.plain
        if told is not None and recorded.scored:
            times = [first_failure_seconds(method.order(recorded, told), told.ran) for method in methods]
            seconds[recorded.pair.number] = statistics.fmean(times)
        if continuing:
            _go_on(recorded, recording.base, methods)
    return seconds


def _go_on(recorded: Recorded, base: Told, methods: Sequence[Method]) -> None:
    for method in methods:
        if recorded.plain is not None and not recorded.plain.broken:
            method.learn(recorded.pair.mutated, recorded.plain)
        method.learn(recorded.pair.reverted, base)


def never_failed_before(recording: Recording) -> Iterator[int]:
    """Mutations whose failing tests had not failed for any earlier one."""
    failed: set[str] = set()
    for recorded in recording.pairs:
        if recorded.plain is None or not recorded.scored:
            continue
        now = {test for test, verdict in recorded.plain.ran.items() if verdict.failed}
        if not now & failed:
            yield recorded.pair.number
        failed |= now
