"""The whole store behind one door."""

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from whet.core.errors import WhetError
from whet.store.audit import SqlAuditTrail
from whet.store.candidates import SqlCandidates
from whet.store.decisions import SqlDecisions
from whet.store.engine import BUSY_SECONDS, Database, postgres_engine, sqlite_engine
from whet.store.experiences import SqlExperiences
from whet.store.feedback import SqlFeedback
from whet.store.history import SqlTestHistory
from whet.store.knowledge import SqlServiceKnowledge
from whet.store.learning_log import SqlLearningLog
from whet.store.lifeline import Lifeline
from whet.store.memories import SqlMemories
from whet.store.migrating import migrate, prepare_file
from whet.store.people import SqlPeople
from whet.store.queue import SqlQueue
from whet.store.runs import SqlRuns
from whet.store.sheets import SqlSheets
from whet.store.tables import SqlQTables
from whet.store.views import SqlViews


class SqlStore:
    """Implements `whet.core.ports.Store` on SQLite and PostgreSQL. Threads may share one; processes open their own."""

    def __init__(self, database: Database, lifeline: Lifeline | None, audit_key: bytes | None) -> None:
        self._database = database
        self._lifeline = lifeline
        self.audit = SqlAuditTrail(database, audit_key)
        self.tables = SqlQTables(database, self.audit)
        self.experiences = SqlExperiences(database, self.tables, self.audit)
        self.decisions = SqlDecisions(database, self.audit)
        self.history = SqlTestHistory(database)
        self.runs = SqlRuns(database, self.audit)
        self.sheets = SqlSheets(database)
        self.knowledge = SqlServiceKnowledge(database)
        self.candidates = SqlCandidates(database, self.audit)
        self.learning = SqlLearningLog(database, self.audit)
        self.queue = SqlQueue(database)
        self.memories = SqlMemories(database, self.audit)
        self.people = SqlPeople(database, self.audit)
        self.views = SqlViews(database)
        self.feedback = SqlFeedback(database, self.audit)

    def rescue(self) -> bool:
        """Write everything back if the store's file was deleted or replaced under us. True if it had to.

        The user's own test suite may wipe directories. What was committed lives on in the
        files we still hold open, until this process ends.
        """
        return self._lifeline is not None and self._lifeline.rescue(self._database)

    def close(self) -> None:
        self._database.engine.dispose()
        if self._lifeline is not None:
            self._lifeline.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(url: str, audit_key: bytes | None = None, wait_seconds: float = BUSY_SECONDS) -> SqlStore:
    """Open a store, creating or migrating it when needed.

    `url` is `sqlite:////absolute/path/whet.db` or `postgresql://user@host/database`. With
    `audit_key`, the audit trail is sealed: who has the database but not the key cannot rewrite it unseen.
    Whoever finds it locked waits up to `wait_seconds`, then fails with `Busy`.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _unknown_url(url) from None
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return _open_sqlite(Path(str(parsed.database)).absolute(), audit_key, wait_seconds)
    if backend in ("postgresql", "postgres"):
        return _open_postgres(parsed, audit_key, wait_seconds)
    raise _unknown_url(parsed.render_as_string(hide_password=True))


def _open_sqlite(path: Path, audit_key: bytes | None, wait_seconds: float) -> SqlStore:
    anchor: sqlite3.Connection = prepare_file(path, wait_seconds)
    database = Database(sqlite_engine(path, wait_seconds))
    try:
        migrate(database)
    except BaseException:
        database.engine.dispose()
        anchor.close()
        raise
    return SqlStore(database, Lifeline(path, anchor), audit_key)


def _open_postgres(url: URL, audit_key: bytes | None, wait_seconds: float) -> SqlStore:
    database = Database(postgres_engine(url, wait_seconds))
    try:
        migrate(database)
    except BaseException:
        database.engine.dispose()
        raise
    return SqlStore(database, None, audit_key)


def _unknown_url(url: str) -> WhetError:
    return WhetError(
        f"{url!r} is not the address of a store.",
        "Use sqlite:////absolute/path/whet.db or postgresql://user@host/database.",
    )
