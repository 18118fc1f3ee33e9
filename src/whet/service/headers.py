"""What every answer says to browsers, and which names this service answers to."""

from collections.abc import Collection
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whet.service.problems import Problem, answer

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # no-referrer makes browsers send forms with the origin "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_STRANGE: Final = Problem(
    title="Misdirected Request",
    status=421,
    detail="This service does not answer to that name.",
    remedy="Name it in [tool.whet.service] allowed_hosts.",
)


_SENT: Final = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
_NOT_KEPT: Final = (b"cache-control", b"no-store")


class Headed:
    """Security headers on every answer; nothing but what says so itself is kept by browsers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name, value) for name, value in message["headers"] if name.decode("latin-1") not in SECURITY]
                kept = any(name == b"cache-control" for name, _ in own)
                message["headers"] = [*own, *_SENT] if kept else [*own, *_SENT, _NOT_KEPT]
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)


class Named:
    """Refuses names that are not its own: a page elsewhere cannot point its own name here (DNS rebinding)."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app = app
        self.names = frozenset(name.lower() for name in (*LOOPBACK, *names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._own(scope):
            await self.app(scope, receive, send)
        else:
            await answer(Request(scope), _STRANGE)(scope, receive, send)

    def _own(self, scope: Scope) -> bool:
        given = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1:
            return False
        bare = given[0] if given[0].endswith("]") else given[0].rsplit(":", 1)[0]
        return bare in self.names
