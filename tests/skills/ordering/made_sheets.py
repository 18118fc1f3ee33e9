"""Sheets as the orderer's tests need them: short to write, and any that a store would take."""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from whet.core.sheets import OUTCOMES, UNKNOWN_NEARNESS, Sheet
from whet.skills.ordering import Orderer

_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
# How long a machine takes is no property of the orderer.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
quickly = settings(unhurried, max_examples=40)  # whole histories are slow to make
LONGEST_SECONDS = 1e9  # what a store takes


def sheet(
    outcomes: str,
    tests: Sequence[str] | None = None,
    seconds: Sequence[float] | None = None,
    nearness: bytes | None = None,
    code_version: str | None = None,
    complete: bool = True,
) -> Sheet:
    """Tests are t0, t1, … and take a second each, unless given."""
    return Sheet(
        id="made",
        at=_BEGAN + timedelta(seconds=len(outcomes)),
        source="pytest",
        tests=tests or names(len(outcomes)),
        outcomes=outcomes,
        seconds=seconds or [1.0] * len(outcomes),
        code_version=code_version,
        complete=complete,
        nearness=nearness,
    )


def names(count: int) -> list[str]:
    return [f"t{i}" for i in range(count)]


def learned(sheets: Iterable[Sheet]) -> Orderer:
    orderer = Orderer()
    for one in sheets:
        orderer.learn(one)
    return orderer


def taught(rows: Iterable[str]) -> Orderer:
    return learned(sheet(row) for row in rows)


_SECONDS = st.one_of(
    st.sampled_from([0.0, math.nan, 5e-324, 1e-9, 1.0, LONGEST_SECONDS]), st.floats(0.0, LONGEST_SECONDS)
)
_NEARNESSES = st.one_of(st.integers(0, 100), st.just(UNKNOWN_NEARNESS))
ODD_NAMES = st.sampled_from(
    ["a", "b", "c", "d", "e", "f", "", " ", "ä\N{COMBINING DIAERESIS}", "\0", "\ud800", "t[1\n2]"]
)


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    tests = draw(st.lists(ODD_NAMES, max_size=7))
    count = len(tests)

    def column(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
        return st.lists(values, min_size=count, max_size=count)

    letters = draw(st.sampled_from(["".join(OUTCOMES), "fp", "pppppf", "f", "s", "p"]))
    return sheet(
        outcomes=draw(st.text(letters, min_size=count, max_size=count)),
        tests=tests,
        seconds=draw(column(_SECONDS)),
        nearness=draw(st.none() | column(_NEARNESSES).map(lambda values: bytes(int(value) for value in values))),
        code_version=draw(st.none() | st.sampled_from(["one", "two"])),
        complete=draw(st.booleans()),
    )


HISTORIES = st.lists(sheets(), max_size=6)
QUESTIONS = st.tuples(
    st.lists(ODD_NAMES, max_size=9),
    st.none() | st.dictionaries(ODD_NAMES, st.floats(0.0, 1.0) | st.just(math.nan), max_size=9),
)
