"""The queue that a line of settings names."""

from importlib.util import find_spec

from whet.core.errors import MissingTool, RefusedInput
from whet.core.queues import TrainingQueue
from whet.queues.addresses import FORMS, check_database, parts, topic_of


def opened(url: str, name: str) -> TrainingQueue:
    """`name` keeps the queues of one server apart: the keys in Redis; in Kafka the consumer group, and the topic where
    the address names none."""
    address = parts(url)
    if address.scheme in ("redis", "rediss"):
        _require("A training queue in Redis", "redis", extra="redis")
        check_database(address)
        from whet.queues.redis_stream import RedisQueue

        return RedisQueue(url, name)
    if address.scheme == "kafka":
        _require("A training queue in Kafka", "confluent_kafka", extra="kafka")
        from whet.queues.kafka import KafkaQueue

        return KafkaQueue(url, topic=topic_of(address, otherwise=name), group=name)
    raise RefusedInput(f"There is no training queue for {address.scheme}://.", f"Write it like {FORMS}.")


def _require(what: str, module: str, extra: str) -> None:
    if find_spec(module) is None:
        raise MissingTool(f"{what} needs {module}, which is not installed.", f"Run pip install 'whet[{extra}]'.")
