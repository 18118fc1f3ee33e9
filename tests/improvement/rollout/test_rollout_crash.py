"""kill -9 between and inside the steps of a rollout: what is resumed takes the same steps, each once."""

import os
import random
import signal
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path

from sqlalchemy import Connection, event
from tests.forked import forked
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, QUICK, START, at, lived, proven, remember

from whet.core.candidates import SUCCESSORS, Stage
from whet.improvement.rollout.stepping import roll_out
from whet.store import open_store
from whet.store.sql_store import SqlStore

KEY = b"key"
Move = tuple[str, str, str, float]
Stop = Callable[[SqlStore], None]


def _first_is_proven(store: SqlStore, now: datetime) -> None:
    proven(store, "batch:1")


def _second_is_proven(store: SqlStore, now: datetime) -> None:
    proven(store, "batch:2")


def _runs(number: int, gain: float, base: str) -> Callable[[SqlStore, datetime], None]:
    def live(store: SqlStore, now: datetime) -> None:
        remember(store, lived(at(store, number), 30, random.Random(number), gain=gain, when=now, base=base))

    return live


# What happens before each look: one gets to production, the next too, is found worse there and hands back.
HISTORY: list[Callable[[SqlStore, datetime], None]] = [
    _first_is_proven,
    _runs(1, 15.0, BASE),
    _runs(1, 15.0, BASE),
    _second_is_proven,
    _runs(2, 15.0, "candidate-1"),
    _runs(2, 15.0, "candidate-1"),
    _runs(2, -60.0, "candidate-1"),
]
MOVES = [
    ("candidate 1", "proven", "canary", 0.1),
    ("candidate 1", "canary", "canary", 0.5),
    ("candidate 1", "canary", "production", 1.0),
    ("candidate 2", "proven", "canary", 0.1),
    ("candidate 2", "canary", "canary", 0.5),
    ("candidate 1", "production", "retired", 0.0),
    ("candidate 2", "canary", "production", 1.0),
    ("candidate 2", "production", "rolled-back", 0.0),
    ("candidate 1", "retired", "production", 1.0),
]


def _live(url: str, look: Callable[[str, datetime], int]) -> int:
    """All of it, by whatever looks; how often it was killed."""
    kills = 0
    for number, happens in enumerate(HISTORY):
        now = START + number * timedelta(hours=26)
        with open_store(url, audit_key=KEY) as store:
            happens(store, now)
        kills += look(url, now + 25 * HOUR)
    return kills


def _in_a_process(url: str, now: datetime, stop: Stop) -> int:
    def look() -> None:
        with open_store(url, audit_key=KEY) as store:
            stop(store)
            roll_out(store, QUICK, now)

    return forked(look)


def _undisturbed(store: SqlStore) -> None:
    """Nothing is prepared."""


def _ended_by_itself(child: int) -> bool:
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    assert ended in (0, -signal.SIGKILL), "it failed by itself, or hung"
    return ended == 0


def _dying_at(boundary: int) -> Stop:
    """At the so-manieth beginning or commit of a transaction that writes, the commit not yet done."""

    def prepare(store: SqlStore) -> None:
        left = [boundary]

        def passed(connection: Connection) -> None:
            if connection.get_execution_options().get("whet_writes"):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        for name in ("begin", "commit"):
            event.listen(store._database.engine, name, passed)

    return prepare


def _killed_at_every_boundary(url: str, now: datetime) -> int:
    boundary = 0
    while not _ended_by_itself(_in_a_process(url, now, _dying_at(boundary))):
        boundary += 1
    return boundary


def _killed_at_random(dice: random.Random) -> Callable[[str, datetime], int]:
    def look(url: str, now: datetime) -> int:
        for _ in range(5):
            child = _in_a_process(url, now, _undisturbed)
            time.sleep(dice.uniform(0.0, 0.15))
            os.kill(child, signal.SIGKILL)  # or after its end, which waits to be collected
            _ended_by_itself(child)
        assert _ended_by_itself(_in_a_process(url, now, _undisturbed))
        return 5

    return look


def _check(url: str) -> None:
    with open_store(url, audit_key=KEY) as store:
        entries = [entry for entry in reversed(store.audit.entries(10_000)) if entry.kind == "candidate-moved"]
        moves = [(e.subject, e.payload["from"], e.payload["to"], e.payload["share"][1]) for e in entries]
        assert [move for move in moves if move[2] != "proven"] == MOVES
        assert all(a == b or Stage(b) in SUCCESSORS[Stage(a)] for _, a, b, _ in moves)
        assert [at(store, number).stage for number in (1, 2)] == [Stage.PRODUCTION, Stage.ROLLED_BACK]
        assert at(store, 2).evidence["restores"] == {"number": 1, "done": True}
        assert store.audit.verify().problem is None


def test_killed_at_every_boundary_nothing_is_lost_doubled_or_skipped(store_url: str) -> None:
    open_store(store_url, audit_key=KEY).close()
    kills = _live(store_url, _killed_at_every_boundary)
    assert kills >= 2 * len(HISTORY)
    _check(store_url)


def test_killed_at_random_nothing_is_lost_doubled_or_skipped(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'whet.db'}"
    open_store(url, audit_key=KEY).close()
    _live(url, _killed_at_random(random.Random(11)))
    _check(url)


def _two_at_once(url: str, now: datetime, first: Stop) -> list[bool]:
    children = [_in_a_process(url, now, stop) for stop in (first, _undisturbed)]
    return [_ended_by_itself(child) for child in children]


def test_two_processes_at_once_take_every_step_once(store_url: str) -> None:
    """Also when one of them dies half-way, which happens to it at every other look."""
    open_store(store_url, audit_key=KEY).close()
    stops = cycle([_undisturbed, _dying_at(1)])

    def look(url: str, now: datetime) -> int:
        ended = _two_at_once(url, now, next(stops))
        assert ended[1]
        return ended.count(False)

    assert 0 < _live(store_url, look) <= len(HISTORY) // 2
    _check(store_url)
