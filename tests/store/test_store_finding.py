"""A decision is found by how its id begins without reading all of them."""

from typing import Any

from sqlalchemy import event, text

from whet.store import open_store
from whet.store.sql_store import SqlStore


def asked(store: SqlStore, prefix: str) -> tuple[str, Any]:
    """The question that the database gets."""
    seen: list[tuple[str, Any]] = []

    def hear(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        seen.append((statement, parameters))

    event.listen(store._database.engine, "before_cursor_execute", hear)
    store.decisions.find(prefix)
    event.remove(store._database.engine, "before_cursor_execute", hear)
    (only,) = [each for each in seen if "FROM decisions" in each[0]]
    return only


def test_an_index_finds_what_begins_so(store_url: str) -> None:
    with open_store(store_url) as store, store._database.engine.connect() as connection:
        statement, parameters = asked(store, "3f2a9c01b7de")
        if store._database.is_sqlite:
            plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all())
            assert "INDEX sqlite_autoindex_decisions_1 (id>? AND id<?)" in plan
        else:
            connection.execute(text("SET enable_seqscan = off"))  # of an empty table it would read the whole
            plan = str(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).all())
            assert "Index Cond: ((id >= '3f2a9c01b7de'::text) AND (id < '3f2a9c01b7df'::text)" in plan
