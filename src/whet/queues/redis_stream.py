"""A training queue in a Redis stream with a consumer group."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from redis import Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from whet.core.errors import WhetError
from whet.core.queues import Delivery, Message, check_limits
from whet.queues import redis_scripts
from whet.queues.addresses import without_password
from whet.queues.keys import key_bytes, key_text

_GROUP = "whet"
_AT_ONCE = 500  # messages per request: a server that runs a script does nothing else
_ANSWER_SECONDS = 30.0
_TRIES = 10  # over about ten seconds
_LOOK_SECONDS = 0.05

T = TypeVar("T")


class RedisQueue:
    """`name` keeps the queues of one server apart. What is done with stays in the stream for whoever else reads it, for
    `kept` and up to `capacity` entries; what is not done with stays in any case."""

    drops_duplicates = True

    def __init__(
        self,
        url: str,
        name: str,
        lease_seconds: float = 300.0,
        kept: timedelta = timedelta(days=7),
        capacity: int = 100_000,
    ) -> None:
        self._shown = without_password(url)
        self._lease_ms = max(1, round(lease_seconds * 1000))
        self._kept_ms, self._capacity = round(kept.total_seconds() * 1000), capacity
        # The braces keep both keys on one node of a cluster, where a script needs them.
        self._stream, self._waiting = f"whet:{{{name}}}:stream", f"whet:{{{name}}}:waiting"
        with self._plain_errors():
            retry = Retry(ExponentialWithJitterBackoff(cap=2.0, base=0.02), _TRIES)
            self._redis = Redis.from_url(url, retry=retry, socket_timeout=_ANSWER_SECONDS)
            self._put, self._take, self._done = (
                self._redis.register_script(script)
                for script in (redis_scripts.PUT, redis_scripts.TAKE, redis_scripts.DONE)
            )

    def put(self, messages: Sequence[Message]) -> None:
        check_limits(messages)
        with self._plain_errors():
            for some in _portions(messages):
                pairs = [part for message in some for part in (key_bytes(message.key), message.body)]
                self._put(keys=[self._stream, self._waiting], args=pairs)

    def take(self, consumer: str, limit: int, wait_seconds: float = 0.0) -> list[Delivery]:
        until = time.monotonic() + wait_seconds
        while True:
            taken = self._take_now(consumer, limit) if limit > 0 else []
            left = until - time.monotonic()
            if taken or left <= 0:
                return taken
            # Not a blocking read: that would not see what becomes claimable meanwhile.
            time.sleep(min(_LOOK_SECONDS, left))

    def done(self, deliveries: Sequence[Delivery]) -> None:
        with self._plain_errors():
            for some in _portions(deliveries):
                pairs = [part for each in some for part in (each.receipt, key_bytes(each.message.key))]
                self._done(keys=[self._stream, self._waiting], args=[_GROUP, self._kept_ms, self._capacity, *pairs])

    def waiting(self) -> int | None:
        with self._plain_errors():
            return int(self._redis.hlen(self._waiting))

    def close(self) -> None:
        self._redis.close()

    def _take_now(self, consumer: str, limit: int) -> list[Delivery]:
        with self._plain_errors():
            arguments: list[str | bytes | int] = [_GROUP, key_bytes(consumer), self._lease_ms, limit]
            rows: list[list[Any]] = self._take(keys=[self._stream], args=arguments)
        return [Delivery(Message(key_text(key), body), id_.decode(), attempt) for id_, key, body, attempt in rows]

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except (RedisError, OSError) as error:
            raise WhetError(
                f"The training queue {self._shown} cannot be used: {str(error).rstrip('.')}.",
                "Check that the Redis server (6.2 or newer) runs, may be reached and takes this password.",
            ) from error


def _portions(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
