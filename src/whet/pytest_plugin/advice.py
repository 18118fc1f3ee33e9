"""What passes between pytest and the desk. Plain values: the user's process shall not import what Whet needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Question(NamedTuple):
    tests: tuple[str, ...]  # in the suite's own order
    whole: bool  # the whole suite was collected, as far as pytest can tell
    budget_seconds: float | None = None
    risk: float | None = None
    map: str = "auto"
    workers: int = 1
    named: bool = False  # where to look for tests was said on the command line


class Placed(NamedTuple):
    """One test in its place of the ranking."""

    test: str
    reason: str
    likelihood: float | None
    expected_seconds: float | None


class Advice(NamedTuple):
    ranking: tuple[Placed, ...]
    runs: int  # known before this one
    left_out: frozenset[str] = frozenset()
    selection: str | None = None  # what was chosen and what it risks, as a sentence
    whole: bool = True  # these are all tests there are
    full: bool = False  # the periodic run of everything, whatever the budget
    quarantined: Mapping[str, str] = {}
    to_map: frozenset[str] = frozenset()
    map_seconds: float = 0.0
    notes: tuple[str, ...] = ()  # what did not work, as sentences


class Ran(NamedTuple):
    """What a session showed, by column; see `whet.core.sheets.Sheet`."""

    started_at: float  # seconds since the epoch
    tests: Sequence[str]
    outcomes: str
    seconds: Sequence[float]
    complete: bool
    left_out: Sequence[str] = ()  # where not all were to run: what was not chosen, or not started
    lines: Mapping[str, Mapping[str, Sequence[int]]] = {}  # of mapped tests: file → lines
    failures: Mapping[str, str] = {}  # of the first ones, what they said


class Learned(NamedTuple):
    runs: int
    flaky: tuple[str, ...] = ()  # tests worth a quarantine that are in none
    notes: tuple[str, ...] = ()
