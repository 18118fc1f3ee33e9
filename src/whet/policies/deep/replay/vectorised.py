"""The sum tree's two loops in numpy, for machines without numba; see `kernels.py` for what they do."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def refresh(masses: Floats, ends: Floats, starts: Places, places: Places) -> None:
    nodes = places
    for level, start in enumerate(starts):
        following = starts[level + 1] if level + 1 < len(starts) else len(masses)
        nodes = _to_refresh(nodes >> 4, following - start)
        rows = start + nodes
        sums = np.cumsum(masses.take(rows, axis=0), axis=1)
        if level:
            ends[rows - starts[1]] = sums
        if following < len(masses):
            masses[following + (nodes >> 4), nodes & 15] = sums[:, 15]


def find(masses: Floats, ends: Floats, starts: Places, targets: Floats, found: Places) -> None:
    for start in starts[:0:-1]:
        _descend(ends.take(start - starts[1] + found, axis=0), targets, found)
    _descend(np.cumsum(masses.take(found, axis=0), axis=1), targets, found)


def _descend(row: Floats, targets: Floats, found: Places) -> None:
    children = (row > targets[:, None]).argmax(axis=1)
    past = row[:, 15] <= targets
    if past.any():
        children[past] = (row[past] < row[past, 15:]).sum(axis=1)
    firsts = np.arange(len(targets)) * 16
    before = row.ravel().take(firsts + children - 1, mode="wrap")  # meaningless, and not used, for the first child
    np.subtract(targets, before, out=targets, where=children > 0)
    found *= 16
    found += children


def _to_refresh(nodes: Places, in_level: int) -> Places:
    """Near the root it is quicker to do the whole level; items that were added together share their nodes."""
    if in_level <= len(nodes):
        return np.arange(in_level)
    changes = np.empty(len(nodes), dtype=bool)
    changes[:1] = True
    np.not_equal(nodes[1:], nodes[:-1], out=changes[1:])
    return nodes[changes]
