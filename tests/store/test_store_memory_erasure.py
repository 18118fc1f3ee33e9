"""What was forgotten is in no file any more."""

import random
from pathlib import Path

import psycopg
import pytest
from tests.postgres import PostgresServer

from whet.checks.memories import AT, HERE, MODEL, memory, somewhere
from whet.core.memories import Memory
from whet.store import SqlStore, memory_index, memory_indexing, open_store

WORD = "Zanzibar-7731"


def _told(number: int) -> Memory:
    return memory(
        f"{WORD} source {number}",
        text=f"{WORD} text {number} " * 9,
        cue=f"{WORD} cue {number}",
        subjects=(f"{WORD} subject {number}",),
        about={WORD: WORD},
        agent=WORD,
    )


def _live(store: SqlStore) -> list[Memory]:
    """Memories come, are used and change, so that pages are split and rows move; some of them tell of the word."""
    dice, secret = random.Random(1), [_told(number) for number in range(20)]
    for number in range(20):
        others = [memory(f"{number} {n}", text="x" * dice.randrange(1, 900)) for n in range(15)]
        made = [*others, secret[number]]
        store.memories.keep(made, MODEL, [somewhere(1_000 * number + n) for n, _ in enumerate(made)])
        store.memories.note_use([each.id for each in dice.sample(made, 5)], AT)
        changed = [each.model_copy(update={"text": "y" * dice.randrange(1, 2_000)}) for each in others[:4]]
        store.memories.keep(changed, MODEL, [somewhere(n) for n in range(4)])
        if number % 7 == 0:
            store.memories.forget([others[5].id], "asked to")
    return secret


def _holding(folder: Path, word: str) -> list[str]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    return sorted(str(each.relative_to(folder)) for each in files if word.encode() in each.read_bytes())


def test_no_file_of_a_sqlite_store_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (memory_indexing, memory_index):
        monkeypatch.setattr(module, "FEW_ROWS", 60)
    monkeypatch.setattr(memory_indexing, "_LOOK_EVERY", 30)
    url = f"sqlite:///{tmp_path / 'whet.db'}"
    with open_store(url) as store, open_store(url) as other:
        secret = _live(store)
        other.memories.nearest(HERE, MODEL, somewhere(1), 3)
        assert _holding(tmp_path, WORD)
        (tmp_path / "whet.db-memory-1.index.new").write_text(f"Whoever wrote this died. {WORD}")
        assert store.memories.forget([each.id for each in secret], "asked to") == len(secret)
        assert _holding(tmp_path, WORD) == []
        assert (tmp_path / "whet.db-memory-1.index").exists()
        assert store.memories.count(HERE) == 300 - 3
        assert other.memories.nearest(HERE, MODEL, somewhere(1), 3)


def test_no_table_of_a_postgresql_store_holds_it(postgres_url: str, postgres: PostgresServer) -> None:
    """The server's write-ahead log is its own business: segments are there until it writes over them."""
    with open_store(postgres_url) as store:
        secret = _live(store)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
            number = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
            assert number is not None
            folder = postgres.directory / "data" / "base" / str(number[0])
            connection.execute("CHECKPOINT")
            assert _holding(folder, WORD)
            assert store.memories.forget([each.id for each in secret], "asked to") == len(secret)
            connection.execute("CHECKPOINT")
        assert _holding(folder, WORD) == []
        assert store.memories.count(HERE) == 300 - 3


def test_the_audit_trail_names_ids_alone(store_url: str) -> None:
    with open_store(store_url, audit_key=b"key") as store:
        secret = _told(1)
        store.memories.keep([secret], MODEL, [somewhere(1)])
        store.memories.forget([secret.id], "asked to")
        (entry,) = store.audit.entries()
        assert (entry.kind, entry.payload) == ("memories-forgotten", {"ids": [secret.id], "why": "asked to"})
