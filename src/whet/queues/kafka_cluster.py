"""The brokers: how they are reached, the topic, its offsets, and what their errors mean to people."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from whet.core.errors import RefusedInput, WhetError
from whet.core.queues import LARGEST_BODY_BYTES
from whet.queues.addresses import FORMS, hosts, parts, without_password

ANSWER_SECONDS = 30.0
# A body, a key of 200 characters of four bytes, and what Kafka writes around them.
LARGEST_MESSAGE_BYTES = LARGEST_BODY_BYTES + (64 << 10)
_BRIEFLY = 5.0  # seconds for each answer: the connection may be cut while it is awaited
_RETRY_SECONDS = 0.1
# A cut connection is made again soon: the client would wait ever longer, up to ten seconds.
_RECONNECTING = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 1000}
# A connection was cut, or the broker that answers for the group is changing.
_PASSING = {
    *(KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE, KafkaError._WAIT_COORD),
    *(KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR),
    *(KafkaError.REQUEST_TIMED_OUT, KafkaError.NETWORK_EXCEPTION, KafkaError.LEADER_NOT_AVAILABLE),
    *(KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.NOT_LEADER_FOR_PARTITION),  # of a topic made a moment ago
    *(KafkaError._UNKNOWN_PARTITION, KafkaError._DESTROY_BROKER),  # the client asks anew which brokers there are
}

T = TypeVar("T")


class Cluster:
    def __init__(self, url: str, topic: str, group: str) -> None:
        self.topic, self.group = topic, group
        self._shown = without_password(url)
        self._heard: str | None = None
        self.settings = _settings(url) | _RECONNECTING | {"error_cb": self._hear, "log_level": 0}
        with self.plain_errors():
            # Asks without ever joining the group; on connections of its own, where no answer waits behind a long read.
            self._asking = Consumer(self.settings | {"group.id": group})

    def make_topic(self, partitions: int, kept: timedelta) -> None:
        """If it is missing. A topic that exists stays as its owner made it."""
        kept_ms = round(kept.total_seconds() * 1000)
        config = {"max.message.bytes": str(LARGEST_MESSAGE_BYTES), "retention.ms": str(kept_ms)}
        topic = NewTopic(
            self.topic, num_partitions=partitions, config=config
        )  # replicated as the brokers' default says
        try:
            admin = AdminClient(self.settings)
            self.patiently(lambda: admin.create_topics([topic], request_timeout=_BRIEFLY)[self.topic].result())
        except KafkaException as error:
            if code_of(error) != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def partitions(self) -> list[int]:
        listed = self.patiently(lambda: self._asking.list_topics(self.topic, timeout=_BRIEFLY))
        return sorted(listed.topics[self.topic].partitions)

    def bounds(self, partition: int) -> tuple[int, int]:
        """The first offset that the brokers still have, and the one after the last."""
        at = TopicPartition(self.topic, partition)
        return self.patiently(lambda: self._asking.get_watermark_offsets(at, timeout=_BRIEFLY)) or (0, 0)

    def start(self, partition: int) -> int:
        """Where the group goes on: after what is done, and not before what the brokers still have."""
        at = TopicPartition(self.topic, partition)
        (kept,) = self.patiently(lambda: self._asking.committed([at], timeout=_BRIEFLY))
        return max(kept.offset, self.bounds(partition)[0])

    def close(self) -> None:
        self._asking.close()

    def patiently(self, call: Callable[[], T]) -> T:
        give_up = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                return call()
            except KafkaException as error:
                if code_of(error) not in _PASSING or time.monotonic() > give_up:
                    raise
                time.sleep(_RETRY_SECONDS)

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        try:
            yield
        except (KafkaException, TimeoutError) as error:
            heard = f" ({self._heard})" if self._heard else ""
            raise WhetError(
                f"The training queue {self._shown} cannot be used: {_said(error)}{heard}.",
                "Check that the brokers run, may be reached and allow this topic and consumer group.",
            ) from error

    def _hear(self, error: KafkaError) -> None:
        """Connections are mended by the client; what it said of them last explains why something took too long."""
        self._heard = error.str()


def code_of(error: KafkaException) -> int | None:
    cause = error.args[0]
    return cause.code() if isinstance(cause, KafkaError) else None


def _said(error: Exception) -> str:
    if isinstance(error, KafkaException) and isinstance(error.args[0], KafkaError):
        return error.args[0].str()
    return str(error) or "no answer in time"


def _settings(url: str) -> dict[str, Any]:
    address = parts(url)
    if "@" in address.netloc:
        raise RefusedInput(
            "Brokers that want a user and password are not supported yet.", f"Write the address like {FORMS}."
        )
    return {"bootstrap.servers": hosts(address)}
