"""A snapshot gives back every bit, on any store, and nothing that was not written by us."""

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.checks.store_samples import experience
from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Cell, Entry, Lesson, Move, QTables, Scope
from whet.policies import snapshot
from whet.policies.in_process import InProcessTables
from whet.store import open_store

OWN = Cell(Scope.INDIVIDUAL, "walker", "state", "left")
CATEGORY = Cell(Scope.CATEGORY, "walkers", "abstract", "faster")
FLEET = Cell(Scope.FLEET, "fleet", "fleet", "faster")
OWNERS = ((Scope.INDIVIDUAL, "walker"), (Scope.CATEGORY, "walkers"), (Scope.FLEET, "fleet"))


def bits(tables: QTables) -> dict[Cell, bytes]:
    held = {cell: entry for scope, owner in OWNERS for cell, entry in tables.rows(scope, owner).items()}
    return {cell: struct.pack("<dqdd", e.q_value, e.visits, e.mean, e.m2) for cell, e in held.items()}


def filled(q_value: float = 0.1 + 0.2) -> InProcessTables:
    tables = InProcessTables()
    for cell in (OWN, OWN._replace(action="right"), CATEGORY, FLEET):
        tables.restore(cell.scope, cell.owner, {**tables.rows(cell.scope, cell.owner), cell: entry(q_value)})
    return tables


def entry(q_value: float) -> Entry:
    return Entry(q_value=q_value, visits=7, mean=1 / 3, m2=math.pi)


values = st.floats(-1e6, 1e6, allow_subnormal=False)
names = st.sampled_from(["a", "b", "\0", "\ud800", "🧪", "ö" * 100])
lessons = st.builds(
    lambda state, action, target, rate, averaged: Lesson(
        target=target,
        own=(Move(cell=OWN._replace(state_key=state, action=action), rate=rate, averaged=averaged),),
        shared=(Move(cell=CATEGORY, rate=rate / 3, averaged=averaged), Move(cell=FLEET, rate=rate / 7)),
    ),
    names, names, values, st.floats(0.001, 1.0), st.booleans(),
)  # fmt: skip


def test_what_a_store_learned_comes_back_to_the_bit(store_url: str, tmp_path: Path) -> None:
    with open_store(store_url) as store:
        made = iter(range(1_000_000))

        @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.lists(lessons, min_size=1, max_size=8), st.lists(lessons, max_size=3))
        def comes_back(learned: list[Lesson], later: list[Lesson]) -> None:
            for scope, owner in OWNERS:
                store.tables.wipe(scope, owner)
            for lesson in learned:
                store.experiences.learn(experience(str(next(made))), lesson)
            before = bits(store.tables)
            snapshot.save(tmp_path, store.tables, "walker", "walkers")
            for lesson in later:
                store.experiences.learn(experience(str(next(made))), lesson)
            snapshot.put_back(tmp_path, "walker", store.tables, shared=True)
            assert bits(store.tables) == before
            assert bits(snapshot.opened(tmp_path, "walker")) == before

        comes_back()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.builds(lambda s, a: OWN._replace(state_key=s, action=a), st.text(max_size=9), st.text(max_size=9)),
        st.builds(
            lambda q, n, mean, m2: Entry(q_value=q, visits=n, mean=mean, m2=m2),
            st.floats(-1e6, 1e6), st.integers(0, 2**53 - 1), st.floats(-1e6, 1e6), st.floats(0.0, 1e300),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_any_numbers_come_back_and_equal_tables_are_equal_bytes(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[Cell, Entry]
) -> None:
    folder, again = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    one, two = InProcessTables(), InProcessTables()
    one.restore(Scope.INDIVIDUAL, "walker", rows)
    two.restore(Scope.INDIVIDUAL, "walker", dict(reversed(rows.items())))
    assert snapshot.save(folder, one, "walker", "walkers") == snapshot.save(again, two, "walker", "walkers")
    assert (folder / snapshot.FILE).read_bytes() == (again / snapshot.FILE).read_bytes()
    assert bits(snapshot.opened(folder, "walker")) == bits(one)


def test_what_others_teach_too_is_left_alone(tmp_path: Path) -> None:
    snapshot.save(tmp_path, filled(), "walker", "walkers")
    live = filled(5.0)
    live.restore(Scope.INDIVIDUAL, "walker", {OWN._replace(state_key="new"): entry(1.0)})
    snapshot.put_back(tmp_path, "walker", live)
    assert live.rows(*OWNERS[0]) == filled().rows(*OWNERS[0])
    assert live.rows(*OWNERS[1]) == filled(5.0).rows(*OWNERS[1])


def test_every_changed_character_is_noticed(tmp_path: Path) -> None:
    snapshot.save(tmp_path, filled(), "walker", "walkers")
    path = tmp_path / snapshot.FILE
    whole = path.read_bytes()
    for place in range(0, len(whole) - 1, 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RefusedInput):
            snapshot.opened(tmp_path, "walker")
    path.write_bytes(whole[:-40])
    with pytest.raises(RefusedInput, match=r"tables\.json"):
        snapshot.opened(tmp_path, "walker")


def told(**changes: Any) -> dict[str, Any]:
    row: list[Any] = ["state", "left", 0.5, 3, 0.5, 1.0]
    fields = {"row": row, "agent": "walker", "owner": "walker", "more": []} | changes
    tables = [{"scope": "individual", "owner": fields["owner"], "cells": [fields["row"], *fields["more"]]}]
    tables += [
        {"scope": "category", "owner": "walkers", "cells": []},
        {"scope": "fleet", "owner": "fleet", "cells": []},
    ]
    return {"schema_version": 1, "agent": fields["agent"], "tables": tables}


def sealed(told: dict[str, Any]) -> str:
    """As somebody would who knows how it is made."""
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return f'{{"sha256":"{hashlib.sha256(text.encode()).hexdigest()}","snapshot":{text}}}\n'


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"row": ["state", "left", math.nan, 3, 0.5, 1.0]}, "NaN is no number"),
        ({"row": ["state", "left", 0.5, 3, -math.inf, 1.0]}, "Infinity is no number"),
        ({"row": ["state", "left", 1e7, 3, 0.5, 1.0]}, "less than or equal to 1000000"),
        ({"row": ["state", "left", 0.5, -3, 0.5, 1.0]}, "greater than or equal to 0"),
        ({"row": ["state", "left", 0.5, 10**30, 0.5, 1.0]}, "less than 9007199254740992"),
        ({"row": ["state", "left", 0.5, 3, 0.5, -1.0]}, "greater than or equal to 0"),
        ({"row": ["s" * 201, "left", 0.5, 3, 0.5, 1.0]}, "at most 200 characters"),
        ({"row": ["state", "left", 0.5]}, "Field required"),
        ({"more": [["state", "left", 0.5, 3, 0.5, 1.0]]}, "a cell twice"),
        ({"agent": "runner", "owner": "runner"}, "of runner, not of walker"),
        ({"owner": "runner"}, "not those of one agent"),
    ],
)
def test_what_no_table_holds_is_refused_by_name(changes: dict[str, Any], problem: str, tmp_path: Path) -> None:
    (tmp_path / snapshot.FILE).write_text(sealed(told()))
    assert snapshot.opened(tmp_path, "walker").read([OWN])[OWN].visits == 3
    (tmp_path / snapshot.FILE).write_text(sealed(told(**changes)))
    with pytest.raises(RefusedInput, match=problem):
        snapshot.opened(tmp_path, "walker")


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot.save(tmp_path, filled(), "walker", "walkers")
    monkeypatch.setattr(snapshot, "MOST_CELLS", 3)
    for refused in (
        lambda: snapshot.opened(tmp_path, "walker"),
        lambda: snapshot.save(tmp_path, filled(), "walker", "walkers"),
    ):
        with pytest.raises(RefusedInput, match="more than 3 cells"):
            refused()
    monkeypatch.setattr(snapshot, "LARGEST_BYTES", 100)
    with pytest.raises(RefusedInput, match="larger"):
        snapshot.opened(tmp_path, "walker")


def test_where_nothing_is_or_can_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match="no snapshot of tables"):
        snapshot.opened(tmp_path, "walker")
    (tmp_path / "file").write_text("")
    with pytest.raises(WhetError, match="could not be saved"):
        snapshot.save(tmp_path / "file", filled(), "walker", "walkers")


def test_rows_of_another_table_are_not_restored() -> None:
    tables = filled()
    with pytest.raises(RefusedInput, match="is no cell of individual/walker"):
        tables.restore(Scope.INDIVIDUAL, "walker", {FLEET: entry(1.0)})
    assert bits(tables) == bits(filled())
