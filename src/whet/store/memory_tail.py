"""The places that an index does not know yet, held in memory and searched one by one."""

import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from whet.store.memory_likeness import one_by_one

_FIRST_ROWS = 1024


class Tail:
    """Any number of threads. Rows only ever come behind the others, so that what was taken out stays as it is."""

    def __init__(self, dimensions: int) -> None:
        self._lock = threading.Lock()
        self._numbers = np.empty(_FIRST_ROWS, np.int64)
        self._places = np.empty((_FIRST_ROWS, dimensions), np.float32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def last(self) -> int:
        return int(self._numbers[self._length - 1]) if self._length else 0

    def add(self, numbers: NDArray[np.int64], places: NDArray[np.float32]) -> None:
        with self._lock:
            # Another thread may have read the same rows meanwhile.
            new = numbers > self.last()
            numbers, places = numbers[new], places[new]
            end = self._length + len(numbers)
            if end > len(self._numbers):
                self._grow(max(end, 2 * len(self._numbers)))
            self._numbers[self._length : end], self._places[self._length : end] = numbers, places
            self._length = end

    def drop(self, gone: Iterable[int], up_to: int = 0) -> None:
        """Those that were forgotten, and those an index has learned since."""
        with self._lock:
            numbers, places = self._numbers[: self._length], self._places[: self._length]
            stay = (numbers > up_to) & ~np.isin(numbers, np.fromiter(gone, np.int64))
            if not stay.all():
                self._numbers, self._places, self._length = numbers[stay], places[stay], int(stay.sum())

    def search(self, question: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers of places, most alike first, and how alike."""
        with self._lock:
            numbers, places = self._numbers[: self._length], self._places[: self._length]
        likeness = one_by_one(places, question)
        if len(likeness) > count:
            chosen = np.argpartition(-likeness, count)[:count]
            numbers, likeness = numbers[chosen], likeness[chosen]
        order = np.argsort(-likeness, kind="stable")
        return numbers[order], likeness[order]

    def _grow(self, rows: int) -> None:
        numbers, places = np.empty(rows, np.int64), np.empty((rows, self._places.shape[1]), np.float32)
        numbers[: self._length], places[: self._length] = self._numbers[: self._length], self._places[: self._length]
        self._numbers, self._places = numbers, places
