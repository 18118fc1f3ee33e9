"""Who is asking: by key, by token, or by session. Keys are looked up at most once a second."""

from collections import OrderedDict
from typing import Final, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from whet.core.people import Key, Person
from whet.service.desk import Desk
from whet.service.keys import matches, parsed
from whet.service.sessions import COOKIE, Session

# A key that another process revoked or rotated is refused after this at the latest.
FRESH_SECONDS: Final = 1.0
_MOST_KNOWN: Final = 4096


class Known(NamedTuple):
    """`session` is None for programs, which send their credentials themselves and need no form token."""

    person: Person
    session: Session | None


class Identifying:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._keys: OrderedDict[str, tuple[float, Key | None]] = OrderedDict()

    async def who(self, connection: HTTPConnection) -> Known | None:
        """None without credentials, or with wrong ones."""
        header = connection.headers.get("authorization")
        if header is not None:
            person = await self._by_header(header)
            return None if person is None else Known(person, None)
        cookie = connection.cookies.get(COOKIE)
        return None if cookie is None else await self._by_cookie(cookie)

    async def by_key(self, text: str) -> Key | None:
        """The valid key with this text."""
        found = parsed(text)
        if found is None:
            return None
        key = await self._key(found[0])
        return key if matches(self._desk.secret, key, *found) and self._usable(key) else None

    def forget(self) -> None:
        """Look every key up again: one was changed in this process."""
        self._keys.clear()

    async def _by_header(self, header: str) -> Person | None:
        scheme, _, text = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        if not text.startswith("whet_"):
            return self._desk.tokens.person(text)
        key = await self.by_key(text)
        return None if key is None else _person(key)

    async def _by_cookie(self, cookie: str) -> Known | None:
        session = self._desk.sessions.opened(cookie, self._desk.clock().timestamp())
        key = None if session is None else await self._key(session.key_id)
        if session is None or key is None or key.turn != session.turn or not self._usable(key):
            return None
        return Known(_person(key), session)

    def _usable(self, key: Key | None) -> bool:
        return key is not None and key.valid(self._desk.clock())

    async def _key(self, key_id: str) -> Key | None:
        now = self._desk.clock().timestamp()
        seen = self._keys.get(key_id)
        if seen is None or abs(now - seen[0]) > FRESH_SECONDS:
            seen = (now, await run_in_threadpool(self._desk.store.people.find, key_id))
            self._keys[key_id] = seen
            if len(self._keys) > _MOST_KNOWN:
                self._keys.popitem(last=False)
        return seen[1]


def _person(key: Key) -> Person:
    return Person(name=key.name, role=key.role, key_id=key.id)
