"""What is remembered of each test, as columns: one entry per test, in the order in which they were first met."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

SLOW_DECAY, FAST_DECAY = 0.7, 0.5  # what a failure keeps of its weight with every later run of its test
UNSEEN = 0.5  # the weight of a test that never ran: as likely to fail as not
_NEWEST_SHARE = 0.3  # of the newest duration in the expected one


class Columns:
    """Grows as tests are met. All columns are numbers, so that a state is saved and loaded as arrays."""

    START: ClassVar[dict[str, float]] = {
        "runs": 0.0,
        "skips": 0.0,  # before it ever ran
        "failures": 0.0,
        "onsets": 0.0,  # times it began to fail: failures in a row are one
        "slow": UNSEEN,  # decayed failures
        "fast": UNSEEN,
        "streak": 0.0,  # failures in a row, or passes in a row below zero
        "failed_run": -1.0,  # the test's own run that failed last, counted from 1; -1: none
        "failed_sheet": -1.0,  # the sheet in which it failed last
        "seen_sheet": -1.0,
        "passed_over": 0.0,  # selections in a row that left it out
        "timed": 0.0,
        "mean_seconds": 0.0,
        "recent_seconds": 0.0,
        "failing_seconds": -1.0,  # expected when it fails; -1: never timed when failing
        "surprise": 0.0,  # failures in failing runs, and how many were expected of a test like it
        "expected": 0.0,
        "flakes": 0.0,  # changes of its verdict on equal code
    }

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self._columns = {name: np.full(64, start) for name, start in self.START.items()}

    def __getattr__(self, name: str) -> Column:
        try:
            return self.__dict__["_columns"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def places(self, tests: Sequence[str]) -> Places:
        """Of these tests. One that was never met has the place behind the last, where everything is as at the start."""
        blank = len(self.place)
        return np.array([self.place.get(test, blank) for test in tests], dtype=np.intp)

    def meet(self, tests: Sequence[str]) -> Places:
        """The same; new ones get a place of their own, whatever the order they come in."""
        for test in sorted({test for test in tests if test not in self.place}):
            self.place[test] = len(self.place)
        while len(self.place) >= len(self.runs):
            for name, start in self.START.items():
                old = self._columns[name]
                self._columns[name] = np.concatenate([old, np.full(len(old), start)])
        return self.places(tests)

    def typical_seconds(self) -> float | None:
        """The mean over timed tests; None when none was timed."""
        timed = self.timed > 0
        return float(self.mean_seconds[timed].mean()) if timed.any() else None

    def run(self, at: Places, failed: Flags, sheet: int) -> None:
        """These ran in this sheet. A test may stand there several times; in which order does not matter."""
        at, times, share = _by_test(at, failed.astype(np.float64))
        mostly = share >= 0.5
        self.runs[at] += times
        self.skips[at] = 0
        self.failures[at] += np.rint(times * share)
        for column, kept in ((self.slow, SLOW_DECAY**times), (self.fast, FAST_DECAY**times)):
            column[at] = kept * column[at] + (1 - kept) * share
        streak = self.streak[at]
        self.onsets[at] += (share > 0) & (streak <= 0)
        self.streak[at] = np.where(mostly, np.maximum(streak, 0) + times, np.minimum(streak, 0) - times)
        failing = at[share > 0]
        self.failed_run[failing] = self.runs[failing]
        self.failed_sheet[failing] = sheet
        self.seen_sheet[at] = sheet
        self.passed_over[at] = 0

    @property
    def met(self) -> Column:
        """How often it came up: a test that is skipped every time never runs, and is not new for ever."""
        met: Column = self.runs + self.skips
        return met

    def skip(self, at: Places) -> None:
        """Nothing is learned of what they test; those that never ran lose the weight of the unseen, run by run."""
        at = np.unique(at[self.runs[at] == 0])
        self.skips[at] += 1
        self.slow[at] *= SLOW_DECAY
        self.fast[at] *= FAST_DECAY

    def pass_over(self, left: Places) -> None:
        """A selection left these out."""
        self.passed_over[left] += 1

    def time(self, at: Places, failed: Flags, seconds: Column) -> None:
        known = ~np.isnan(seconds)
        at, failed, seconds = at[known], failed[known], seconds[known]
        self._time_failing(at[failed], seconds[failed])
        at, times, seconds = _by_test(at, seconds)
        self.timed[at] += times
        self.mean_seconds[at] += (seconds - self.mean_seconds[at]) * times / self.timed[at]
        share = np.maximum(1 - (1 - _NEWEST_SHARE) ** times, times / self.timed[at])
        self.recent_seconds[at] += share * (seconds - self.recent_seconds[at])

    def _time_failing(self, at: Places, seconds: Column) -> None:
        at, times, seconds = _by_test(at, seconds)
        before = np.where(self.failing_seconds[at] < 0, seconds, self.failing_seconds[at])
        self.failing_seconds[at] = before + (1 - (1 - _NEWEST_SHARE) ** times) * (seconds - before)

    def arrays(self) -> dict[str, Column]:
        return {name: column[: len(self.place)].copy() for name, column in self._columns.items()}

    def restore(self, tests: Sequence[str], arrays: dict[str, Column]) -> None:
        if set(arrays) != set(self.START) or any(len(column) != len(tests) for column in arrays.values()):
            raise ValueError("these are not the columns of this version")
        if len(set(tests)) != len(tests) or not all(np.isfinite(column).all() for column in arrays.values()):
            raise ValueError("these columns are damaged")
        self.place = {test: place for place, test in enumerate(tests)}
        blank = np.ones(1 + len(tests))
        self._columns = {name: np.concatenate([arrays[name], blank * start]) for name, start in self.START.items()}


def _by_test(at: Places, values: Column) -> tuple[Places, Column, Column]:
    """Each place once, how often it stood there, and the mean of its values."""
    places, which = np.unique(at, return_inverse=True)
    times = np.bincount(which, minlength=len(places)).astype(np.float64)
    return places, times, np.bincount(which, weights=values, minlength=len(places)) / np.maximum(times, 1.0)
