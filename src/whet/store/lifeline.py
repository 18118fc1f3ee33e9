"""Surviving the deletion of the store's own directory."""

import os
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from whet.core.errors import WhetError
from whet.store.engine import Database, connect_sqlite

_Identity = tuple[int, int] | None


class Lifeline:
    """A connection kept open for the store's life: while it is, the file's content cannot vanish."""

    def __init__(self, path: Path, anchor: sqlite3.Connection) -> None:
        self._path = path
        self._hold(anchor)

    def rescue(self, database: Database) -> bool:
        with database.quiet():
            if self._identities() == self._held:
                return False
            try:
                self._write_back(database)
            except (OSError, sqlite3.Error) as error:
                raise WhetError(
                    f"The store {self._path} was deleted and could not be written back: {error}.",
                    "Make its directory writable; everything is kept until this process ends.",
                ) from error
            return True

    def close(self) -> None:
        self._anchor.close()

    def _write_back(self, database: Database) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        copy = self._path.with_name(f"{self._path.name}.rescue-{os.getpid()}")
        copy.unlink(missing_ok=True)
        _copy_out(self._anchor, copy)
        # Old connections go before the new file comes: the last one to close may tidy up a `-wal` of that name.
        database.engine.dispose()
        self._anchor.close()
        self._set_aside_what_is_there()
        copy.replace(self._path)
        self._hold(connect_sqlite(self._path, "rw"))

    def _set_aside_what_is_there(self) -> None:
        """Whatever took our place is not ours to destroy; a left-over log must not be read into the new file."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        for suffix in ("", "-wal", "-shm"):
            there = self._path.with_name(self._path.name + suffix)
            with suppress(FileNotFoundError):
                there.rename(self._path.with_name(f"{self._path.name}.replaced-{stamp}{suffix}"))

    def _hold(self, anchor: sqlite3.Connection) -> None:
        anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the write-ahead log as well
        self._anchor = anchor
        self._held = self._identities()

    def _identities(self) -> tuple[_Identity, _Identity]:
        return _identity(self._path), _identity(self._path.with_name(self._path.name + "-wal"))


def _identity(path: Path) -> _Identity:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _copy_out(source: sqlite3.Connection, copy: Path) -> None:
    target = sqlite3.connect(copy)
    try:
        source.backup(target)
        target.execute("PRAGMA journal_mode=WAL")
    finally:
        target.close()
    with copy.open("rb") as written:
        os.fsync(written.fileno())
