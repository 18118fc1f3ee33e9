"""Both databases keep the contract of what was learned of services, through kills and damage."""

import os
import signal
import sqlite3
import time
from itertools import count
from pathlib import Path

import pytest
from tests.forked import forked

from whet.checks.knowledge import CHECKS, SERVICE, Check, counted_up
from whet.core.errors import WhetError
from whet.store import open_store


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_knowledge_keeps_its_contract(check: Check, store_url: str) -> None:
    check(lambda: open_store(store_url))


def _killed_while_learning(url: str, after_seconds: float) -> int:
    """How many updates were acknowledged."""
    reading, writing = os.pipe()

    def learn() -> None:
        store = open_store(url)
        for _ in count():
            store.knowledge.update(SERVICE, counted_up)
            store.knowledge.update("padding", lambda _: "x" * 300_000)
            os.write(writing, b".")

    child = forked(learn)
    os.close(writing)
    first = os.read(reading, 65536)
    time.sleep(after_seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    with os.fdopen(reading, "rb") as acknowledged:
        return len(first + acknowledged.read())


def test_knowledge_survives_kills(store_url: str) -> None:
    open_store(store_url).close()
    acknowledged = 0
    for kill in range(8):
        acknowledged += _killed_while_learning(store_url, 0.004 * kill)
        with open_store(store_url) as store:
            kept = store.knowledge.load(SERVICE)
            padding = store.knowledge.load("padding")
        assert kept is not None
        # One update of each killed run may have been kept without being acknowledged.
        assert acknowledged <= int(kept) <= acknowledged + kill + 1
        assert padding == "x" * 300_000


def test_damaged_knowledge_is_named_and_can_be_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "whet.db"
    with open_store(f"sqlite:///{path}") as store:
        store.knowledge.update(SERVICE, counted_up)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("UPDATE service_knowledge SET document = x'00'")
        connection.close()
        with pytest.raises(WhetError, match=r"http://127\.0\.0\.1:8000.*damaged.*forget this service"):
            store.knowledge.load(SERVICE)
        assert store.knowledge.forget(SERVICE)
        assert store.knowledge.load(SERVICE) is None
