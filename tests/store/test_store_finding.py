"""A decision is found by how its id begins without reading all of them."""

from sqlalchemy import select, text

from whet.store import open_store
from whet.store.decisions import beginning_with
from whet.store.schema import decisions


def test_an_index_finds_what_begins_so(store_url: str) -> None:
    query = select(decisions.c.seq).where(*beginning_with("3f2a9c01b7de"))
    with open_store(store_url) as store, store._database.engine.connect() as connection:
        asked = str(query.compile(connection.engine, compile_kwargs={"literal_binds": True}))
        if store._database.is_sqlite:
            plan = str(connection.execute(text(f"EXPLAIN QUERY PLAN {asked}")).all())
            assert "INDEX sqlite_autoindex_decisions_1 (id>? AND id<?)" in plan
        else:
            connection.execute(text("SET enable_seqscan = off"))  # of an empty table it would read the whole
            plan = str(connection.execute(text(f"EXPLAIN {asked}")).all())
            assert "Index Cond: ((id >= '3f2a9c01b7de'::text) AND (id < '3f2a9c01b7df'::text)" in plan
