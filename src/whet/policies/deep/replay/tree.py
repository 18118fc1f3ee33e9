"""A sum tree of width 16: sets and finds items by their mass, in five steps where there are a million of them."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whet.core.errors import MissingTool
from whet.policies.deep.replay import kernels, memory, vectorised

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Loops(NamedTuple):
    refresh: Callable[[Floats, Floats, Places, Places], None]
    find: Callable[[Floats, Floats, Places, Floats, Places], None]


PLAIN = Loops(vectorised.refresh, vectorised.find)


class SumTree:
    def __init__(self, capacity: int, loops: Loops) -> None:
        counts = _rows_of_levels(capacity)
        self._starts = np.cumsum([0, *counts[:-1]], dtype=np.int64)
        self._masses: Floats = memory.zeros((sum(counts), 16), np.dtype(np.float64))
        self._ends: Floats = memory.zeros((sum(counts[1:]), 16), np.dtype(np.float64))
        self._leaves = self._masses[: counts[0]].reshape(-1)
        self._loops = loops

    @property
    def total(self) -> float:
        return float(self._ends[-1, 15])

    def masses(self, places: Places | slice) -> Floats:
        return self._leaves[places]

    def put(self, places: Places, masses: Floats | float) -> None:
        """Where a place is named twice, the last mass counts."""
        self._leaves[places] = masses
        self._loops.refresh(self._masses, self._ends, self._starts, places)

    def find(self, targets: Floats) -> Places:
        """The places that these targets, each from 0 up to the total, fall into. The targets are used up."""
        found = np.zeros(len(targets), dtype=np.int64)
        self._loops.find(self._masses, self._ends, self._starts, targets, found)
        return found


def _rows_of_levels(capacity: int) -> list[int]:
    counts = [-(-capacity // 16)]
    while len(counts) == 1 or counts[-1] > 1:
        counts.append(-(-counts[-1] // 16))
    return counts


def loops(compiled: bool | None) -> Loops:
    """numba's where it is installed; `compiled` insists on one or the other. Both give the same bits."""
    if compiled is False:
        return PLAIN
    try:
        return _compiled()
    except ImportError as error:
        if compiled is None:
            return PLAIN
        message = f"numba, which compiles the replay's loops, cannot be imported ({error})."
        raise MissingTool(message, "Install it with `pip install 'whet[deep]'`.") from error


@cache
def _compiled() -> Loops:
    numba: Any = importlib.import_module("numba")  # takes a fifth of a second: only those who replay wait for it
    return Loops(_compile(numba, kernels.refresh), _compile(numba, kernels.find))


def _compile(numba: Any, function: Callable[..., None]) -> Callable[..., None]:
    try:
        compiled: Callable[..., None] = numba.njit(cache=True)(function)
    except RuntimeError:  # nowhere to write: compiled anew by each process
        compiled = numba.njit(function)
    return compiled
