"""How often somebody may ask, counted together by all processes that name one Redis."""

import asyncio
import hashlib
import hmac
import logging
from collections import OrderedDict
from typing import Final, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import RedisError

from whet.service.limits import OwnLimit
from whet.service.logs import LOGGER

_MOST_REMEMBERED: Final = 10_000
# Nobody waits longer for a count; a server that did not answer is left alone for a while.
_ANSWER_SECONDS: Final = 1.0
_AWAY_SECONDS: Final = 5.0
# KEYS: the bucket. ARGV: tokens a second, tokens at most, tokens wanted. Gives {given, left}. By the server's clock.
_TAKE: Final = """
local rate, most, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time, kept = redis.call('TIME'), redis.call('HMGET', KEYS[1], 'left', 'at')
local now, left = time[1] + time[2] / 1e6, most
if kept[1] then left = math.min(most, kept[1] + math.max(0, now - kept[2]) * rate) end
local given = math.min(wanted, math.floor(left))
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left - given), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], 61000)
return {given, math.floor(left - given)}
"""


class _Portion(NamedTuple):
    """What this process has taken for somebody and not given out; nothing more is to be had before `again`."""

    left: int
    again: float


_NOTHING: Final = _Portion(0, 0.0)


class SharedLimit:
    """A process takes a second's worth at a time, so that hardly any request asks Redis. While that is away, each
    process counts for itself."""

    def __init__(self, url: str, secret: bytes, name: str, per_minute: int) -> None:
        self._own = OwnLimit(per_minute)
        self._redis = Redis.from_url(url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS)
        self._script = self._redis.register_script(_TAKE)
        self._secret, self._name = secret, name
        self._portions: OrderedDict[str, _Portion] = OrderedDict()
        self._asking = asyncio.Lock()
        self._away_until = 0.0

    async def take(self, who: str, now: float) -> bool:
        portion = self._portions.get(who, _NOTHING)
        if portion.left == 0 and portion.again <= now:
            async with self._asking:  # one at a time: who waited may find what another one fetched
                fetched = await self._fetched(who, now)
            if fetched is None:
                return await self._own.take(who, now)
            portion = fetched
        self._remember(who, portion._replace(left=max(0, portion.left - 1)))
        return portion.left > 0

    def exhausted(self, who: str, now: float) -> bool:
        if now < self._away_until:
            return self._own.exhausted(who, now)
        portion = self._portions.get(who, _NOTHING)
        return portion.left == 0 and portion.again > now

    def retry_seconds(self) -> int:
        return self._own.retry_seconds()

    async def close(self) -> None:
        await self._redis.aclose()

    async def _fetched(self, who: str, now: float) -> _Portion | None:
        """None while Redis is away."""
        found = self._portions.get(who, _NOTHING)
        if found.left > 0 or found.again > now:
            return found
        if now < self._away_until:
            return None
        try:
            wanted = max(1, self._own.per_minute // 60)
            arguments = [self._own.rate, self._own.per_minute, wanted]
            given, left = await self._script(keys=[self._key(who)], args=arguments)
        except (RedisError, OSError) as error:
            self._away_until = now + _AWAY_SECONDS
            logging.getLogger(LOGGER).warning("limits are counted by each process: %s", type(error).__name__)
            return None
        return _Portion(int(given), now if left else now + 1.0 / self._own.rate)

    def _remember(self, who: str, portion: _Portion) -> None:
        self._portions[who] = portion
        self._portions.move_to_end(who)
        if len(self._portions) > _MOST_REMEMBERED:
            self._portions.popitem(last=False)

    def _key(self, who: str) -> str:
        """Installations on one Redis are kept apart, and nobody reads there who asked."""
        told = hmac.new(self._secret, f"limit:{self._name}:{who}".encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"whet:limit:{told.hexdigest()}"
