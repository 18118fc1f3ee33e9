"""kill -9 at any moment: what was acknowledged is there, and nothing is half done."""

import os
import random
import signal
import sqlite3
import time
from itertools import count
from pathlib import Path

import pytest
from tests.forked import forked
from tests.postgres import PostgresServer

from whet.checks.store_samples import FLEET, OWN, experience
from whet.core.ports import Lesson, Move
from whet.store import open_store

KEY = b"key"
LESSON = Lesson(target=1.0, own=(Move(cell=OWN, rate=0.1),), shared=(Move(cell=FLEET, rate=0.05),))


def _learn_forever(url: str, name: str, acknowledge: int) -> None:
    store = open_store(url, audit_key=KEY)
    for number in count():
        key = f"{name}/{number}"
        store.experiences.learn(experience(key), LESSON)
        os.write(acknowledge, f"{key}\n".encode())


def _kill_a_learner(url: str, name: str, after_seconds: float, first_acknowledgement: bool = False) -> list[str]:
    """Kill it so long after its start, or after its first acknowledgement. The keys it acknowledged."""
    reading, writing = os.pipe()
    child = forked(lambda: _learn_forever(url, name, writing))
    os.close(writing)
    early = os.read(reading, 65536).decode() if first_acknowledgement else ""
    time.sleep(after_seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "the learner failed by itself"
    with os.fdopen(reading) as acknowledged:
        return (early + acknowledged.read()).split()


def _check(url: str, acknowledged: set[str]) -> int:
    with open_store(url, audit_key=KEY) as store:
        stored = {each.key for each in store.experiences.recent(limit=1_000_000)}
        assert acknowledged <= stored
        visits = [store.tables.read([cell])[cell].visits for cell in (OWN, FLEET)]
        assert visits == [len(stored)] * 2
        report = store.audit.verify()
        assert (report.problem, report.entries) == (None, len(stored))
        return len(stored)


def _kill_many(url: str, kills: int, check_every: int) -> set[str]:
    dice = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(kills):
        opening = number % 4 == 0  # the others die while they learn, however slow the machine is
        pause = dice.uniform(0.002, 0.06) if opening else dice.uniform(0, 0.02)
        acknowledged.update(_kill_a_learner(url, f"learner-{number}", pause, first_acknowledgement=not opening))
        if number % check_every == check_every - 1:
            _check(url, acknowledged)
    return acknowledged


def test_sqlite_survives_200_kills(tmp_path: Path) -> None:
    path = tmp_path / "whet.db"
    url = f"sqlite:///{path}"
    with open_store(url, audit_key=KEY) as store:
        store.experiences.learn(experience("first"), LESSON)
    acknowledged = _kill_many(url, kills=200, check_every=40)
    assert len(acknowledged) >= 150
    assert _check(url, acknowledged) >= len(acknowledged)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_postgres_survives_clients_killed(postgres_url: str) -> None:
    with open_store(postgres_url, audit_key=KEY) as store:
        store.experiences.learn(experience("first"), LESSON)
    acknowledged = _kill_many(postgres_url, kills=30, check_every=30)
    assert len(acknowledged) >= 20


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_kill_during_the_first_opening_leaves_a_usable_store(
    database: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    for number, after_seconds in enumerate((0.01, 0.05, 0.1, 0.2, 0.4)):
        fresh = f"sqlite:///{tmp_path / str(number) / 'whet.db'}"
        url = fresh if database == "sqlite" else postgres.url(postgres.create())
        acknowledged = _kill_a_learner(url, "first", after_seconds)
        with open_store(url, audit_key=KEY) as store:
            assert store.experiences.count() >= len(acknowledged)
            assert store.audit.verify().problem is None
