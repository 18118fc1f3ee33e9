"""The database as the rest of the store sees it: reads, and writes that either happen or do not."""

import math
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql.schema import Table

from whet.core.errors import Busy, MissingTool, WhetError

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

    Upsert = sqlite.Insert | postgresql.Insert

T = TypeVar("T")

BUSY_SECONDS = 120  # 128 writers queueing for one file, each fsyncing, on a slow disk
_TRIES = 8
_RETRY_SQLSTATES = {"40001", "40P01"}  # serialization failure, deadlock


class Database:
    """One engine. `write` runs its work in one transaction, again if the server asks for it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.shown = engine.url.render_as_string(hide_password=True)
        # Threads of one process queue here in turn; SQLite's own waiting is polling, and unfair.
        self._one_writer = threading.RLock() if self.is_sqlite else nullcontext()

    def insert(self, table: Table) -> "Upsert":
        if self.is_sqlite:
            return sqlite.insert(table)
        from sqlalchemy.dialects import postgresql  # slow to import, and most have no use for it

        return postgresql.insert(table)

    def read(self, work: Callable[[Connection], T]) -> T:
        """One consistent picture: all statements of `work` see the same moment."""
        with self._plain_errors(), self._picture() as connection:
            return work(connection)

    def stream(self, work: Callable[[Connection], Iterator[T]]) -> Iterator[T]:
        """The same for what is read little by little; a connection is in use until the iterator ends or is dropped."""
        with self._plain_errors(), self._picture() as connection:
            yield from work(connection)

    def write(self, work: Callable[[Connection], T]) -> T:
        with self._plain_errors(), self._one_writer:
            for attempt in range(_TRIES):
                try:
                    return self._write_once(work)
                except DBAPIError as error:
                    if attempt == _TRIES - 1 or not _asks_for_retry(error):
                        raise
                    time.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - jitter, not a secret
        raise AssertionError("unreachable: the last attempt returns or raises")

    def take_turns(self, connection: Connection, lock: int) -> None:
        """PostgreSQL's writers that name the same lock wait for each other, as SQLite's do anyway."""
        if not self.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """No writer of this process is at work meanwhile."""
        with self._one_writer:
            yield

    @contextmanager
    def _picture(self) -> Iterator[Connection]:
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self.engine.connect() as connection, connection.execution_options(**level).begin():
            yield connection

    def _write_once(self, work: Callable[[Connection], T]) -> T:
        with self.engine.connect().execution_options(whet_writes=True) as connection, connection.begin():
            return work(connection)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except StatementError as error:
            if isinstance(error.orig, WhetError):
                raise error.orig from None
            raise plain_error(error, self.shown) from error
        except PoolTimeout as error:
            raise Busy(f"All connections to {self.shown} stayed in use.", "Use fewer threads.") from error


def plain_error(error: StatementError | sqlite3.Error, shown: str) -> WhetError:
    """What a driver's error means to the person in front of it."""
    cause = error.orig if isinstance(error, StatementError) else error
    message = str(cause).strip()
    if "malformed" in message or "not a database" in message:
        return WhetError(
            f"The store {shown} is damaged or is not a SQLite database ({message}). It was left untouched.",
            "Move the file away to start afresh, or put a backup in its place.",
        )
    if "locked" in message or "busy" in message or "lock timeout" in message:
        return Busy(f"The store {shown} stayed locked by another process.", "Wait for that process, or end it.")
    return WhetError(
        f"The store {shown} cannot be used: {message}.",
        "Check that it exists, that it may be written to, and that there is room left.",
    )


def sqlite_engine(path: Path, wait_seconds: float = BUSY_SECONDS) -> Engine:
    """An engine on an existing file. It never creates one: a deleted store must not come back empty."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=lambda: connect_sqlite(path, "rw", wait_seconds),
        pool_size=5,
        max_overflow=20,
        pool_timeout=wait_seconds,
    )
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def connect_sqlite(path: Path, mode: str, wait_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=wait_seconds,
        isolation_level=None,  # transactions are begun by us, IMMEDIATE for writes
        check_same_thread=False,
    )
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("whet_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def postgres_engine(url: URL, wait_seconds: float = BUSY_SECONDS) -> Engine:
    try:
        import psycopg  # noqa: F401 - optional: only teams need it
    except ImportError as error:
        raise MissingTool(
            "A postgresql:// store needs the psycopg driver.", "Install it: pip install 'whet[postgres]'"
        ) from error
    options: dict[str, Any] = {"pool_pre_ping": True, "pool_size": 5, "max_overflow": 5, "pool_timeout": wait_seconds}
    if "connect_timeout" not in url.query:
        options["connect_args"] = {"connect_timeout": math.ceil(wait_seconds)}
    engine = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="READ COMMITTED", **options)
    event.listen(engine, "connect", partial(_bound_waiting, wait_seconds))
    return engine


def _bound_waiting(seconds: float, connection: Any, _record: object) -> None:
    connection.execute(f"SET lock_timeout = {math.ceil(seconds * 1000)}")
    connection.commit()


def _asks_for_retry(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in _RETRY_SQLSTATES
