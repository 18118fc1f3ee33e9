"""Both databases keep the contract of the training queue, whatever the clock does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from whet.checks.queue import CHECKS, Check, keys, some
from whet.core.errors import RefusedInput
from whet.core.queues import Message
from whet.store import SqlStore, open_store
from whet.store.queue import SqlQueue

YEAR = 365 * 86_400.0


class _Alone(SqlQueue):
    """With a store of its own, closed with it."""

    def __init__(self, url: str, lease_seconds: float) -> None:
        self._store = open_store(url)
        super().__init__(self._store._database, lease_seconds)

    def close(self) -> None:
        self._store.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_stores_queue_keeps_its_contract(check: Check, store_url: str) -> None:
    open_store(store_url).close()

    def opened(lease_seconds: float = 60.0) -> SqlQueue:
        return _Alone(store_url, lease_seconds)

    check(opened)


class _Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def _clocked(url: str) -> Iterator[tuple[SqlQueue, SqlStore, _Clock]]:
    clock = _Clock()
    with open_store(url) as store:
        yield SqlQueue(store._database, lease_seconds=100.0, clock=clock), store, clock


def test_a_lease_lasts_as_long_as_it_says(store_url: str) -> None:
    with _clocked(store_url) as (queue, _, clock):
        queue.put(some(2))
        assert [(each.message.key, each.attempt) for each in queue.take("a", 1)] == [("key-0", 1)]
        clock.now += 99.9
        assert keys(queue.take("b", 10)) == ["key-1"]
        clock.now += 0.2
        assert [(each.message.key, each.attempt) for each in queue.take("b", 10)] == [("key-0", 2)]


def test_no_clock_jump_loses_a_message(store_url: str) -> None:
    """Its holder died; then the clock was set. Nobody waits longer than two leases."""
    with _clocked(store_url) as (queue, _, clock):
        for jump in (-YEAR, -101.0, 101.0, YEAR):
            queue.put([Message(f"{jump}", b"")])
            assert keys(queue.take("died", 1)) == [f"{jump}"]
            clock.now += jump
            left = queue.take("heir", 1)
            assert keys(left) == [f"{jump}"]
            queue.done(left)


def test_a_clock_that_is_corrected_takes_nothing_out_of_anyones_hands(store_url: str) -> None:
    with _clocked(store_url) as (queue, _, clock):
        queue.put(some(1))
        queue.take("holder", 1)
        taken = clock.now
        for step in (-50.0, -0.001, 0.0, 50.0):
            clock.now = taken + step
            assert queue.take("other", 1) == []


def test_whoever_has_a_short_lease_does_not_end_a_long_one(store_url: str) -> None:
    with _clocked(store_url) as (queue, store, clock):
        queue.put(some(1))
        queue.take("holder", 1)
        hasty = SqlQueue(store._database, lease_seconds=1.0, clock=clock)
        clock.now += 50.0
        assert hasty.take("other", 1) == []


def test_a_late_done_ends_its_own_message_alone(store_url: str) -> None:
    """The same number must never be given twice: the first message is gone when the second one comes."""
    with _clocked(store_url) as (queue, _, clock):
        queue.put([Message("first", b"")])
        slow = queue.take("slow", 1)
        clock.now += 101.0
        queue.done(queue.take("quick", 1))
        queue.put([Message("second", b"")])
        queue.done(slow)
        assert keys(queue.take("quick", 1)) == ["second"]


def test_by_default_the_servers_clock_counts(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        store.queue.put(some(1))
        store.queue.take("a", 1)
        with store._database.engine.connect() as connection:
            age = connection.exec_driver_sql("SELECT extract(epoch FROM now()) - taken_at FROM training_queue").scalar()
        assert age is not None
        assert 0 <= age < 60


def test_a_lease_that_is_none_is_refused(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as store:
        for seconds in (0.0, -1.0, float("inf"), float("nan")):
            with pytest.raises(RefusedInput, match="above 0"):
                SqlQueue(store._database, lease_seconds=seconds)
