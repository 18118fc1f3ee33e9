"""The training queue: experiences that passed the filter, on their way to whoever trains."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from whet.core.errors import RefusedInput

LONGEST_KEY = 200
LARGEST_BODY_BYTES = 1 << 20


class Message(NamedTuple):
    key: str  # 1 to 200 characters; the same key is the same message
    body: bytes


def check_limits(messages: Sequence[Message]) -> None:
    """The same of every queue, so that a line of settings changes where messages wait and nothing else."""
    for message in messages:
        if not 1 <= len(message.key) <= LONGEST_KEY:
            raise RefusedInput(
                f"A message's key has {len(message.key)} characters ({message.key[:40]!r}); nothing was put.",
                f"Give it 1 to {LONGEST_KEY}.",
            )
        if len(message.body) > LARGEST_BODY_BYTES:
            raise RefusedInput(
                f"The body of message {message.key!r} has {len(message.body):,} bytes; nothing was put.",
                f"Keep it within {LARGEST_BODY_BYTES:,}.",
            )


class Delivery(NamedTuple):
    """A message in somebody's hands. `receipt` is the queue's own; `attempt` counts from 1, None where the queue does
    not count."""

    message: Message
    receipt: str
    attempt: int | None


class TrainingQueue(Protocol):
    """Delivers at least once. A message is delivered to one consumer at a time; whoever dies holding it, or keeps it
    longer than the lease, loses it to another. Whether duplicates of a key within the queue are dropped is up to the
    queue (`drops_duplicates`); whoever takes must be able to meet a key twice."""

    @property
    def drops_duplicates(self) -> bool: ...

    def put(self, messages: Sequence[Message]) -> None:
        """All of them are safe when it returns; when it raises, any of them may be, so putting again is right.
        RefusedInput, and none is put, for a key or body outside the limits."""

    def take(self, consumer: str, limit: int, wait_seconds: float = 0.0) -> list[Delivery]:
        """Oldest first; fewer than `limit`, or none, when there are no more after `wait_seconds`."""

    def done(self, deliveries: Sequence[Delivery]) -> None:
        """They are never delivered again. Saying it twice, or after the lease, does no harm."""

    def waiting(self) -> int | None:
        """Messages not done with, taken ones included; None where the queue cannot tell."""

    def close(self) -> None: ...
