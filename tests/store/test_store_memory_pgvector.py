"""PostgreSQL: the extension when it is needed, an index when it is worth it."""

import psycopg
import pytest
from tests.postgres import PostgresServer

from whet.checks.memories import HERE, MODEL, memory, somewhere, sources
from whet.core.errors import MissingTool
from whet.store import SqlStore, memory_pg_indexing, open_store


@pytest.fixture
def url(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a hundred places are many."""
    monkeypatch.setattr(memory_pg_indexing, "FEW_ROWS", 100)
    monkeypatch.setattr(memory_pg_indexing, "_LOOK_EVERY", 20)
    return postgres_url


def _keep(store: SqlStore, first: int, count: int) -> None:
    made = [memory(f"{number}") for number in range(first, first + count)]
    store.memories.keep(made, MODEL, [somewhere(number) for number in range(first, first + count)])


def _indexes(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'near%' ORDER BY indexname")
        return [row[0] for row in found.fetchall()]


def test_an_index_is_made_renewed_and_dropped(url: str) -> None:
    with open_store(url) as store:
        _keep(store, 0, 100)
        assert _indexes(url) == []
        _keep(store, 100, 20)
        assert _indexes(url) == ["near_1_120"]
        _keep(store, 120, 400)
        assert _indexes(url) == ["near_1_120"]
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE memory_places")
        _keep(store, 520, 50)
        assert _indexes(url) == ["near_1_570"]
        for seed in range(3_000, 3_005):
            exact = store.memories.nearest(HERE, MODEL, somewhere(seed), 3, exact=True)
            assert sources(store.memories.nearest(HERE, MODEL, somewhere(seed), 3)) == sources(exact)
        store.memories.drop_model("shop", MODEL)
        assert _indexes(url) == []


def test_what_one_who_died_left_half_made_is_made_again(url: str) -> None:
    with open_store(url) as store:
        _keep(store, 0, 100)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE INDEX near_1_120 ON memory_places (memory)")
            connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'near_1_120'::regclass")
        _keep(store, 100, 20)
        with psycopg.connect(url) as connection:
            made = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'near_1_120'").fetchone()
        assert made is not None
        assert "ivfflat" in made[0]


def test_without_the_extension_memory_says_what_to_do_and_the_rest_works(postgres: PostgresServer) -> None:
    """Who may not make it is where one is who does not have it."""
    name = postgres.create(template="whet_migrated")
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        connection.execute("CREATE ROLE modest LOGIN")
        connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO modest")
        connection.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO modest")
    with open_store(postgres.url(name).replace("postgres@", "modest@")) as store:
        with pytest.raises(MissingTool, match=r"needs the extension pgvector.*CREATE EXTENSION vector"):
            _keep(store, 0, 1)
        assert (store.memories.count(HERE), store.memories.nearest(HERE, MODEL, somewhere(1), 3)) == (0, [])
        assert store.audit.append("still", "works", {})
    postgres.drop(name)
