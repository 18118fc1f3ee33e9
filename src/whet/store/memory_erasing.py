"""Forgetting for good: deleted rows are still in a database's files until these are written anew.

What cannot be reached from here: PostgreSQL's own write-ahead log holds what was written until the server recycles it
(after checkpoints, later if it is archived), and backups and replicas hold what they hold. Embeddings in pages of a
large table are freed at once, and overwritten by the next that come.
"""

import sqlite3
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, delete, text
from sqlalchemy.exc import DBAPIError

from whet.core.errors import Busy
from whet.store.audit import SqlAuditTrail
from whet.store.engine import BUSY_SECONDS, Database, plain_error
from whet.store.memory_rows import batches
from whet.store.memory_schema import memories

_INDEXES_OF_PLACES = text(
    "SELECT count(*) > 0 FROM pg_indexes WHERE tablename = 'memory_places' AND indexname LIKE 'near\\_%'"
)


class Erasing:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit

    def delete(self, connection: Connection, ids: Sequence[str], why: str) -> int:
        gone = 0
        for batch in batches(ids):
            found = list(connection.scalars(delete(memories).where(memories.c.id.in_(batch)).returning(memories.c.id)))
            gone += len(found)
            if found:
                payload = {"why": why, "ids": sorted(found)}
                self._audit.append_in(connection, "memories-forgotten", f"{len(found)} memories", payload)
        return gone

    def wipe(self) -> None:
        """Also when nothing was found: an earlier call may have died before this."""
        if not self._database.is_sqlite:
            self._rewrite_tables()
            return
        with self._database.quiet(), self._database.engine.connect() as connection:
            try:
                _rewrite_file(connection.connection.driver_connection)
            except sqlite3.Error as error:
                raise plain_error(error, self._database.shown) from error

    def _rewrite_tables(self) -> None:
        with self._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            try:
                large = connection.execute(_INDEXES_OF_PLACES).scalar_one()
                connection.execute(text("VACUUM (FULL, ANALYZE) memories"))
                connection.execute(text("VACUUM (FULL, ANALYZE) memory_subjects"))
                connection.execute(text("VACUUM memory_places" if large else "VACUUM (FULL) memory_places"))
            except DBAPIError as error:
                raise plain_error(error, self._database.shown) from error


def _rewrite_file(connection: Any) -> None:
    """Zeroing what is freed would not do: pages that were split earlier hold copies of rows in their unused parts."""
    connection.execute("VACUUM")
    deadline = monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if monotonic() > deadline:
            raise Busy(
                "What was forgotten is still in the write-ahead log: another process keeps reading the store.",
                "End that process and forget the same ones again.",
            )
        sleep(0.01)
