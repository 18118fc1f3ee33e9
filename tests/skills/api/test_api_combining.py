"""Two runs at once: nothing that either learned is lost, whichever ends first."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.combining import combined
from whet.skills.api.knowledge import Knowledge
from whet.skills.api.learning.kept import FADING

NAMES = st.sampled_from(["a", "b", "c"])
COUNTS = st.floats(0, 50).map(lambda value: round(value, 3))
ROWS = st.dictionaries(NAMES, st.tuples(COUNTS, COUNTS), max_size=3)


def table(rows: dict[str, tuple[float, float]]) -> list[list[Any]]:
    return [[[name], won, lost] for name, (won, lost) in rows.items()]


def after(
    before: dict[str, tuple[float, float]], seen: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """What a run alone would keep: the faded past and what it saw."""
    made = {name: (FADING * won, FADING * lost) for name, (won, lost) in before.items()}
    for name, (won, lost) in seen.items():
        old = made.get(name, (0.0, 0.0))
        made[name] = (old[0] + won, old[1] + lost)
    return made


def believing(rows: dict[str, tuple[float, float]], **more: Any) -> Knowledge:
    return Knowledge(beliefs={"edges": table(rows)}, **more)


@given(before=ROWS, mine=ROWS, theirs=ROWS)
def test_counts_add_up_and_the_order_makes_no_difference(
    before: dict[str, tuple[float, float]], mine: dict[str, tuple[float, float]], theirs: dict[str, tuple[float, float]]
) -> None:
    start, ours, others = believing(before), believing(after(before, mine)), believing(after(before, theirs))
    one, other = combined(others, start, ours), combined(ours, start, others)
    wanted = after(after(before, mine), {})
    wanted = {name: (won / FADING, lost / FADING) for name, (won, lost) in wanted.items()}
    for name, (won, lost) in theirs.items():
        old = wanted.get(name, (0.0, 0.0))
        wanted[name] = (old[0] + won, old[1] + lost)
    for made in (one, other):
        found = {key[0]: (won, lost) for key, won, lost in made.beliefs["edges"]}
        for name, counts in wanted.items():
            assert found.get(name, (0.0, 0.0)) == pytest.approx(counts, abs=0.01)
    assert one.runs == other.runs == 1


def test_values_that_failed_in_either_run_are_kept() -> None:
    one = {"part": "query", "name": "q", "value": "a", "family": "texts", "tried": ["GET /a"], "failed": 1, "held": 0}
    mine, theirs = Knowledge(failing=[one]), Knowledge(failing=[{**one, "value": "b"}])
    assert [value["value"] for value in combined(theirs, Knowledge(), mine).failing] == ["a", "b"]


def fault(cause: str, confirmed: bool = True, seen: int = 1) -> dict[str, Any]:
    told = {"kind": "server-error", "operation": "GET /a", "cause": cause, "title": "", "detail": ""}
    return {"suspicion": told, "steps": [], "confirmed": confirmed, "seen": seen}


def trail(**ways: tuple[str, int, int]) -> dict[str, Any]:
    steps = {step: {"draft": step} for step, _, _ in ways.values()}
    return {"steps": steps, "ways": [[name, "", step, at, missed] for name, (step, at, missed) in ways.items()]}


def test_faults_hints_ways_and_kinds_are_those_of_both() -> None:
    one = Knowledge(
        runs=3, beliefs={"kinds": {"nul": {"500": 2.0}}}, hints={"POST /a": [["x"]]},
        faults=(fault("b"), fault("a", confirmed=False)), trail=trail(A=("k1", 5, 0), B=("k2", 9, 1)),
        statuses={"GET /a": [200, 404]}, tried={"GET /a": {"nul": 2}},
    )  # fmt: skip
    other = Knowledge(
        runs=3, beliefs={"kinds": {"nul": {"422": 1.0}, "emoji": {"200": 4.0}}}, hints={"POST /a": [["y"]]},
        faults=(fault("a"), fault("c")), trail=trail(B=("k3", 30, 0), C=("k4", 1, 0)),
        statuses={"GET /a": [200, 500], "GET /b": [200]}, tried={"GET /a": {"nul": 1, "emoji": 1}},
    )  # fmt: skip
    made, turned = combined(one, Knowledge(runs=2), other), combined(other, Knowledge(runs=2), one)
    assert made == turned
    assert made.runs == 4
    assert [(one["suspicion"]["cause"], one["confirmed"]) for one in made.faults] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]
    assert made.hints == {"POST /a": [["x"], ["y"]]}
    assert made.beliefs["kinds"] == {"emoji": {"200": 4.0}, "nul": {"422": 1.0, "500": 2.0}}
    assert made.statuses == {"GET /a": [200, 404, 500], "GET /b": [200]}
    assert made.tried == {"GET /a": {"emoji": 1, "nul": 2}}
    assert made.trail["ways"] == [["A", "", "k1", 5, 0], ["B", "", "k3", 30, 0], ["C", "", "k4", 1, 0]]
    assert made.trail["steps"].keys() == {"k1", "k2", "k3", "k4"}


def test_of_recipes_one_of_each_run_stays() -> None:
    made = combined(
        Knowledge(recipes={"GET /a": [1, 2]}), Knowledge(), Knowledge(recipes={"GET /a": [3], "GET /b": [4]})
    )
    assert made.recipes == {"GET /a": [2, 3], "GET /b": [4]}


def test_many_runs_in_any_order_have_the_same_faults() -> None:
    runs = [Knowledge(faults=(fault(str(number), seen=number),)) for number in range(6)]
    ends = []
    for seed in range(5):
        random.Random(seed).shuffle(runs)
        kept = Knowledge()
        for one in runs:
            kept = combined(kept, Knowledge(), one)
        ends.append(kept.faults)
    assert all(one == ends[0] for one in ends)
    assert len(ends[0]) == 6
