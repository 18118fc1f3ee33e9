"""The training set: experiences that wait for a batch, and batches that were trained with.

"Oldest" is who was collected first. Writers take turns, so a batch is whole when it is closed.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Select, delete, func, select, update

from whet.core.errors import RefusedInput
from whet.core.learning_log import Batch
from whet.core.records import Experience, now
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.escapes import canonical_json, from_document
from whet.store.learning_schema import batches, training_experiences, training_set
from whet.store.validated import validated

_CHANGING = 0x7768657454  # any number works that all versions agree on
_CHUNK = 500
_WAITING = training_set.c.batch.is_(None)
_HELD = training_set.c.let_go_at.is_(None)
_LEVEL = 1  # of compression; more saves little on a few kilobytes


class TrainingSet:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit
        insert = database.insert(training_set).on_conflict_do_nothing(index_elements=["key"])
        self._insert_new = insert.returning(training_set.c.id, training_set.c.key)

    def collect(self, experiences: Sequence[Experience], at: datetime) -> int:
        distinct: dict[str, Experience] = {}
        for each in map(validated, experiences):
            distinct.setdefault(each.key, each)
        bodies = {key: _packed(each) for key, each in distinct.items()}
        rows = [{"key": key, "agent": each.agent, "collected_at": at} for key, each in distinct.items()]
        return self._database.write(lambda connection: self._collect(connection, rows, bodies)) if rows else 0

    def waiting(self, agent: str) -> tuple[int, datetime | None]:
        return self._database.read(lambda connection: _waiting(connection, agent))

    def agents_waiting(self) -> list[str]:
        query = select(training_set.c.agent).where(_WAITING).distinct()
        return sorted(self._database.read(lambda connection: connection.scalars(query).all()))

    def close_batch(self, agent: str, at: datetime, fewest: int) -> Batch | None:
        return self._database.write(lambda connection: self._close(connection, agent, at, fewest))

    def batches(self, agent: str | None = None) -> list[Batch]:
        query = select(batches).order_by(batches.c.number.desc())
        query = query if agent is None else query.where(batches.c.agent == agent)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [Batch(**row._mapping) for row in rows]

    def members(self, batch: int) -> list[Experience]:
        wanted = _PLACES.where(training_set.c.batch == batch, _HELD).order_by(training_set.c.id)
        return self._fetch(wanted)

    def trained_before(self, agent: str, batch: int, limit: int) -> list[Experience]:
        newest = (training_set.c.batch.desc(), training_set.c.id.desc())
        wanted = _PLACES.where(training_set.c.agent == agent, training_set.c.batch < batch, _HELD)
        return self._fetch(wanted.order_by(*newest).limit(max(0, limit)))[::-1]

    def trim(self, kept: int) -> int:
        if kept < 0:
            raise RefusedInput(f"{kept} experiences cannot be kept.", "Give 0 or more.")
        return self._database.write(lambda connection: self._trim(connection, kept))

    def forget_in(self, connection: Connection, before: datetime) -> int:
        """As many rows are read as replay holds and were let go since, which `trim` reads as well."""
        self._database.take_turns(connection, _CHANGING)
        newest = connection.execute(select(func.max(training_set.c.id))).scalar_one() or 0
        going = (training_set.c.id <= newest, ~_HELD, training_set.c.collected_at < before)
        return connection.execute(delete(training_set).where(*going)).rowcount

    def _collect(self, connection: Connection, rows: list[dict[str, Any]], bodies: dict[str, bytes]) -> int:
        self._database.take_turns(connection, _CHANGING)
        new = connection.execute(self._insert_new, rows).all()
        if new:
            connection.execute(
                training_experiences.insert(), [{"id": row.id, "packed": bodies[row.key]} for row in new]
            )
        return len(new)

    def _close(self, connection: Connection, agent: str, at: datetime, fewest: int) -> Batch | None:
        self._database.take_turns(connection, _CHANGING)
        size, _ = _waiting(connection, agent)
        if size < max(1, fewest):
            return None
        mine = (training_set.c.agent == agent, _WAITING)
        first, last = (
            connection.execute(select(training_set.c.key).where(*mine).order_by(order).limit(1)).scalar_one()
            for order in (training_set.c.id, training_set.c.id.desc())
        )
        row = {"agent": agent, "size": size, "first": first, "last": last, "closed_at": at}
        number = connection.execute(batches.insert().returning(batches.c.number), row).scalar_one()
        connection.execute(update(training_set).where(*mine).values(batch=number))
        batch = Batch(number=number, **row)
        self._audit.append_in(connection, "batch-closed", f"batch {number}", row)
        return batch

    def _trim(self, connection: Connection, kept: int) -> int:
        self._database.take_turns(connection, _CHANGING)
        order = (training_set.c.batch.desc(), training_set.c.id.desc())
        batched = (training_set.c.batch.is_not(None), _HELD)
        query = select(training_set.c.batch, training_set.c.id).where(*batched).order_by(*order)
        newest_to_go = connection.execute(query.offset(kept).limit(1)).one_or_none()
        if newest_to_go is None:
            return 0
        return self._let_go(connection, *newest_to_go)

    def _let_go(self, connection: Connection, batch: int, last: int) -> int:
        """Everything of earlier batches, and of this one up to `last`."""
        newer = (training_set.c.batch == batch) & (training_set.c.id > last)
        older = (training_set.c.batch <= batch, ~newer, _HELD)
        going = select(training_set.c.id).where(*older)
        connection.execute(delete(training_experiences).where(training_experiences.c.id.in_(going)))
        gone = connection.execute(update(training_set).where(*older).values(let_go_at=now())).rowcount
        self._audit.append_in(connection, "experiences-let-go", f"batch {batch}", {"experiences": gone})
        return gone

    def _fetch(self, places: Select[Any]) -> list[Experience]:
        return self._database.read(lambda connection: list(_read(connection, places)))


_PLACES = select(training_set.c.id)


def _waiting(connection: Connection, agent: str) -> tuple[int, datetime | None]:
    query = select(func.count(), func.min(training_set.c.collected_at)).where(training_set.c.agent == agent, _WAITING)
    size, oldest = connection.execute(query).one()
    return size, oldest


def _read(connection: Connection, places: Select[Any]) -> Iterator[Experience]:
    """In the order of `places`: found first, in the narrow table, and only then read."""
    ids = connection.scalars(places).all()
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        query = select(training_experiences).where(training_experiences.c.id.in_(some))
        packed = {row.id: row.packed for row in connection.execute(query)}
        yield from (lived for each in some if (lived := _unpacked(packed[each])) is not None)


def _packed(experience: Experience) -> bytes:
    return zlib.compress(canonical_json(experience.model_dump()).encode(), _LEVEL)


def _unpacked(packed: bytes) -> Experience | None:
    """None for what another version collected in a form that is not known here."""
    try:
        return Experience.model_validate(from_document(json.loads(zlib.decompress(packed))))
    except ValidationError:
        return None


def correct_in(connection: Connection, experience: Experience) -> None:
    """Whoever trains from now on trains with the reward that people corrected."""
    place = select(training_set.c.id).where(training_set.c.key == experience.key).scalar_subquery()
    change = update(training_experiences).where(training_experiences.c.id == place)
    connection.execute(change.values(packed=_packed(experience)))
