"""How like two states are, told by their cues: `field=value` words, numbers by their power of two."""

import math
from collections.abc import Mapping
from functools import lru_cache

# What is half as large is half as like: alike numbers fall off by the logarithm of their ratio.
_WHO = "agent"  # says whose state it is, and nothing about it


@lru_cache(maxsize=4096)
def likeness(one: str, other: str) -> float:
    """From 0 to 1: the mean over all fields of either. A field that only one has is not alike."""
    mine, theirs = _fields(one), _fields(other)
    names = mine.keys() | theirs.keys()
    if not names:
        return 1.0
    return math.fsum(_alike(mine.get(name), theirs.get(name)) for name in names) / len(names)


@lru_cache(maxsize=1024)
def _fields(cue: str) -> Mapping[str, str]:
    """A field with several values has them all, in their order."""
    found: dict[str, str] = {}
    for word in cue.split():
        name, _, value = word.partition("=")
        found[name] = f"{found[name]} {value}" if name in found else value
    found.pop(_WHO, None)
    return found


def _alike(one: str | None, other: str | None) -> float:
    if one is None or other is None or one == other:
        return float(one == other)
    mine, theirs = _number(one), _number(other)
    if mine is None or theirs is None or mine * theirs <= 0.0:
        return 0.0
    return min(mine / theirs, theirs / mine)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
