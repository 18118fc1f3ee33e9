"""The sum tree's two loops as numba compiles them. `vectorised.py` has the same for numpy alone, to the same bits.

A row of `masses` is sixteen siblings side by side, a row of `ends` what they add up to from the left. Sixteen numbers
are two cache lines, so that one in a million is five rows away instead of twenty. `starts` says in which row each level
begins, leaves first and the root's children last. Leaves have no `ends`: adding up sixteen numbers that have come from
memory is quicker than waiting for sixteen more.
"""

from typing import Any

import numpy as np

Array = Any  # numba takes the types from the arguments


def refresh(masses: Array, ends: Array, starts: Array, places: Array) -> None:
    """Add up anew what is above these leaves. Sums are never adjusted by differences, so no error builds up."""
    for level in range(len(starts)):
        start = starts[level]
        following = starts[level + 1] if level + 1 < len(starts) else len(masses)
        whole = following - start <= len(places)  # near the root it is quicker to do the whole level
        last = -1
        for number in range(following - start if whole else len(places)):
            node = number if whole else places[number] >> (4 * (level + 1))
            if node == last:  # items that were added together share their nodes
                continue
            last = node
            row = np.uint64(start + node)  # unsigned: no index can count from the end, so none is checked
            total = 0.0
            if level == 0:
                for child in range(16):
                    total += masses[row, child]
            else:
                end = np.uint64(row - starts[1])
                for child in range(16):
                    total += masses[row, child]
                    ends[end, child] = total
            if following < len(masses):
                masses[np.uint64(following + (node >> 4)), np.uint64(node & 15)] = total


def find(masses: Array, ends: Array, starts: Array, targets: Array, found: Array) -> None:
    """The leaf that each target falls into when all are laid end to end. Level by level: the waits for memory overlap.

    `found` begins as zeros; `targets` is used up. Halving without branches leaves the processor nothing to guess.
    """
    for level in range(len(starts) - 1, 0, -1):
        start = starts[level] - starts[1]
        for number in range(len(targets)):
            target = targets[number]
            row = np.uint64(start + found[number])
            child = np.uint64(8 * (ends[row, 7] <= target))
            child += np.uint64(4 * (ends[row, child + np.uint64(3)] <= target))
            child += np.uint64(2 * (ends[row, child + np.uint64(1)] <= target))
            child += np.uint64(ends[row, child] <= target)
            if child == 15 and ends[row, 15] <= target:  # rounding put it past the end: into the last that has any mass
                child = np.uint64(0)
                for each in range(16):
                    child += np.uint64(ends[row, each] < ends[row, 15])
            if child > 0:
                targets[number] = target - ends[row, child - np.uint64(1)]
            found[number] = found[number] * 16 + np.int64(child)
    for number in range(len(targets)):
        target, row = targets[number], np.uint64(found[number])
        total, leaf = 0.0, 0
        for each in range(16):
            total += masses[row, each]
            leaf += total <= target
        if leaf == 16:
            before, leaf = 0.0, 0
            for each in range(16):
                before += masses[row, each]
                leaf += before < total
        found[number] = found[number] * 16 + leaf
