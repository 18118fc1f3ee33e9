"""The queues of the tests: each as its own opening, with a lease that tests can wait for."""

from whet.core.queues import TrainingQueue
from whet.queues.kafka import KafkaQueue
from whet.queues.redis_stream import RedisQueue
from whet.store.queue import SqlQueue
from whet.store.sql_store import open_store

LEASE_SECONDS = 1.0


class StoreQueue(SqlQueue):
    """The queue of a store that is closed with it."""

    def __init__(self, url: str, lease_seconds: float = LEASE_SECONDS) -> None:
        self._store = open_store(url)
        super().__init__(self._store._database, lease_seconds)

    def close(self) -> None:
        self._store.close()


def opened(kind: str, url: str, name: str) -> TrainingQueue:
    if kind == "redis":
        return RedisQueue(url, name, LEASE_SECONDS)
    if kind == "kafka":
        return KafkaQueue(url, topic=name, group=name, lease_seconds=60.0, session_seconds=4.0)
    return StoreQueue(url)
