"""What the fleet remembers. How near ones are found is the business of `memory_index` and `memory_pgvector`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select, update

from whet.core.errors import RefusedInput
from whet.core.memories import Embedding, Kind, Memory, Near, Outline, Wanted
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.memory_erasing import Erasing
from whet.store.memory_keeping import Keeping, paired
from whet.store.memory_rows import (
    COLUMNS,
    Places,
    Space,
    batches,
    by_number,
    dimensions_of,
    matching,
    memory_of,
    real_ids,
    space_of,
)
from whet.store.memory_schema import memories, memory_marks, memory_places, memory_spaces
from whet.store.memory_sharing import sharing

_ID_PREFIX = re.compile("[0-9a-f]{0,64}")
_STREAM_ROWS = 1000


class SqlMemories:
    """Implements `whet.core.memories.Memories`."""

    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._keeping = Keeping(database)
        self._erasing = Erasing(database, audit)

    @cached_property
    def _places(self) -> Places:
        """Imported when memory is used: numpy takes as long as opening a store."""
        if self._database.is_sqlite:
            from whet.store.memory_index import IndexedPlaces

            return IndexedPlaces(self._database, Path(str(self._database.engine.url.database)))
        from whet.store.memory_pgvector import PgvectorPlaces

        return PgvectorPlaces(self._database)

    def keep(self, memories: Sequence[Memory], model: str, embeddings: Sequence[Embedding]) -> int:
        paired(memories, embeddings)
        if not memories:
            return 0
        self._places.prepare()
        new, spaces = self._database.write(lambda c: self._keeping.keep(c, memories, model, embeddings))
        self._tend(spaces)
        return new

    def get(self, ids: Sequence[str]) -> list[Memory]:
        found = {each.id: each for each in self._database.read(lambda connection: _by_id(connection, ids))}
        return [found[each] for each in dict.fromkeys(ids) if each in found]

    def find(self, project: str, prefix: str, limit: int = 10) -> list[Memory]:
        if _ID_PREFIX.fullmatch(prefix) is None:
            return []
        begins = (memories.c.id >= prefix, memories.c.id < prefix + "g")  # "g" comes after every digit
        query = select(*COLUMNS).where(memories.c.project == project, *begins)
        return self._fetch(query.order_by(memories.c.id).limit(max(0, limit)))

    def newest(self, wanted: Wanted, limit: int, offset: int = 0) -> list[Memory]:
        query = select(*COLUMNS).where(*matching(wanted)).order_by(memories.c.at.desc(), memories.c.id)
        return self._fetch(query.limit(max(0, limit)).offset(max(0, offset)))

    def nearest(
        self, wanted: Wanted, model: str, embedding: Embedding, limit: int, *, exact: bool = False
    ) -> list[Near]:
        space, found = self._database.read(lambda c: self._nearest(c, wanted, model, embedding, limit, exact))
        self._tend({} if space is None else {space: 0})
        return found

    def sharing(self, wanted: Wanted, subjects: Sequence[str], limit: int) -> list[Near]:
        def work(connection: Connection) -> list[Near]:
            return _near(connection, sharing(connection, wanted, subjects, max(0, limit)))

        return self._database.read(work)

    def count(self, wanted: Wanted) -> int:
        query = select(func.count()).select_from(memories).where(*matching(wanted))
        return self._database.read(lambda connection: connection.execute(query).scalar_one())

    def projects(self) -> list[str]:
        return sorted(self._database.read(_projects))

    def note_use(self, ids: Sequence[str], at: datetime) -> None:
        later = memories.c.last_used.is_(None) | (memories.c.last_used < at)
        used = update(memories).values(used=memories.c.used + 1)
        seen = update(memories).values(last_used=at).where(later)

        def work(connection: Connection) -> None:
            for batch in batches(real_ids(ids)):
                connection.execute(used.where(memories.c.id.in_(batch)))
                connection.execute(seen.where(memories.c.id.in_(batch)))

        if ids:
            self._database.write(work)

    def pin(self, memory_id: str, pinned: bool) -> bool:
        change = update(memories).where(memories.c.id.in_(real_ids([memory_id]))).values(pinned=pinned)
        return self._database.write(lambda connection: connection.execute(change).rowcount) > 0

    def outlines(self, project: str) -> Iterator[Outline]:
        query = select(*(memories.c[name] for name in Outline._fields)).where(memories.c.project == project)
        streamed = query.execution_options(yield_per=_STREAM_ROWS)
        for row in self._database.stream(lambda connection: iter(connection.execute(streamed))):
            yield Outline(*row)._replace(kind=Kind(row.kind))

    def forget(self, ids: Sequence[str], why: str) -> int:
        known = real_ids(ids)
        with self._places.unlearning(known):
            gone = self._database.write(lambda connection: self._erasing.delete(connection, known, why))
        self._erasing.wipe()
        return gone

    def models(self, project: str) -> dict[str, int]:
        query = select(memory_spaces.c.model, func.count()).join_from(memory_places, memory_spaces)
        query = query.where(memory_spaces.c.project == project).group_by(memory_spaces.c.model)
        return dict(self._database.read(lambda connection: [(row[0], row[1]) for row in connection.execute(query)]))

    def without(self, project: str, model: str, limit: int) -> list[Memory]:
        placed = select(memory_places.c.number).join(memory_spaces)
        placed = placed.where(memory_spaces.c.project == project, memory_spaces.c.model == model)
        query = select(*COLUMNS).where(
            memories.c.project == project, ~placed.where(memory_places.c.memory == memories.c.seq).exists()
        )
        return self._fetch(query.order_by(memories.c.at.desc(), memories.c.id).limit(max(0, limit)))

    def place(self, ids: Sequence[str], model: str, embeddings: Sequence[Embedding]) -> None:
        paired(ids, embeddings)
        if ids:
            self._places.prepare()
            self._tend(self._database.write(lambda c: self._place(c, dict(zip(ids, embeddings, strict=True)), model)))

    def drop_model(self, project: str, model: str) -> None:
        space = self._database.read(lambda connection: space_of(connection, project, model))
        if space is not None:
            with self._places.dropping(space):
                self._database.write(lambda connection: _drop(connection, space))

    def mark(self, project: str, name: str) -> int:
        query = select(memory_marks.c.position).where(memory_marks.c.project == project, memory_marks.c.name == name)
        return self._database.read(lambda connection: connection.scalar(query)) or 0

    def set_mark(self, project: str, name: str, position: int) -> None:
        if not 0 <= position < 2**63:
            raise RefusedInput(f"The mark {name[:80]!r} cannot stand at {position}.", "Count from 0.")
        insert = self._database.insert(memory_marks).values(project=project, name=name, position=position)
        ahead = insert.excluded.position > memory_marks.c.position
        further = insert.on_conflict_do_update(
            index_elements=["project", "name"], set_={"position": insert.excluded.position}, where=ahead
        )
        self._database.write(lambda connection: connection.execute(further))

    def _nearest(
        self, connection: Connection, wanted: Wanted, model: str, embedding: Embedding, limit: int, exact: bool
    ) -> tuple[Space | None, list[Near]]:
        from whet.store.memory_likeness import best, checked_dimensions

        space = space_of(connection, wanted.project, model)
        known = dimensions_of(connection, model) if space is None else space.dimensions
        checked_dimensions([embedding], model, known)
        if space is None or limit < 1:
            return None, []
        found = self._places.near(connection, space, wanted, embedding, limit, exact)
        return space, _near(connection, best(embedding, found, limit))

    def _place(self, connection: Connection, placed: dict[str, Embedding], model: str) -> dict[Space, int]:
        query = select(memories.c.id, memories.c.seq, memories.c.project)
        found = [
            row
            for batch in batches(real_ids(placed))
            for row in connection.execute(query.where(memories.c.id.in_(batch)).with_for_update())
        ]
        spaces: dict[Space, int] = {}
        for project in sorted({row.project for row in found}):
            of_project = {row.seq: placed[row.id] for row in found if row.project == project}
            spaces[self._keeping.place(connection, project, model, of_project)] = len(of_project)
        return spaces

    def _tend(self, spaces: Mapping[Space, int]) -> None:
        for space, kept in spaces.items():
            self._places.tend(space, kept)

    def _fetch(self, query: Select[Any]) -> list[Memory]:
        return [memory_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]


def _by_id(connection: Connection, ids: Sequence[str]) -> list[Memory]:
    queries = [select(*COLUMNS).where(memories.c.id.in_(batch)) for batch in batches(real_ids(ids))]
    return [memory_of(row) for query in queries for row in connection.execute(query)]


def _projects(connection: Connection) -> list[str]:
    """From each to the next: one look in the index a project, however many memories it has."""
    found: list[str] = []
    query = select(func.min(memories.c.project))
    project = connection.scalar(query)
    while project is not None:
        found.append(project)
        project = connection.scalar(query.where(memories.c.project > project))
    return found


def _drop(connection: Connection, space: Space) -> None:
    connection.execute(delete(memory_places).where(memory_places.c.space == space.number))
    connection.execute(delete(memory_spaces).where(memory_spaces.c.number == space.number))


def _near(connection: Connection, numbers: Sequence[tuple[int, float]]) -> list[Near]:
    found = by_number(connection, [number for number, _ in numbers])
    return [Near(found[number], likeness) for number, likeness in numbers]
