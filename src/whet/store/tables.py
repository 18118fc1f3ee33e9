"""Hierarchical Q-tables. All arithmetic happens on the server, in the statement that writes.

Locks are taken in one order everywhere: rows of `q_tables`, sorted, before any of their cells,
and the audit head last. A cell is only touched under its table's lock, so no two transactions
can wait for each other.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Double, Row, bindparam, case, cast, delete, func, select, update

from whet.core.errors import RefusedInput
from whet.core.ports import Cell, Entry, Lesson, Move, Scope
from whet.core.records import now
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.restoring import checked_rows, replace_table
from whet.store.schema import q_tables, q_values
from whet.store.validated import validated

_LIMIT = 1e6
_BATCH = 500
# PostgreSQL raises an error where a product underflows, and a value that fades towards 0 gets there in time.
# Below this, a hundred orders of magnitude under anything measured, a difference counts as none.
_FAINT = 1e-100
_TableIds = dict[tuple[str, str], int]

_target = bindparam("target", type_=Double)
_rate = bindparam("rate", type_=Double)
_visit = cast(q_values.c.visits + 1, Double)  # of this visit: the stored count is the one before it


class SqlQTables:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit
        self._visit = {averaged: _visit_statement(database, averaged) for averaged in (True, False)}
        self._revisit = {averaged: _revisit_statement(averaged) for averaged in (True, False)}
        self._count = _counting_statement(database)

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Entry]:
        wanted = set(cells)
        return {cell: entry for cell, entry in self._database.read(lambda c: _read(c, wanted)) if cell in wanted}

    def rows(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        query = _CELLS.where(q_tables.c.scope == scope.value, q_tables.c.owner == owner)
        return dict(_cell(row) for row in self._database.read(lambda c: c.execute(query).all()))

    def owners(self) -> list[tuple[Scope, str]]:
        query = select(q_tables.c.scope, q_tables.c.owner)
        found = self._database.read(lambda c: c.execute(query).all())
        return sorted((Scope(row.scope), row.owner) for row in found)

    def initialise(self, values: Mapping[Cell, float]) -> int:
        for cell, value in values.items():
            _check(cell, value)
        return self._database.write(lambda c: self._initialise(c, values)) if values else 0

    def replay(self, lesson: Lesson) -> None:
        checked = validated(lesson)
        self._database.write(lambda c: self._replay(c, checked))

    def wipe(self, scope: Scope, owner: str) -> int:
        return self._database.write(lambda c: self._wipe(c, scope, owner))

    def restore(self, scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> None:
        cells = checked_rows(scope, owner, rows)
        self._database.write(lambda c: self._restore(c, scope, owner, cells))

    def learn_in(self, connection: Connection, lesson: Lesson, credited: float) -> None:
        """Apply a lesson within the caller's transaction. A cell named twice moves once, by its first move."""
        own, shared = _distinct(lesson)
        ids: _TableIds = {}
        for scope, owner in _tables_of(own + shared):
            row = {"scope": scope, "owner": owner, "reward": credited, "at": now()}
            ids[scope, owner] = connection.execute(self._count, row).scalar_one()
        learned = [self._visit_cell(connection, ids, move, lesson.target) for move in own]
        for move in shared:
            self._visit_cell(connection, ids, move, learned[0])

    def _visit_cell(self, connection: Connection, ids: _TableIds, move: Move, target: float) -> float:
        place = _place(ids, move.cell)
        changed = {**place, **_pull(move, target), "first": _first_value(move, target)}
        learned: float = connection.execute(self._visit[move.averaged], changed).scalar_one()
        return learned

    def _replay(self, connection: Connection, lesson: Lesson) -> None:
        own, shared = _distinct(lesson)
        ids = _lock_tables(connection, _tables_of(own + shared))
        learned = [self._revisit_cell(connection, ids, move, lesson.target) for move in own]
        for move in shared:
            if learned[0] is not None:
                self._revisit_cell(connection, ids, move, learned[0])

    def _revisit_cell(self, connection: Connection, ids: _TableIds, move: Move, target: float) -> float | None:
        """The new value; None where there is nothing to move again."""
        if (move.cell.scope.value, move.cell.owner) not in ids:
            return None
        place = {f"at_{name}": value for name, value in _place(ids, move.cell).items()}
        changed = {**place, **_pull(move, target)}
        return connection.execute(self._revisit[move.averaged], changed).scalar_one_or_none()

    def _initialise(self, connection: Connection, values: Mapping[Cell, float]) -> int:
        names = sorted({(cell.scope.value, cell.owner) for cell in values})
        create = self._database.insert(q_tables).on_conflict_do_nothing()
        for scope, owner in names:
            row = {"scope": scope, "owner": owner, "total_updates": 0, "avg_reward": None, "updated_at": now()}
            connection.execute(create, row)
        ids = _lock_tables(connection, names)
        fresh = {"visits": 0, "mean": 0.0, "m2": 0.0, "updated_at": now()}
        rows = [{**_place(ids, cell), "q_value": value, **fresh} for cell, value in sorted(values.items())]
        insert = self._database.insert(q_values).on_conflict_do_nothing().returning(q_values.c.table_id)
        return len(connection.execute(insert, rows).all())

    def _wipe(self, connection: Connection, scope: Scope, owner: str) -> int:
        ids = _lock_tables(connection, [(scope.value, owner)])
        if not ids:
            return 0
        (table_id,) = ids.values()
        cells = connection.execute(select(func.count()).where(q_values.c.table_id == table_id)).scalar_one()
        connection.execute(delete(q_values).where(q_values.c.table_id == table_id))
        connection.execute(delete(q_tables).where(q_tables.c.id == table_id))
        self._audit.append_in(connection, "wiped", f"{scope.value}/{owner}", {"cells": cells})
        return cells

    def _restore(self, connection: Connection, scope: Scope, owner: str, cells: Mapping[Cell, Entry]) -> None:
        replace_table(connection, self._database, scope, owner, cells)
        self._audit.append_in(connection, "restored", f"{scope.value}/{owner}", {"cells": len(cells)})


_CELLS = select(
    q_tables.c.scope,
    q_tables.c.owner,
    *(q_values.c[name] for name in ("state_key", "action", "q_value", "visits", "mean", "m2")),
).join_from(q_tables, q_values)


def _visit_statement(database: Database, averaged: bool) -> Any:
    """Insert the first visit, or move the cell and Welford's moments. Every right-hand side sees the old row."""
    delta = _unless_faint(_target - q_values.c.mean, 0.0)
    first = q_values.c.visits == 0
    insert = database.insert(q_values).values(
        q_value=bindparam("first", type_=Double),
        visits=1,
        mean=_target,
        m2=0.0,
        updated_at=bindparam("at", type_=q_values.c.updated_at.type),
    )
    return insert.on_conflict_do_update(
        index_elements=["table_id", "state_key", "action"],
        set_={
            "q_value": _moved(averaged),
            "visits": q_values.c.visits + 1,
            "mean": case((first, _target), else_=q_values.c.mean + delta / _visit),
            # δ² · n/(n+1) equals δ · (target − new mean), and rounding can never make it negative.
            "m2": q_values.c.m2 + delta * delta * (case((first, 0.0), else_=(_visit - 1.0) / _visit)),
            "updated_at": insert.excluded.updated_at,
        },
    ).returning(q_values.c.q_value)


def _revisit_statement(averaged: bool) -> Any:
    names = ("table_id", "state_key", "action")
    return (
        update(q_values)
        .where(*(q_values.c[name] == bindparam(f"at_{name}", type_=q_values.c[name].type) for name in names))
        .values(q_value=_moved(averaged), updated_at=bindparam("at", type_=q_values.c.updated_at.type))
        .returning(q_values.c.q_value)
    )


def _moved(averaged: bool) -> Any:
    """q + rate · (target − q); averaged, the rate is at least 1 / visit, and a borrowed value is replaced."""
    gap = _target - q_values.c.q_value
    if not averaged:
        return q_values.c.q_value + _unless_faint(gap, gap, times=_rate)
    rate = case((_rate * _visit >= 1.0, _rate), else_=1.0 / _visit)
    moved = q_values.c.q_value + _unless_faint(gap, gap, times=rate)
    return case((q_values.c.visits == 0, _target), else_=moved)


def _unless_faint(difference: Any, otherwise: Any, times: Any = 1.0) -> Any:
    return case((func.abs(difference) < _FAINT, otherwise), else_=times * difference)


def _pull(move: Move, target: float) -> dict[str, Any]:
    return {"rate": max(move.rate, _FAINT), "target": target, "at": now()}


def _first_value(move: Move, target: float) -> float:
    """The same rule from 0, for a cell that does not exist yet."""
    return target if move.averaged or abs(target) < _FAINT else max(move.rate, _FAINT) * target


def _counting_statement(database: Database) -> Any:
    """Count a lesson for its table, with the running mean of credited rewards. Holds the table's lock."""
    reward = bindparam("reward", type_=Double)
    updates = cast(q_tables.c.total_updates + 1, Double)
    before = func.coalesce(q_tables.c.avg_reward, reward)
    insert = database.insert(q_tables).values(
        total_updates=1, avg_reward=reward, updated_at=bindparam("at", type_=q_tables.c.updated_at.type)
    )
    return insert.on_conflict_do_update(
        index_elements=["scope", "owner"],
        set_={
            "total_updates": q_tables.c.total_updates + 1,
            "avg_reward": before + _unless_faint(reward - before, 0.0) / updates,
            "updated_at": insert.excluded.updated_at,
        },
    ).returning(q_tables.c.id)


def _distinct(lesson: Lesson) -> tuple[list[Move], list[Move]]:
    moves = {id(move): move for move in {m.cell: m for m in reversed(lesson.own + lesson.shared)}.values()}
    return [m for m in lesson.own if id(m) in moves], [m for m in lesson.shared if id(m) in moves]


def _tables_of(moves: Iterable[Move]) -> list[tuple[str, str]]:
    return sorted({(move.cell.scope.value, move.cell.owner) for move in moves})


def _lock_tables(connection: Connection, names: Iterable[tuple[str, str]]) -> _TableIds:
    ids: _TableIds = {}
    for scope, owner in names:
        query = select(q_tables.c.id).where(q_tables.c.scope == scope, q_tables.c.owner == owner).with_for_update()
        found = connection.execute(query).scalar_one_or_none()
        if found is not None:
            ids[scope, owner] = found
    return ids


def _place(ids: _TableIds, cell: Cell) -> dict[str, Any]:
    return {"table_id": ids[cell.scope.value, cell.owner], "state_key": cell.state_key, "action": cell.action}


def _read(connection: Connection, cells: Iterable[Cell]) -> list[tuple[Cell, Entry]]:
    keys = sorted({cell.state_key for cell in cells})
    owners = sorted({cell.owner for cell in cells})
    found: list[tuple[Cell, Entry]] = []
    for start in range(0, len(keys), _BATCH):
        some = q_values.c.state_key.in_(keys[start : start + _BATCH])
        rows = connection.execute(_CELLS.where(q_tables.c.owner.in_(owners), some))
        found.extend(_cell(row) for row in rows)
    return found


def _cell(row: Row[Any]) -> tuple[Cell, Entry]:
    cell = Cell(Scope(row.scope), row.owner, row.state_key, row.action)
    return cell, Entry(q_value=row.q_value, visits=row.visits, mean=row.mean, m2=row.m2)


def _check(cell: Cell, value: float) -> None:
    if not (math.isfinite(value) and abs(value) <= _LIMIT):
        raise RefusedInput(
            f"The value {value!r} for {cell.owner}'s {cell.action!r} was refused, and nothing was changed.",
            f"Give a finite number between {-_LIMIT:g} and {_LIMIT:g}.",
        )
