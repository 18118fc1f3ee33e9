"""One consumer as a member of the group: which partitions it has, what it hands out and what it keeps as done."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as Record

from whet.queues.kafka_cluster import ANSWER_SECONDS, Cluster, code_of
from whet.queues.kafka_progress import Progress

_POLL_SECONDS = 0.1
_JOIN_SECONDS = 10.0  # brokers wait three seconds for others before they share a group out for the first time
# The group is shared out anew: what we had is somebody else's now, and saying that it is done comes too late. Or the
# partition stays ours, and the next call keeps it.
_SHARED_OUT_ANEW = {
    *(KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID),
    *(KafkaError.REBALANCE_IN_PROGRESS, KafkaError._ASSIGNMENT_LOST),
    KafkaError._DESTROY,  # the client left the group, having been silent for longer than the lease
}
# The client mends these by itself.
_HARMLESS = {KafkaError._MAX_POLL_EXCEEDED, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}


class Member:
    """After an error it is not to be used again."""

    def __init__(self, cluster: Cluster, lease_seconds: float, session_seconds: float) -> None:
        self._cluster, self._lease = cluster, lease_seconds
        self._joined = False
        self._progress: dict[int, Progress] = {}
        self._taken: list[Record] = []
        settings = _settings(cluster.group, lease_seconds, min(session_seconds, lease_seconds))
        self._consumer = Consumer(cluster.settings | settings)
        self._consumer.subscribe([cluster.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)

    def take(self, limit: int, wait_seconds: float) -> list[Record]:
        begun = time.monotonic()
        self._taken = []
        self._keep()
        self._rewind()
        ends: dict[int, int] = {}
        while len(self._taken) < limit:
            ahead = self._ahead(ends)
            patience = begun + self._patience(ahead, wait_seconds) - time.monotonic()
            if patience <= 0:
                break
            self._meet(self._consumer.consume(min(limit - len(self._taken), ahead or 1), min(patience, _POLL_SECONDS)))
        return self._taken

    def done(self, places: Iterable[tuple[int, int]]) -> None:
        for partition, offset in places:
            if partition in self._progress:
                self._progress[partition].finish(offset)
        self._keep()

    def close(self) -> None:
        """What it has in hand goes to others at once."""
        self._consumer.close()

    def _patience(self, ahead: int | None, wait_seconds: float) -> float:
        """How long `take` may last, as far as it is known what lies ahead."""
        if ahead is None:
            return max(wait_seconds, _JOIN_SECONDS)
        if ahead > 0:
            return wait_seconds + ANSWER_SECONDS
        return 0.0 if self._taken else wait_seconds

    def _ahead(self, ends: dict[int, int]) -> int | None:
        """How many offsets are to be read, at least; None before the group was shared out."""
        if not self._joined:
            return None
        ends |= {each: self._cluster.bounds(each)[1] for each in self._progress if each not in ends}
        return sum(max(0, self._end(each, ends[each]) - its.position) for each, its in self._progress.items())

    def _end(self, partition: int, asked: int) -> int:
        """The later of what the broker said when it was asked and when it was last read from."""
        seen = self._consumer.get_watermark_offsets(self._at(partition), cached=True)
        return max(asked, seen[1] if seen else 0)

    def _meet(self, records: Sequence[Record]) -> None:
        read_again: set[int] = set()
        for record in records:
            partition, offset = record.partition(), record.offset()
            its = None if partition is None or partition in read_again else self._progress.get(partition)
            if record.error() is not None:
                self._hear(record.error(), its, offset)
            elif its is None or partition is None or offset is None:
                continue  # no longer ours, or comes again
            elif its.skips(offset):
                self._seek(partition, its.position)
                read_again.add(partition)
            elif its.meet(offset, time.monotonic(), self._lease):
                self._taken.append(record)

    def _hear(self, error: KafkaError | None, its: Progress | None, offset: int | None) -> None:
        code = None if error is None else error.code()
        if code == KafkaError._PARTITION_EOF:
            if its is not None and offset is not None:
                its.position = offset  # the last offsets of a partition may hold no messages
        elif code not in _HARMLESS:
            raise KafkaException(error)

    def _rewind(self) -> None:
        for partition, its in self._progress.items():
            overdue = its.overdue(time.monotonic(), self._lease)
            if overdue is not None:
                self._seek(partition, overdue)
                its.position = overdue

    def _seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(self._at(partition, offset))

    def _keep(self) -> None:
        moved = {each: its.finished for each, its in self._progress.items() if its.finished > its.kept}
        if not moved:
            return
        offsets = [self._at(partition, offset) for partition, offset in moved.items()]
        try:
            self._cluster.patiently(lambda: self._commit(offsets))
        except KafkaException as error:
            if code_of(error) not in _SHARED_OUT_ANEW:
                raise
        else:
            for partition, offset in moved.items():
                self._progress[partition].kept = offset

    def _commit(self, offsets: list[TopicPartition]) -> None:
        for each in self._consumer.commit(offsets=offsets, asynchronous=False) or []:
            if each.error is not None:
                raise KafkaException(each.error)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        starts = {each.partition: self._cluster.start(each.partition) for each in partitions}
        consumer.incremental_assign([self._at(partition, start) for partition, start in starts.items()])
        self._progress |= {partition: Progress(start) for partition, start in starts.items()}
        self._joined = True

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._keep()
        self._forget(partitions)

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._joined = False
        self._forget(partitions)

    def _forget(self, partitions: list[TopicPartition]) -> None:
        gone = {each.partition for each in partitions}
        self._progress = {each: its for each, its in self._progress.items() if each not in gone}
        self._taken = [record for record in self._taken if record.partition() not in gone]

    def _at(self, partition: int, offset: int = -1001) -> TopicPartition:
        return TopicPartition(self._cluster.topic, partition, offset)


def _settings(group: str, lease_seconds: float, session_seconds: float) -> dict[str, Any]:
    session_ms = round(session_seconds * 1000)
    return {
        "group.id": group,
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        # Whoever joins takes no partition away that need not move: its messages may be in somebody's hands.
        "partition.assignment.strategy": "cooperative-sticky",
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": max(1, session_ms // 4),
        "max.poll.interval.ms": round(lease_seconds * 1000),
    }
