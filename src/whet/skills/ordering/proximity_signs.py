"""Signs that a test is near to a change, gathered per test."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from whet.skills.ordering.proximity_text import tokens

NEAREST = 0.95  # nothing is certain
REACHES = 0.02  # at least, where changed lines are executed
_INSTANT = 1e-6


class Near(NamedTuple):
    """`value` stands for the chance that the test fails because of the change, 0 to 1; `reason` says why."""

    value: float
    reason: str


class Signs:
    """Independent signs add up to 1 − Π (1 − value); the strongest one gives the reason."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.tests = tests
        self.files: dict[str, list[str]] = {}
        for test in tests:
            self.files.setdefault(test.partition("::")[0], []).append(test)
        self._safe: dict[str, float] = {}
        self._strongest: dict[str, tuple[float, str, tuple[object, ...]]] = {}
        self._reached: dict[str, list[tuple[str, frozenset[int]]]] = {}

    @cached_property
    def tokens(self) -> dict[str, frozenset[str]]:
        """What each test is about, by its name."""
        return {test: tokens(called(test)) for test in self.tests}

    def add(self, test: str, value: float, reason: str, *details: object) -> None:
        """`details` fill the places of `reason` when, and if, it is told: there may be a million signs."""
        self._safe[test] = self._safe.get(test, 1.0) * (1.0 - value)
        strongest = self._strongest.get(test)
        if strongest is None or value > strongest[0]:
            self._strongest[test] = (value, reason, details)

    def reach(self, test: str, file: str, lines: frozenset[int]) -> None:
        """It executes these of the changed lines."""
        self._reached.setdefault(test, []).append((file, lines))

    def nearness(self, seconds: Mapping[str, float]) -> dict[str, Near]:
        """Empty when there was no sign at all."""
        found = {test: self._near(test) for test in self.tests} if self._strongest else {}
        for group in self._same_reach().values():
            if len(group) == 1:
                continue
            group.sort(key=lambda test: -found[test].value / math.sqrt(seconds.get(test, 1.0) or _INSTANT))
            found.update((test, _after(place, found[test])) for place, test in enumerate(group))
        return found

    def _same_reach(self) -> dict[tuple[tuple[str, frozenset[int]], ...], list[str]]:
        groups: dict[tuple[tuple[str, frozenset[int]], ...], list[str]] = {}
        for test, reached in self._reached.items():
            groups.setdefault(tuple(reached), []).append(test)
        return groups

    def _near(self, test: str) -> Near:
        if test not in self._strongest:
            return Near(0.0, "nothing near it changed")
        _, reason, details = self._strongest[test]
        return Near(min(NEAREST, 1.0 - self._safe[test]), reason.format(*details))


def _after(place: int, near: Near) -> Near:
    """Where others that reach the same changed lines go first and pass, this one has less to find; it stays above
    those that reach none of them."""
    floor = min(REACHES, near.value)
    return near._replace(value=floor + (near.value - floor) / (1 + place))


def called(test: str) -> str:
    """The qualified name of a test's function: tests/test_a.py::TestA::test_b[1] → TestA.test_b."""
    return test.partition("::")[2].partition("[")[0].replace("::", ".")


def base_name(file: str) -> str:
    return file.rpartition("/")[2]


def listed(names: Collection[str]) -> str:
    first = min(names)
    return first if len(names) == 1 else f"{first} or {len(names) - 1} other(s)"
