"""A reward that people corrected, and what follows from it: the row, its sums, the cells it taught."""

from typing import Any

from sqlalchemy import Connection, Double, bindparam, case, cast, select, update

from whet.core.errors import WhetError
from whet.core.feedback import Correction
from whet.core.ports import Lesson, Move
from whet.core.records import now
from whet.store import training_set
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.experiences import experience_of
from whet.store.schema import experiences, q_tables, q_values
from whet.store.sums import SqlSums
from whet.store.view_schema import corrections

_CORRECTING = 0x7768657443  # any number works that all versions agree on
_NOTHING = 1e-12
_by, _target, _rate = (bindparam(name, type_=Double) for name in ("by", "target", "rate"))
_visits = cast(q_values.c.visits, Double)


class Corrections:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit
        self._sums = SqlSums(database)

    def correct_in(self, connection: Connection, correction: Correction) -> float:
        """Locks are taken as learners do: tables before the audit head, sums after it."""
        self._database.take_turns(connection, _CORRECTING)
        row = connection.execute(select(experiences).where(experiences.c.key == correction.key)).one_or_none()
        if row is None:
            raise WhetError(f"There is no experience {correction.key[:80]!r}.", "Correct one that is stored.")
        kept = select(corrections.c.difference).where(corrections.c.key == correction.key)
        missing = correction.difference - (connection.execute(kept).scalar_one_or_none() or 0.0)
        if abs(missing) < _NOTHING:
            return 0.0
        if correction.lesson is not None:
            teach_difference(connection, correction.lesson, missing)
        payload = {"by": missing, "difference": correction.difference, "because": correction.because}
        self._audit.append_in(connection, "corrected", correction.key, payload)
        self._keep(connection, correction, row, missing)
        return missing

    def _keep(self, connection: Connection, correction: Correction, row: Any, missing: float) -> None:
        rewards = {name: getattr(row, name) + missing for name in ("reward_raw", "reward_shaped", "reward_credited")}
        parts = [part.model_dump() for part in correction.parts]
        change = update(experiences).where(experiences.c.id == row.id).values(**rewards, reward_parts=parts)
        corrected = experience_of(connection.execute(change.returning(*experiences.c)).one())
        self._sums.correct_in(connection, corrected, row.reward_credited)
        training_set.correct_in(connection, corrected)
        insert = self._database.insert(corrections).values(
            key=correction.key, difference=correction.difference, at=now()
        )
        kept = {"difference": insert.excluded.difference, "at": insert.excluded.at}
        connection.execute(insert.on_conflict_do_update(index_elements=["key"], set_=kept))


def teach_difference(connection: Connection, lesson: Lesson, difference: float) -> None:
    """As if the target had been another by `difference` when it was taught; no visit is counted.

    Own cells: mean and sum of squares exactly, the value by what one visit weighs. Shared ones follow the first.
    """
    ids = {name: _table(connection, *name) for name in sorted({_name(m) for m in (*lesson.own, *lesson.shared)})}
    moved = 0.0
    for place, move in enumerate(lesson.own):
        told = {"by": difference, "target": lesson.target, "rate": move.rate, "at": now()}
        weight = connection.execute(_OWN, told | _place(ids, move)).scalar_one_or_none()
        if place == 0 and weight is not None:
            moved = weight * difference
    for move in lesson.shared:
        told = {"by": moved, "rate": move.rate, "at": now()}
        connection.execute(_SHARED, told | _place(ids, move))


def _name(move: Move) -> tuple[str, str]:
    return move.cell.scope.value, move.cell.owner


def _table(connection: Connection, scope: str, owner: str) -> int | None:
    query = select(q_tables.c.id).where(q_tables.c.scope == scope, q_tables.c.owner == owner)
    return connection.execute(query.with_for_update()).scalar_one_or_none()


def _place(ids: dict[tuple[str, str], int | None], move: Move) -> dict[str, Any]:
    return {"in_table": ids[_name(move)], "in_state": move.cell.state_key, "of_action": move.cell.action}


_HERE = (
    q_values.c.table_id == bindparam("in_table", type_=q_values.c.table_id.type),
    q_values.c.state_key == bindparam("in_state", type_=q_values.c.state_key.type),
    q_values.c.action == bindparam("of_action", type_=q_values.c.action.type),
    q_values.c.visits > 0,
)
_at = bindparam("at", type_=q_values.c.updated_at.type)
_weight = case((_rate * _visits >= 1.0, _rate), else_=1.0 / _visits)
# Σ(x − mean)² after one x became x + d: + 2d (x − mean) + d² (1 − 1/n). Rounding must not make it negative.
_m2 = q_values.c.m2 + 2.0 * _by * (_target - q_values.c.mean) + _by * _by * (1.0 - 1.0 / _visits)
_OWN = (
    update(q_values)
    .where(*_HERE)
    .values(
        q_value=q_values.c.q_value + _weight * _by,
        mean=q_values.c.mean + _by / _visits,
        m2=case((_m2 > 0.0, _m2), else_=0.0),
        updated_at=_at,
    )
    .returning(case((_rate * _visits >= 1.0, _rate), else_=1.0 / _visits))
)
_SHARED = update(q_values).where(*_HERE).values(q_value=q_values.c.q_value + _rate * _by, updated_at=_at)
