"""On PostgreSQL rows are numbered before they are committed: who began first may end last."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg

from whet.checks.store_samples import OWN, experience, lesson
from whet.core.learning_log import Judged, Quality
from whet.store import SqlStore, open_store
from whet.store.learning_schema import arrivals

_WAITERS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def _read_all(store: SqlStore) -> list[str]:
    seen = store.learning.unread(100)
    if seen:
        judged = [Judged(each.experience.key, "runner", Quality.GOOD, "") for each in seen]
        store.learning.judge(judged, seen[-1].position)
    return [each.experience.key for each in seen]


def _await(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(3000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it never came to that")


def test_an_experience_that_is_committed_late_is_read_later(postgres_url: str) -> None:
    """The first learner has its number and waits for a table that somebody else holds; the second overtakes it."""
    with (
        ThreadPoolExecutor(1) as pool,  # first, so that on failure the holder lets go before it is waited for
        open_store(postgres_url) as slow,
        open_store(postgres_url) as fast,
        psycopg.connect(postgres_url) as holder,
        psycopg.connect(postgres_url, autocommit=True) as watcher,
    ):
        slow.tables.initialise({OWN: 0.0})
        holder.execute("SELECT id FROM q_tables FOR UPDATE")
        late = pool.submit(slow.experiences.learn, experience("late"), lesson(1.0))
        _await(lambda: watcher.execute(_WAITERS).fetchone() == (1,))
        assert fast.experiences.learn(experience("early"), None)
        assert _read_all(fast) == ["early"]
        holder.rollback()
        assert late.result(60)
        numbers = watcher.execute("SELECT key FROM experiences ORDER BY id").fetchall()
        assert numbers == [("late",), ("early",)], "the case that this is about"
        assert _read_all(fast) == ["late"]
        assert _read_all(fast) == []


def test_transactions_of_others_do_not_hold_the_stream_up(postgres_url: str) -> None:
    """One that writes elsewhere and stays open for hours (a backup, a forgotten session) is nobody's business."""
    with open_store(postgres_url) as store, psycopg.connect(postgres_url) as forgotten:
        forgotten.execute("CREATE TABLE elsewhere AS SELECT 1 AS x")
        store.experiences.learn(experience("a"), None)
        assert _read_all(store) == ["a"]
        forgotten.rollback()


def test_a_learner_that_failed_leaves_no_hole_that_anyone_waits_for(postgres_url: str) -> None:
    with open_store(postgres_url) as store, psycopg.connect(postgres_url) as broken:
        store.experiences.learn(experience("a"), None)
        broken.execute("SELECT nextval('experiences_id_seq')")
        broken.rollback()
        store.experiences.learn(experience("b"), None)
        assert _read_all(store) == ["a", "b"]
        with store._database.engine.connect() as connection:
            assert [row.position for row in connection.execute(arrivals.select())] == [1, 2]
