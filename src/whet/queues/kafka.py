"""A training queue in a topic of brokers that speak Kafka's protocol."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Record

from whet.core.queues import Delivery, Message, check_limits
from whet.queues.kafka_cluster import ANSWER_SECONDS, LARGEST_MESSAGE_BYTES, Cluster
from whet.queues.kafka_member import Member
from whet.queues.keys import key_bytes, key_text


class KafkaQueue:
    """What a consumer holds longer than `lease_seconds` is lost to it, and what it holds when it dies after
    `session_seconds` (of which brokers usually want 6 or more). `kept` and `partitions` are for a topic that does not
    exist yet. The order is kept within a partition, and only one consumer at a time has it: with one, the others stand
    by."""

    drops_duplicates = False

    def __init__(
        self,
        url: str,
        topic: str,
        group: str,
        lease_seconds: float = 300.0,
        session_seconds: float = 10.0,
        kept: timedelta = timedelta(days=7),
        partitions: int = 1,
    ) -> None:
        self._lease, self._session = lease_seconds, session_seconds
        self._members: dict[str, Member] = {}
        self._producer: Producer | None = None
        self._cluster = Cluster(url, topic, group)
        with self._cluster.plain_errors():
            self._cluster.make_topic(partitions, kept)

    def put(self, messages: Sequence[Message]) -> None:
        check_limits(messages)
        with self._cluster.plain_errors(), self._producing() as producer:
            failed: list[KafkaError] = []
            for message in messages:
                self._produce(producer, message, failed)
            if producer.flush(2 * ANSWER_SECONDS):
                raise TimeoutError
            if failed:
                raise KafkaException(failed[0])

    def take(self, consumer: str, limit: int, wait_seconds: float = 0.0) -> list[Delivery]:
        with self._cluster.plain_errors(), self._member(consumer) as member:
            return [_delivery(record, consumer) for record in member.take(limit, wait_seconds)]

    def done(self, deliveries: Sequence[Delivery]) -> None:
        """What was taken through another opening, or by a consumer that lost it, is somebody else's to finish."""
        by_consumer = defaultdict(list)
        for delivery in deliveries:
            partition, offset, consumer = delivery.receipt.split(":", 2)
            by_consumer[consumer].append((int(partition), int(offset)))
        for consumer in by_consumer.keys() & self._members.keys():
            with self._cluster.plain_errors(), self._member(consumer) as member:
                member.done(by_consumer[consumer])

    def waiting(self) -> int | None:
        """What was done beyond something not done is counted too: the brokers do not know of it."""
        with self._cluster.plain_errors():
            partitions = self._cluster.partitions()
            return sum(max(0, self._cluster.bounds(each)[1] - self._cluster.start(each)) for each in partitions)

    def close(self) -> None:
        while self._members:
            with self._cluster.plain_errors():
                self._members.popitem()[1].close()
        self._cluster.close()

    @contextmanager
    def _member(self, consumer: str) -> Iterator[Member]:
        """A member that met an error leaves the group, and what it had in hand comes again."""
        if consumer not in self._members:
            self._members[consumer] = Member(self._cluster, self._lease, self._session)
        try:
            yield self._members[consumer]
        except KafkaException:
            self._members.pop(consumer).close()
            raise

    @contextmanager
    def _producing(self) -> Iterator[Producer]:
        """A producer that met an error may be unable to go on; the next one is new."""
        producer = self._producer or Producer(self._cluster.settings | _PRODUCING)
        self._producer = None
        yield producer
        self._producer = producer

    def _produce(self, producer: Producer, message: Message, failed: list[KafkaError]) -> None:
        def delivered(error: KafkaError | None, _: Record) -> None:
            if error is not None:
                failed.append(error)

        while True:
            try:
                producer.produce(self._cluster.topic, message.body, key_bytes(message.key), on_delivery=delivered)
                return
            except BufferError:  # what waits to be sent fills the memory for it; it leaves, or fails, in time
                producer.poll(1.0)


_PRODUCING = {
    "enable.idempotence": True,
    "acks": "all",
    "message.max.bytes": LARGEST_MESSAGE_BYTES,
    "message.timeout.ms": round(ANSWER_SECONDS * 1000),
}


def _delivery(record: Record, consumer: str) -> Delivery:
    place = f"{record.partition()}:{record.offset()}"
    key = record.key()  # None, as the value may be, in what others put there
    message = Message(place if key is None else key_text(key), record.value() or b"")
    return Delivery(message, f"{place}:{consumer}", attempt=None)
