"""One project's memory of record: one SQL model for SQLite (embedded) and PostgreSQL (teams)."""

from whet.store.sql_store import SqlStore, open_store

__all__ = ["SqlStore", "open_store"]
