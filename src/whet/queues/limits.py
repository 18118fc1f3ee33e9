"""What a message may be, and its key as bytes."""

from collections.abc import Sequence

from whet.core.errors import RefusedInput
from whet.core.queues import LARGEST_BODY_BYTES, Message

LONGEST_KEY = 200


def check_limits(messages: Sequence[Message]) -> None:
    for message in messages:
        if not 1 <= len(message.key) <= LONGEST_KEY:
            raise RefusedInput(
                f"A message's key has {len(message.key)} characters ({message.key[:40]!r}).",
                f"Give it 1 to {LONGEST_KEY}.",
            )
        if len(message.body) > LARGEST_BODY_BYTES:
            raise RefusedInput(
                f"The body of message {message.key!r} has {len(message.body):,} bytes.",
                f"Keep it within {LARGEST_BODY_BYTES:,}.",
            )


def key_bytes(key: str) -> bytes:
    """Lone surrogates (of `surrogateescape`d paths) are carried too."""
    return key.encode("utf-8", "surrogatepass")


def key_text(key: bytes) -> str:
    """Also of what somebody else put there: one odd message must not keep all others from being taken."""
    try:
        return key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return key.decode("utf-8", "backslashreplace")
