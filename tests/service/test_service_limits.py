"""Limits that several processes count together, and what becomes of them while Redis is away."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from tests.queues.servers import RedisServer

from whet.service.shared_limits import SharedLimit

SECRET = b"of one installation"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer.running() as server:
        yield server


@asynccontextmanager
async def processes(redis: RedisServer, per_minute: int, secret: bytes = SECRET) -> AsyncIterator[list[SharedLimit]]:
    made = [SharedLimit(redis.url(), secret, "requests", per_minute) for _ in range(2)]
    try:
        yield made
    finally:
        for each in made:
            await each.close()


def test_two_take_from_one_bucket_and_others_have_their_own(redis: RedisServer) -> None:
    async def told() -> None:
        async with processes(redis, 4) as (one, other), processes(redis, 4, b"another") as (elsewhere, _):
            assert [await each.take("ada", 0.0) for each in (one, other, other, one)] == [True] * 4
            assert one.exhausted("ada", 0.1)  # it was told that it took the last
            assert not other.exhausted("ada", 0.1)
            assert not await other.take("ada", 0.1)
            assert other.exhausted("ada", 0.2)
            assert await other.take("grace", 0.1)
            assert await elsewhere.take("ada", 0.1)

    asyncio.run(told())


def test_a_process_takes_a_seconds_worth_at_a_time(redis: RedisServer) -> None:
    async def told() -> None:
        async with processes(redis, 600) as (one, other):
            began = time.monotonic()
            taken = [await limit.take("ada", 0.0) for _ in range(400) for limit in (one, other)]
            assert 600 <= sum(taken) <= 601 + 10.0 * (time.monotonic() - began)  # it fills while it is emptied
            assert not taken[-1]

    asyncio.run(told())


def test_at_once_nothing_is_taken_twice_or_lost(redis: RedisServer) -> None:
    async def told() -> None:
        async with processes(redis, 60) as (one, other):
            began = time.monotonic()
            asked = [limit.take("ada", 0.0) for _ in range(50) for limit in (one, other)]
            assert 60 <= sum(await asyncio.gather(*asked)) <= 61 + (time.monotonic() - began)

    asyncio.run(told())


def test_while_redis_is_away_each_counts_for_itself_and_then_together_again(redis: RedisServer) -> None:
    async def told() -> None:
        async with processes(redis, 2) as (one, other):
            redis.kill()
            assert [await one.take("ada", at) for at in (0.0, 0.1, 0.2)] == [True, True, False]
            assert one.exhausted("ada", 0.3)
            assert await other.take("ada", 0.3)
            redis.start()
            assert [await each.take("ada", 100.0) for each in (one, other, one)] == [True, True, False]

    asyncio.run(told())
