"""The indexes of places on PostgreSQL: one for each large space, laid out anew when it has grown several times.

Lists rather than a graph (HNSW): a graph takes fifteen times as long to build and milliseconds more for each place
that comes, and lists find more.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from whet.store.engine import Database
from whet.store.memory_rows import Space
from whet.store.memory_schema import memory_places

FEW_ROWS = 10_000  # so many are searched one by one in some ten milliseconds
_GROWN = 4
_LOOK_EVERY = 1_000
_MOST_LISTS = 1024
_BUILDING = 0x77686574490000  # behind it the space's number; any numbers work that all versions agree on
_MEMORY = "512MB"  # what laying out 1024 lists takes
# Their names carry how many rows they were laid out for.
_KNOWN = text(
    "SELECT c.relname, c.reltuples, i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid "
    "WHERE i.indrelid = 'memory_places'::regclass AND starts_with(c.relname, :prefix)"
)


class PgIndexing:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: Counter[int] = Counter()

    def tend(self, space: Space, kept: int) -> None:
        """After `kept` more were kept; most calls do nothing. What was kept is kept, even if this fails."""
        first = space.number not in self._kept
        self._kept[space.number] += kept
        if first or self._kept[space.number] >= _LOOK_EVERY:
            self._kept[space.number] = 0
            if self._database.read(lambda connection: _is_overdue(connection, space)):
                with suppress(DBAPIError), self._alone(space) as connection:
                    _renew(connection, space)

    @contextmanager
    def dropping(self, space: Space) -> Iterator[None]:
        yield
        with self._alone(space) as connection:
            _drop(connection, [name for name, _, _ in _known(connection, space)])

    @contextmanager
    def _alone(self, space: Space) -> Iterator[Connection]:
        """Indexes are made beside reading and writing, which PostgreSQL does outside of transactions alone."""
        lock = {"lock": _BUILDING + space.number}
        with self._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), lock)
            try:
                yield connection
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:lock)"), lock)


def index_prefix(space: Space) -> str:
    return f"near_{space.number}_"


def _known(connection: Connection, space: Space) -> list[tuple[str, float, bool]]:
    return [(row[0], row[1], row[2]) for row in connection.execute(_KNOWN, {"prefix": index_prefix(space)})]


def _is_overdue(connection: Connection, space: Space) -> bool:
    known = [(name, rows) for name, rows, is_valid in _known(connection, space) if is_valid]
    if known:
        return all(rows > _GROWN * int(name.rpartition("_")[2]) for name, rows in known)
    some = select(memory_places.c.number).where(memory_places.c.space == space.number).limit(FEW_ROWS + 1)
    return connection.execute(select(func.count()).select_from(some.subquery())).scalar_one() > FEW_ROWS


def _renew(connection: Connection, space: Space) -> None:
    if not _is_overdue(connection, space):  # another process was faster
        return
    _drop(connection, [name for name, _, is_valid in _known(connection, space) if not is_valid])  # of one who died
    older = [name for name, _, _ in _known(connection, space)]
    rows = connection.execute(
        select(func.count()).select_from(memory_places).where(memory_places.c.space == space.number)
    ).scalar_one()
    place = f"(CAST(embedding AS halfvec({space.dimensions}))) halfvec_cosine_ops"
    lists = max(16, min(_MOST_LISTS, int(rows**0.5)))
    connection.execute(text(f"SET maintenance_work_mem = '{_MEMORY}'"))
    connection.execute(
        text(
            f"CREATE INDEX CONCURRENTLY {index_prefix(space)}{rows} ON memory_places USING ivfflat ({place}) "
            f"WITH (lists = {lists}) WHERE space = {space.number}"
        )
    )
    connection.execute(text("RESET maintenance_work_mem"))
    _drop(connection, older)


def _drop(connection: Connection, names: list[str]) -> None:
    for name in names:
        connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))
