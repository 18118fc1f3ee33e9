"""Bringing a database to the newest schema. Alembic is slow to import, so it is asked only when needed."""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import Connection, text

from whet.core.errors import WhetError
from whet.store.engine import BUSY_SECONDS, Database, connect_sqlite, plain_error
from whet.store.schema import HEAD, VERSION_TABLE

_SMALLEST_PAGE_BYTES = 512
_MIGRATION_LOCK = 0x77686574  # "whet"; any number works that all versions agree on


def prepare_file(path: Path, wait_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open (or create) a store's file and check that it is one; the connection it returns is current or empty."""
    shown = f"sqlite:///{path}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_scraps(path)
        return _prepared(connect_sqlite(path, "rwc", wait_seconds), shown, wait_seconds)
    except sqlite3.Error as error:
        raise plain_error(error, shown) from error
    except OSError as error:
        raise WhetError(f"The store {shown} cannot be opened: {error}.", "Choose a place you may write to.") from error


def _prepared(connection: sqlite3.Connection, shown: str, wait_seconds: float) -> sqlite3.Connection:
    try:
        _refuse_strangers(connection, shown)
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            _switch_to_wal(connection, wait_seconds)
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(database: Database) -> None:
    """To the newest schema, in one transaction; processes that open a fresh database at once take turns."""
    if database.read(lambda connection: _is_current(connection, database.shown)):
        return
    database.write(lambda connection: _upgrade(connection, database.shown))


def _refuse_scraps(path: Path) -> None:
    """SQLite takes a file shorter than its smallest page for an empty one, and would overwrite it."""
    if path.exists() and 0 < path.stat().st_size < _SMALLEST_PAGE_BYTES:
        raise sqlite3.DatabaseError("file is not a database")


def _refuse_strangers(connection: sqlite3.Connection, shown: str) -> None:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names and VERSION_TABLE not in names:
        raise WhetError(
            f"The database {shown} belongs to something else (it has the tables {sorted(names)[:5]}).",
            "Give the store a file of its own.",
        )


def _switch_to_wal(connection: sqlite3.Connection, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:  # SQLite does not wait by itself when two processes switch a new file at once
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _is_current(connection: Connection, shown: str) -> bool:
    found = _revision(connection)
    if found is None or found < HEAD:
        return False
    if found == HEAD:
        return True
    raise WhetError(
        f"The store {shown} has schema {found}; this version of whet knows up to {HEAD}.",
        "Upgrade whet: pip install --upgrade whet",
    )


def _revision(connection: Connection) -> str | None:
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    revision: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    return revision


def _upgrade(connection: Connection, shown: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
    if _is_current(connection, shown):  # another process was faster
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
