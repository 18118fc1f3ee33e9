"""Events through a queue while connections are cut: producers that put again and more than once, consumers that take,
collect and only then say done. What arrives must be every event, and nothing else."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Store
from whet.core.queues import Message, TrainingQueue
from whet.core.records import Experience

_PATIENCE_SECONDS = 120.0
_DUPLICATED = 0.05

T = TypeVar("T")
Opened = Callable[[], TrainingQueue]


class Sink(Protocol):
    """A set by key; whoever crashes between collecting and saying done collects again."""

    def collect(self, messages: Sequence[Message]) -> None: ...
    def count(self) -> int: ...


class Arrived:
    """`at_first` is called when the first events came."""

    def __init__(self, at_first: Callable[[], None] = lambda: None) -> None:
        self._at_first = at_first
        self.bodies: dict[str, bytes] = {}
        self.deliveries = 0
        self._lock = threading.Lock()

    def collect(self, messages: Sequence[Message]) -> None:
        with self._lock:
            if messages and not self.bodies:
                self._at_first()
            self.deliveries += len(messages)
            self.bodies |= dict(messages)

    def count(self) -> int:
        return len(self.bodies)


class Collected:
    """The training set of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.deliveries = 0

    def collect(self, messages: Sequence[Message]) -> None:
        experiences = [Experience.model_validate_json(body) for _, body in messages]
        self._store.learning.collect(experiences, datetime(2026, 1, 1, tzinfo=UTC))
        self.deliveries += len(messages)

    def keys(self) -> list[str]:
        """Of everything that was collected, which becomes a batch."""
        batch = self._store.learning.close_batch("runner", datetime(2026, 1, 2, tzinfo=UTC), fewest=1)
        return [] if batch is None else [each.key for each in self._store.learning.members(batch.number)]

    def count(self) -> int:
        return sum(self._store.learning.waiting(agent)[0] for agent in self._store.learning.agents_waiting())


def again_and_again(call: Callable[[], T]) -> T:
    """As a service loop does: the next tick tries again."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return call()
        except RefusedInput:
            raise
        except WhetError:
            if time.monotonic() > until:
                raise


def deliver(
    opened: Opened, messages: Sequence[Message], sink: Sink, seed: int, consumers: int = 2, at_once: int = 500
) -> None:
    """Until everything arrived and nothing is left."""
    until = time.monotonic() + _PATIENCE_SECONDS

    def produce(part: int) -> None:
        dice = random.Random(seed + part)
        with closing(again_and_again(opened)) as queue:
            for batch in _batches(messages[part::2], at_once, dice):
                again_and_again(lambda batch=batch: queue.put(batch))  # type: ignore[misc]

    def consume(number: int) -> None:
        with closing(again_and_again(opened)) as queue:
            while again_and_again(sink.count) < len(messages) and time.monotonic() < until:
                again_and_again(lambda: _pass_on(queue, f"consumer-{number}", at_once, sink))

    with ThreadPoolExecutor(2 + consumers) as pool:
        working = [pool.submit(produce, part) for part in range(2)]
        working += [pool.submit(consume, number) for number in range(consumers)]
        for each in working:
            each.result()


def _pass_on(queue: TrainingQueue, consumer: str, limit: int, sink: Sink) -> None:
    deliveries = queue.take(consumer, limit, wait_seconds=0.2)
    again_and_again(lambda: sink.collect([each.message for each in deliveries]))
    queue.done(deliveries)


def _batches(messages: Sequence[Message], at_once: int, dice: random.Random) -> list[list[Message]]:
    """Some messages twice, some batches too: whoever does not know whether it was put puts it again."""
    batches = []
    for start in range(0, len(messages), at_once):
        batch = list(messages[start : start + at_once])
        batch += [message for message in batch if dice.random() < _DUPLICATED]
        batches += [batch] * (2 if dice.random() < _DUPLICATED else 1)
    return batches
