"""What only the Redis queue does: retention, counting attempts, getting over a server that lost its data."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis
from tests.queues.servers import RedisServer

from whet.checks.queue import keys, some
from whet.core.errors import WhetError
from whet.core.queues import Message
from whet.queues import redis_stream
from whet.queues.redis_stream import RedisQueue


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """One that may be stopped."""
    with RedisServer.running() as server:
        yield server


@pytest.fixture
def redis(redis_server: RedisServer) -> Iterator[Redis]:
    with closing(Redis.from_url(redis_server.url())) as client:
        yield client


def kept(redis: Redis, name: str) -> list[str]:
    entries: Any = redis.xrange(f"whet:{{{name}}}:stream")
    return [fields[b"key"].decode() for _, fields in entries]


def test_only_what_is_done_is_trimmed_by_number(redis_server: RedisServer, redis: Redis, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name, capacity=150)) as queue:
        queue.put(some(1000))
        assert len(kept(redis, name)) == 1000, "nothing is done"
        held = queue.take("one", 500)
        queue.done([*held[:300], *held[301:]])
        assert kept(redis, name)[0] in {key for key, _ in some(100, first=201)}, "key-300 and what follows stays"
        assert {"key-300", "key-999"} <= set(kept(redis, name))
        queue.done(held)
        while rest := queue.take("one", 500):
            queue.done(rest)
        assert 150 <= len(kept(redis, name)) <= 250, "whole nodes of the stream go"


def test_only_what_is_done_is_trimmed_by_age(redis_server: RedisServer, redis: Redis, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name, kept=timedelta(milliseconds=50))) as queue:
        queue.put(some(300))
        first = queue.take("one", 200)
        time.sleep(0.1)
        queue.done(first[100:])
        assert len(kept(redis, name)) == 300, "the oldest is in somebody's hands"
        queue.done(first[:100])
        assert {key for key, _ in some(100, first=200)} <= set(kept(redis, name))
        assert len(kept(redis, name)) < 300


def test_a_week_is_kept_unless_told_otherwise(redis_server: RedisServer, redis: Redis, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name)) as queue:
        queue.put(some(500))
        queue.done(queue.take("one", 500))
    assert len(kept(redis, name)) == 500


def test_attempts_are_counted(redis_server: RedisServer, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name, lease_seconds=0.01)) as queue:
        queue.put(some(1))
        attempts = []
        for _ in range(3):
            attempts += [each.attempt for each in queue.take("one", 10)]
            time.sleep(0.02)
    assert attempts == [1, 2, 3]


def test_ended_leases_are_found_behind_many_that_last(redis_server: RedisServer, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name, lease_seconds=1.0)) as queue:
        queue.put(some(60))
        queue.take("dead", 50)
        time.sleep(1.05)
        assert len(queue.take("alive", 45)) == 45
        assert keys(queue.take("heir", 2)) == ["key-45", "key-46"]


def test_a_stream_that_somebody_emptied_swallows_nothing(redis_server: RedisServer, redis: Redis, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name)) as queue:
        queue.put(some(3))
        redis.delete(f"whet:{{{name}}}:stream")
        queue.put(some(3))
        assert keys(queue.take("one", 10)) == ["key-0", "key-1", "key-2"]
        redis.flushdb()
        queue.done([])
        queue.put(some(2))
        assert keys(queue.take("one", 10)) == ["key-0", "key-1"]


def test_a_server_that_starts_again_is_found_again(server: RedisServer) -> None:
    with closing(RedisQueue(server.url(), "name")) as queue:
        queue.put(some(1))
        server.kill()
        server.start()  # its data is gone, scripts and group too
        assert queue.take("one", 10) == []
        queue.put([Message("after", b"")])
        assert keys(queue.take("one", 10)) == ["after"]


def test_what_others_put_there_is_no_obstacle(redis_server: RedisServer, redis: Redis, name: str) -> None:
    with closing(RedisQueue(redis_server.url(), name)) as queue:
        queue.put(some(1))
        redis.xadd(f"whet:{{{name}}}:stream", {"key": b"\xff odd", "body": b"x"})
        queue.put(some(1, first=1))
        came = queue.take("one", 10)
        assert keys(came) == ["key-0", "\\xff odd", "key-1"]
        queue.done(came)
        assert queue.waiting() == 0


def test_an_unreachable_server_is_named_without_its_password(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_stream, "_TRIES", 2)
    with closing(RedisQueue(server.url() + "?password=secret", "name")) as queue:
        server.kill()
        with pytest.raises(WhetError, match=r"redis://127\.0\.0\.1:\d+/0 cannot be used.*Check that") as caught:
            queue.put(some(1))
    assert "p4ss" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_wrong_password_is_told_without_it(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_stream, "_TRIES", 2)
    url = f"redis://:wr0ng@127.0.0.1:{server.port}/0"
    with closing(RedisQueue(url, "name")) as queue, pytest.raises(WhetError, match="this password") as caught:
        queue.waiting()
    assert "wr0ng" not in str(caught.value)
