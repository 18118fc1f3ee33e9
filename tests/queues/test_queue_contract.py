"""All queues keep one contract."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from tests.queues.openings import StoreQueue
from tests.queues.servers import KafkaBroker, RedisServer

from whet.checks.queue import CHECKS, Check, Opened, a_killed_process_loses_what_it_held
from whet.queues.kafka import KafkaQueue
from whet.queues.redis_stream import RedisQueue

checks = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@checks
def test_the_store_keeps_the_contract(check: Check, store_url: str) -> None:
    check(lambda lease_seconds=60.0: StoreQueue(store_url, lease_seconds))


@checks
def test_redis_keeps_the_contract(check: Check, redis_server: RedisServer, name: str) -> None:
    check(lambda lease_seconds=60.0: RedisQueue(redis_server.url(), name, lease_seconds))


def _of_kafka(broker: KafkaBroker, name: str) -> Opened:
    def opened(lease_seconds: float = 60.0) -> KafkaQueue:
        # Tansu does not get over a consumer that goes while others are still joining, which takes them a second or two.
        return KafkaQueue(broker.url(), name, name, max(4.0, lease_seconds), session_seconds=2.0)

    return opened


@pytest.fixture(scope="module")
def under_way(kafka_broker: KafkaBroker) -> Iterator[dict[Check, Future[None]]]:
    """All checks at once, each with a topic and a group of its own: most of it is waiting to join the group."""
    with ThreadPoolExecutor(len(CHECKS)) as pool:
        # One of them forks, which is not for a process with threads at work.
        at_once = [check for check in CHECKS if check is not a_killed_process_loses_what_it_held]
        yield {check: pool.submit(check, _of_kafka(kafka_broker, check.__name__)) for check in at_once}


@checks
def test_kafka_keeps_the_contract(
    check: Check, kafka_broker: KafkaBroker, under_way: dict[Check, Future[None]]
) -> None:
    if check in under_way:
        under_way[check].result(timeout=300)
    else:
        wait(under_way.values(), timeout=300)
        check(_of_kafka(kafka_broker, check.__name__))
