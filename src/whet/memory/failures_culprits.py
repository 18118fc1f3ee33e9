"""Which functions of the project may be at fault, by what a failing test is known to execute when it passes.

Each function it executes is a suspect; one that the failure came through, or that the test names, is more of one.
"""

import re
from collections.abc import Collection

from whet.memory.failures_reading import Failure

DEEPEST, ON_THE_WAY, ASSERTED, NAMED = 30.0, 5.0, 6.0, 2.0

_NAME = re.compile(r"[A-Za-z_]\w*")


def culprits(failure: Failure, covered: Collection[str]) -> dict[str, float]:
    """Suspicion by function; `covered` are those it executes, as "file:Class.name"."""
    way = [(frame.file, frame.function) for frame in failure.inside()]
    standing = failure.asserting()
    asserted = set(_NAME.findall(standing.code)) if standing is not None else set()
    named = set(_NAME.findall(" ".join(standing.shown))) if standing is not None else set()
    suspicion = {}
    for function in covered:
        file, _, path = function.partition(":")
        names = path.split(".")[-2:]
        suspicion[function] = 1.0 + _met((file, names[-1]), way) + _mentioned(names, asserted, named)
    return suspicion


def _met(function: tuple[str, str], way: list[tuple[str, str]]) -> float:
    if way and way[-1] == function:
        return DEEPEST
    return ON_THE_WAY if function in way else 0.0


def _mentioned(names: list[str], asserted: set[str], named: set[str]) -> float:
    if names[-1] in asserted or (names[-1] in ("__init__", "__call__") and names[0] in asserted):
        return ASSERTED
    return NAMED if not named.isdisjoint(names) else 0.0
