"""One Redis and one broker for the session; every test has keys or a topic of its own."""

from collections.abc import Iterator

import pytest
from tests.queues.servers import KafkaBroker, RedisServer


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    with RedisServer.running() as server:
        yield server


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[KafkaBroker]:
    broker = KafkaBroker()
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Of the test's own queue: what a topic may be called."""
    return "".join(each if each.isalnum() else "-" for each in request.node.name)[:200]
