"""What an agent's tables held at one moment, as one file that gives back every bit.

`tables.json` has the agent's own table and those of its category and of the fleet, which it falls back on. Numbers are
written by `repr`, the shortest text that reads back as the same number, cells are sorted, and a checksum is of all of
it: equal tables are equal bytes.

    digest = save(folder, store.tables, "test-executor", "core-testing")
    tables = opened(folder, "test-executor")              # in the process, to decide with
    put_back(folder, "test-executor", store.tables)       # what the store knew, as it was then
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, PlainValidator, ValidationError

from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Cell, Entry, QTables, QValue, Scope
from whet.core.records import Record
from whet.policies.hierarchy import FLEET
from whet.policies.in_process import InProcessTables

FILE = "tables.json"
LARGEST_BYTES = 64 << 20
MOST_CELLS = 200_000
LONGEST_NAME = 200


def _name(told: Any) -> str:
    """Any text that a store takes, halves of characters too, which pydantic's own `str` does not know."""
    if not isinstance(told, str) or len(told) > LONGEST_NAME:
        raise ValueError(f"a name is text of at most {LONGEST_NAME} characters")
    return told


Name = Annotated[str, PlainValidator(_name)]
_Visits = Annotated[int, Field(ge=0, lt=1 << 53)]
_Row = tuple[Name, Name, QValue, _Visits, QValue, Annotated[float, Field(ge=0.0)]]


class _Table(Record):
    scope: Scope
    owner: Name
    cells: tuple[_Row, ...]


class _Snapshot(Record):
    schema_version: Literal[1] = 1
    agent: Name
    tables: tuple[_Table, ...]


def save(folder: Path, tables: QTables, agent: str, category: str) -> str:
    """The digest, which names what the file holds. Written whole or not at all."""
    chain = ((Scope.INDIVIDUAL, agent), (Scope.CATEGORY, category), (Scope.FLEET, FLEET))
    held = [_told(scope, owner, tables.rows(scope, owner)) for scope, owner in chain]
    if sum(len(each["cells"]) for each in held) > MOST_CELLS:
        raise RefusedInput(
            f"The tables of {agent} have more than {MOST_CELLS:,} cells.", "Bin its states more coarsely, or wipe them."
        )
    told = {"schema_version": 1, "agent": agent, "tables": held}
    _write(folder, _sealed(told))
    return _digest(told)


def opened(folder: Path, agent: str) -> InProcessTables:
    tables = InProcessTables()
    put_back(folder, agent, tables, shared=True)
    return tables


def put_back(folder: Path, agent: str, tables: QTables, *, shared: bool = False) -> None:
    """Into other tables, such as a store's. What others teach too is left alone unless `shared` is said."""
    for table in _read(folder / FILE, agent).tables:
        if shared or table.scope is Scope.INDIVIDUAL:
            tables.restore(table.scope, table.owner, dict(_entry(table, row) for row in table.cells))


def _told(scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> dict[str, Any]:
    cells = [[c.state_key, c.action, e.q_value, e.visits, e.mean, e.m2] for c, e in sorted(rows.items(), key=_place)]
    return {"scope": scope.value, "owner": owner, "cells": cells}


def _place(row: tuple[Cell, Entry]) -> tuple[str, str]:
    return row[0].state_key, row[0].action


def _entry(table: _Table, row: _Row) -> tuple[Cell, Entry]:
    state_key, action, q_value, visits, mean, m2 = row
    entry = Entry(q_value=q_value, visits=visits, mean=mean, m2=m2)
    return Cell(table.scope, table.owner, state_key, action), entry


def _read(path: Path, agent: str) -> _Snapshot:
    """Refused by the name of the file unless it is exactly what `save` wrote for this agent."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES + 1)
        if len(text) > LARGEST_BYTES:
            raise ValueError(f"it is larger than {LARGEST_BYTES >> 20} MB")
        told = json.loads(text, parse_constant=_refuse_constant)
        if text != _sealed(told["snapshot"]):
            raise ValueError("it was changed since it was saved")
        found = _Snapshot.model_validate(told["snapshot"])
    except FileNotFoundError as error:
        raise RefusedInput(f"There is no snapshot of tables in {path.parent}.", "Train a candidate first.") from error
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        _refuse(path, _first(error))
    if problem := _problem(found, agent):
        _refuse(path, problem)
    return found


def _problem(found: _Snapshot, agent: str) -> str | None:
    if found.agent != agent:
        return f"it is of {found.agent}, not of {agent}"
    if [table.scope for table in found.tables] != list(Scope) or found.tables[0].owner != agent:
        return "its tables are not those of one agent, its category and the fleet"
    cells = [(table.scope, *row[:2]) for table in found.tables for row in table.cells]
    if len(cells) > MOST_CELLS:
        return f"it has more than {MOST_CELLS:,} cells"
    return None if len(set(cells)) == len(cells) else "it has a cell twice"


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        told = error.errors()[0]
        return f"{'.'.join(str(part) for part in told['loc'])}: {told['msg']}"
    return str(error)[:200]


def _refuse(path: Path, problem: str) -> NoReturn:
    raise RefusedInput(f"The tables were not opened: {path}: {problem}.", "Open another snapshot, or train again.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that a table holds")


def _canonical(told: Any) -> str:
    try:
        return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise RefusedInput(
            "A table holds numbers that are not finite.", "Wipe that table, and let it be learned anew."
        ) from error


def _sealed(told: Any) -> bytes:
    return (_canonical({"sha256": _digest(told), "snapshot": told}) + "\n").encode()


def _digest(told: Any) -> str:
    return hashlib.sha256(_canonical(told).encode()).hexdigest()


def _write(folder: Path, text: bytes) -> None:
    if len(text) > LARGEST_BYTES:
        raise RefusedInput(f"The tables are larger than {LARGEST_BYTES >> 20} MB.", "Bin states more coarsely.")
    part = folder / f".{FILE}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / FILE)
    except OSError as error:
        with suppress(OSError):  # where not even the folder could be made there is nothing to clear away
            part.unlink()
        raise WhetError(
            f"The tables could not be saved in {folder}: {error}.", "Make room or choose another folder, and try again."
        ) from error
