"""Rules of thumb for ordering tests by their history: what a learner has to beat."""

import random
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
from benchmarks.ordering_history import History, Tests
from benchmarks.ordering_replay import MakeMethod, Method, Positions, Ran

Values = npt.NDArray[np.float64]
NEVER = -np.inf
_KEPT, _PRIOR = 0.7, 0.5  # of the decayed failure rate: what stays of it per execution, and where it starts
_NEVER_FAILED, _NEVER_RUN = -1e8, -1e9  # below any number of cycles since a failure


class Memory:
    """What the executions so far showed, one column per fact, by test."""

    def __init__(self, tests: int) -> None:
        self.cycle = 0  # the present one
        self.runs = np.zeros(tests)
        self.failures = np.zeros(tests)
        self.decayed = np.full(tests, _PRIOR)
        self.last_run = np.full(tests, NEVER)
        self.last_failed = np.full(tests, NEVER)
        # The last four verdicts as bits, the newest highest; what is not known counts as failed.
        self.last_four = np.full(tests, 0b1111)
        self._mean_seconds = np.zeros(tests)
        self._known_seconds, self._known_runs = 0.0, 0

    def learn(self, ran: Ran) -> None:
        for once in rounds(ran.tests):
            self._learn_once(ran.tests[once], ran.seconds[once], ran.failed[once])

    def _learn_once(self, tests: Tests, seconds: Values, failed: npt.NDArray[np.bool_]) -> None:
        self.runs[tests] += 1
        self.failures[tests] += failed
        self.decayed[tests] = _KEPT * self.decayed[tests] + (1 - _KEPT) * failed
        self.last_run[tests] = self.cycle
        self.last_failed[tests[failed]] = self.cycle
        self.last_four[tests] = (self.last_four[tests] >> 1) | (failed.astype(np.intp) << 3)
        self._mean_seconds[tests] += (seconds - self._mean_seconds[tests]) / self.runs[tests]
        self._known_seconds += float(seconds.sum())
        self._known_runs += len(seconds)

    def expected_seconds(self, tests: Tests) -> Values:
        """Its mean so far, the mean of all for a test that never ran; never zero, because it is divided by."""
        mean = self._known_seconds / self._known_runs if self._known_runs else 1.0
        known = np.where(self.runs[tests] > 0, self._mean_seconds[tests], mean)
        return np.maximum(known, max(1e-3 * mean, 1e-9))


def rounds(tests: Tests) -> Iterator[npt.NDArray[np.intp]]:
    """Positions of all first executions of a test, of all second ones, …: in each of them a test stands once."""
    by_test = np.argsort(tests, kind="stable")
    begins = np.append(True, np.diff(tests[by_test]) != 0) if len(tests) else np.array([], dtype=np.bool_)
    places = np.arange(len(tests))
    earlier = np.empty(len(tests), dtype=np.intp)
    earlier[by_test] = places - np.maximum.accumulate(np.where(begins, places, 0))
    for turn in range(int(earlier.max(initial=-1)) + 1):
        yield np.flatnonzero(earlier == turn)


def quick_first(memory: Memory, tests: Tests) -> Values:
    return -memory.expected_seconds(tests)


def fail_rate(memory: Memory, tests: Tests) -> Values:
    """With one failure in two runs beforehand."""
    return (1 + memory.failures[tests]) / (2 + memory.runs[tests])


def retecs_sort(memory: Memory, tests: Tests) -> Values:
    """The heuristic RETECS compares itself with: the last four verdicts, the newest counting most."""
    return memory.last_four[tests].astype(np.float64)


def recently_failed(memory: Memory, tests: Tests) -> Values:
    """The latest failure first; tests that never ran before them all, tests that never failed last."""
    since = np.where(memory.last_failed[tests] > NEVER, memory.last_failed[tests] - memory.cycle, _NEVER_FAILED)
    return np.where(memory.runs[tests] > 0, since, 0.0)


def recently_failed_newlast(memory: Memory, tests: Tests) -> Values:
    return np.where(memory.runs[tests] > 0, recently_failed(memory, tests), _NEVER_RUN)


def decay(memory: Memory, tests: Tests) -> Values:
    return memory.decayed[tests]


def recent_per_time(memory: Memory, tests: Tests) -> Values:
    recent = recently_failed(memory, tests)
    return np.where(recent > _NEVER_FAILED / 10, 1 / (1 - recent), 1e-4) / memory.expected_seconds(tests)


def decay_per_time(memory: Memory, tests: Tests) -> Values:
    return (decay(memory, tests) + 1e-3) / memory.expected_seconds(tests)


def by_chance(memory: Memory, tests: Tests) -> Values:
    return np.zeros_like(memory.runs[tests])


Value = Callable[[Memory, Tests], Values]
_VALUES: Mapping[str, Value] = {
    "random": by_chance,
    "quick_first": quick_first,
    "fail_rate": fail_rate,
    "retecs_sort": retecs_sort,
    "recently_failed": recently_failed,
    "recently_failed_newlast": recently_failed_newlast,
    "decay": decay,
    "recent_per_time": recent_per_time,
    "decay_per_time": decay_per_time,
}


class Heuristic:
    """The most valuable first, by chance among equals."""

    def __init__(self, value: Value, tests: int, seed: int) -> None:
        self._value, self._memory, self._rng = value, Memory(tests), random.Random(seed)

    def order(self, cycle: int, tests: Tests) -> Positions:
        self._memory.cycle = cycle
        places = list(range(len(tests)))
        self._rng.shuffle(places)
        mixed = np.array(places, dtype=np.intp)
        return mixed[np.argsort(-self._value(self._memory, tests[mixed]), kind="stable")]

    def learn(self, cycle: int, ran: Ran) -> None:
        self._memory.learn(ran)


def _maker(value: Value) -> MakeMethod:
    def make(history: History, seed: int) -> Method:
        return Heuristic(value, len(history.tests), seed)

    return make


HEURISTICS: Mapping[str, MakeMethod] = {name: _maker(value) for name, value in _VALUES.items()}
