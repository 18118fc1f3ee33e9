"""A whole Q-table put back as it was."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete

from whet.core.errors import RefusedInput
from whet.core.ports import LARGEST_Q_VALUE, Cell, Entry, Scope
from whet.core.records import now
from whet.store.engine import Database
from whet.store.schema import q_tables, q_values
from whet.store.validated import validated

_MOST_VISITS = 2**63 - 1


def checked_rows(scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> dict[Cell, Entry]:
    return {cell: _checked(scope, owner, cell, entry) for cell, entry in sorted(rows.items())}


def replace_table(
    connection: Connection, database: Database, scope: Scope, owner: str, cells: Mapping[Cell, Entry]
) -> None:
    """What lessons it had, and their mean reward, stay: they are history, not part of what it answers."""
    table_id = connection.execute(_claiming(database, scope, owner)).scalar_one()
    connection.execute(delete(q_values).where(q_values.c.table_id == table_id))
    rows = [
        {"table_id": table_id, "state_key": cell.state_key, "action": cell.action, "updated_at": now()}
        | entry.model_dump()
        for cell, entry in cells.items()
    ]
    if rows:
        connection.execute(q_values.insert(), rows)
    else:
        connection.execute(delete(q_tables).where(q_tables.c.id == table_id))


def _claiming(database: Database, scope: Scope, owner: str) -> Any:
    """The table's number, made when it does not exist; in either case nobody else learns in it meanwhile."""
    insert = database.insert(q_tables).values(scope=scope.value, owner=owner, total_updates=0, updated_at=now())
    touched = {"updated_at": insert.excluded.updated_at}
    return insert.on_conflict_do_update(index_elements=["scope", "owner"], set_=touched).returning(q_tables.c.id)


def _checked(scope: Scope, owner: str, cell: Cell, entry: Entry) -> Entry:
    if (cell.scope, cell.owner) != (scope, owner):
        raise RefusedInput(
            f"A cell of {cell.scope.value}/{cell.owner} was among those of {scope.value}/{owner}; nothing was changed.",
            "Restore one table at a time.",
        )
    checked = validated(entry)
    if abs(checked.q_value) > LARGEST_Q_VALUE or checked.visits > _MOST_VISITS:
        raise RefusedInput(
            f"{owner}'s {cell.action!r} was to be {checked.q_value!r} after {checked.visits} visits; "
            "nothing was changed.",
            f"Give a value within ±{LARGEST_Q_VALUE:g} and at most {_MOST_VISITS} visits.",
        )
    return checked
