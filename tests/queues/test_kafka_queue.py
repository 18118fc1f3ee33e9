"""What only the Kafka queue does: partitions, groups, what its errors say."""

from collections import Counter
from contextlib import closing

import pytest
from confluent_kafka import Producer
from tests.queues.servers import KafkaBroker

from whet.checks.queue import keys, several_consumers_get_each_message_once, some, taken_until
from whet.core.errors import WhetError
from whet.queues import kafka_cluster
from whet.queues.kafka import KafkaQueue


def test_consumers_share_the_partitions(kafka_broker: KafkaBroker, name: str) -> None:
    several_consumers_get_each_message_once(
        lambda lease_seconds=60.0: KafkaQueue(
            kafka_broker.url(), name, name, lease_seconds, session_seconds=2.0, partitions=4
        )
    )


def test_whoever_hoards_gets_it_again_and_what_was_done_beyond_a_gap_is_remembered(
    kafka_broker: KafkaBroker, name: str
) -> None:
    with closing(KafkaQueue(kafka_broker.url(), name, name, lease_seconds=3.0, session_seconds=2.0)) as queue:
        queue.put(some(4))
        held = taken_until(queue, {key for key, _ in some(4)})
        queue.done([held[1], held[3]])
        assert Counter(keys(taken_until(queue, {"key-0", "key-2"}))) == {"key-0": 1, "key-2": 1}


def test_groups_each_get_everything(kafka_broker: KafkaBroker, name: str) -> None:
    with closing(KafkaQueue(kafka_broker.url(), name, "a", session_seconds=2.0)) as one:
        one.put(some(3))
        one.done(one.take("one", 10))
    with closing(KafkaQueue(kafka_broker.url(), name, "b", session_seconds=2.0)) as other:
        assert keys(other.take("one", 10)) == ["key-0", "key-1", "key-2"]


def test_what_others_put_there_is_no_obstacle(kafka_broker: KafkaBroker, name: str) -> None:
    with closing(KafkaQueue(kafka_broker.url(), name, name, session_seconds=2.0)) as queue:
        other = Producer({"bootstrap.servers": f"127.0.0.1:{kafka_broker.port}"})
        other.produce(name, b"no key")
        other.produce(name, None, b"\xff")
        other.flush(10)
        assert [(each.message.key, each.message.body) for each in queue.take("one", 10)] == [
            ("0:0", b"no key"),
            ("\\xff", b""),
        ]


def test_unreachable_brokers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_cluster, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(kafka_cluster, "_BRIEFLY", 0.5)
    with pytest.raises(WhetError, match=r"kafka://127\.0\.0\.1:9/topic cannot be used.*Check that"):
        KafkaQueue("kafka://127.0.0.1:9/topic", "topic", "group")
