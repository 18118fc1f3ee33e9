"""Finding near places with PostgreSQL's extension pgvector.

Rows hold plain numbers, so that a server without the extension serves everything but memory.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Double, Integer, Select, bindparam, cast, func, literal, select, text
from sqlalchemy.types import LargeBinary, UserDefinedType

from whet.core.errors import MissingTool, WhetError
from whet.core.memories import Embedding, Wanted
from whet.store.columns import Place
from whet.store.engine import Database
from whet.store.memory_likeness import MARGIN
from whet.store.memory_pg_indexing import PgIndexing, index_prefix
from whet.store.memory_rows import Found, Space, matching, narrowed
from whet.store.memory_schema import memories, memory_places

_CREATING = 0x776865744D  # any number works that all versions agree on
# Ten lists of a million places, and as many places of fewer: of 40,000 fifty lists, for n places have √n lists.
# Where too little in the lists looked at first is wanted, it goes on to others, up to `max_probes`.
_SEARCH = text(
    "SELECT set_config('ivfflat.probes', probes::text, true), "
    "set_config('ivfflat.max_probes', (8 * probes)::text, true), "
    "set_config('ivfflat.iterative_scan', 'relaxed_order', true) "
    "FROM (SELECT greatest(10, (10000 / sqrt(greatest(100, max(reltuples))))::int) AS probes "
    "FROM pg_class WHERE starts_with(relname, :prefix)) AS laid_out"
)


class _Vector(UserDefinedType[Any]):
    """`vector` in single, `halfvec` in half precision."""

    cache_ok = True

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self.dimensions = dimensions

    def get_col_spec(self, **_: Any) -> str:
        return f"{self.name}({self.dimensions})"


class PgvectorPlaces:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._indexing = PgIndexing(database)
        self._ready = False

    def prepare(self) -> None:
        """The extension, made when memory is first used; asked for once."""
        if not self._ready and not self._database.read(_has_extension):
            self._create()
        self._ready = True

    def near(
        self, connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int, exact: bool
    ) -> list[Found]:
        found = [] if exact else _roughly(connection, space, wanted, asked, limit)
        return found if len(found) >= limit else _exactly(connection, space, wanted, asked, limit)

    def tend(self, space: Space, kept: int) -> None:
        self._indexing.tend(space, kept)

    def unlearning(self, ids: Sequence[str]) -> AbstractContextManager[None]:
        return nullcontext()  # the server's indexes follow its rows

    def dropping(self, space: Space) -> AbstractContextManager[None]:
        return self._indexing.dropping(space)

    def _create(self) -> None:
        def work(connection: Connection) -> None:
            self._database.take_turns(connection, _CREATING)
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))

        try:
            self._database.write(work)
        except WhetError as error:
            reason = error.problem.splitlines()[0]
            raise MissingTool(
                f"Memory on PostgreSQL needs the extension pgvector, which could not be made. {reason}.",
                "Install pgvector on the server and let an administrator run CREATE EXTENSION vector in this database.",
            ) from error


def _has_extension(connection: Connection) -> bool:
    return connection.scalar(text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")) is not None


def _roughly(connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int) -> list[Found]:
    connection.execute(_SEARCH, {"prefix": index_prefix(space)})
    return _found(connection, _rough_query(space, wanted), {"asked": asked, "most": 2 * limit + 20})


@lru_cache(maxsize=64)
def _rough_query(space: Space, wanted: Wanted) -> Select[Any]:
    """Kept: putting it together takes longer than everything else that is done on this side."""
    sent = func.array_send(memory_places.c.embedding, type_=LargeBinary)
    query = select(memory_places.c.number, memories.c.seq, memories.c.id, sent).join_from(memory_places, memories)
    query = query.where(memory_places.c.space == _written(space), *narrowed(wanted))
    distance = _distance(_Vector("halfvec", space.dimensions))
    return query.order_by(distance).limit(bindparam("most", type_=Integer))


def _exactly(connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int) -> list[Found]:
    distance = _distance(_Vector("vector", space.dimensions)).label("distance")
    query = select(memory_places.c.number, distance).where(memory_places.c.space == space.number)
    if narrowed(wanted):
        query = query.join(memories).where(*matching(wanted))
    every = query.cte("every").prefix_with("MATERIALIZED", dialect="postgresql")
    first = select(every.c.distance).order_by(every.c.distance).limit(limit).subquery()
    last = select(func.max(first.c.distance)).scalar_subquery()
    sent = func.array_send(memory_places.c.embedding, type_=LargeBinary)
    chosen = select(memory_places.c.number, memories.c.seq, memories.c.id, sent).join_from(memory_places, memories)
    chosen = chosen.join(every, memory_places.c.number == every.c.number)
    return _found(connection, chosen.where(every.c.distance <= last + MARGIN), {"asked": asked})


def _written(space: Space) -> ColumnElement[int]:
    """Written into the statement: the planner takes an index of one space only if it sees which space is asked for."""
    return literal(space.number, literal_execute=True)


def _distance(kind: _Vector) -> ColumnElement[float]:
    question = cast(bindparam("asked", type_=Place), kind)
    return cast(memory_places.c.embedding, kind).op("<=>", return_type=Double())(question)


def _found(connection: Connection, query: Select[Any], given: dict[str, Any]) -> list[Found]:
    return [_received(row) for row in connection.execute(query, given).all()]


def _received(row: Any) -> Found:
    """PostgreSQL's binary form of an array: a head of 20 bytes, then each number behind its length."""
    numbers = np.frombuffer(row[3], dtype=[("length", ">i4"), ("number", ">f4")], offset=20)["number"]
    return Found(row[0], row[1], row[2], numbers.astype("<f4").tobytes())
