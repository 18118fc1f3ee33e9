"""Two contents of one file: which lines differ, and where a line of the one stands in the other."""

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

# Beyond this many lines that differ at a stretch, they count as rewritten: matching them would take seconds.
_MATCHED_LINES = 3000


class Block(NamedTuple):
    """Lines `start`..`end` of the one content became lines `to_start`..`to_end` of the other; ends not included."""

    start: int
    end: int
    to_start: int
    to_end: int


def differing(before: bytes, after: bytes) -> list[Block]:
    """The blocks that differ, in order, counted from 0. How a line ends does not matter."""
    old, new = before.splitlines(), after.splitlines()
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    return [
        Block(b.start + head, b.end + head, b.to_start + head, b.to_end + head) for b in _blocks(middle_old, middle_new)
    ]


def changed_lines(before: bytes, after: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Line numbers from 1: those that went or changed in `before`, those that came or changed in `after`.

    Where a block stands on one side only, the lines around the gap stand for it on the other.
    """
    old: set[int] = set()
    new: set[int] = set()
    for block in differing(before, after):
        old.update(_numbers(block.start, block.end))
        new.update(_numbers(block.to_start, block.to_end))
    return frozenset(old & _all(before)), frozenset(new & _all(after))


def carried(numbers: Collection[int], source: bytes, target: bytes) -> frozenset[int]:
    """Where the lines with these numbers of `source` stand in `target`; for lines that were rewritten, what
    stands there now."""
    found: set[int] = set()
    shift, left = 0, sorted(numbers)
    for block in differing(source, target):
        found.update(number + shift for number in left if number <= block.start)
        inside = any(block.start < number <= block.end for number in left)
        found.update(_numbers(block.to_start, block.to_end) if inside else ())
        left = [number for number in left if number > block.end]
        shift = block.to_end - block.end
    return frozenset(found.union(number + shift for number in left) & _all(target))


def _all(content: bytes) -> set[int]:
    return set(range(1, len(content.splitlines()) + 1))


def _numbers(start: int, end: int) -> range:
    return range(start + 1, end + 1) if end > start else range(start, start + 2)


def _shared(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many of the first lines are the same."""
    limit = min(len(one), len(other))
    return next((n for n in range(limit) if one[n] != other[n]), limit)


def _blocks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block]:
    if not old and not new:
        return []
    if max(len(old), len(new)) > _MATCHED_LINES:
        return [Block(0, len(old), 0, len(new))]
    codes = SequenceMatcher(None, old, new).get_opcodes()
    return [Block(*places) for kind, *places in codes if kind != "equal"]
