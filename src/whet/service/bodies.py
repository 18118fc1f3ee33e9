"""What may be sent: bounded in size, whoever sends it and whatever they say of its length."""

from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whet.service.problems import Problem, Refused, answer

LARGEST_BYTES: Final = 1 << 20
_DETAIL: Final = f"A body may have {LARGEST_BYTES:,} bytes."
_REMEDY: Final = "Send less at once."
_TOO_LARGE: Final = Problem(title="Content Too Large", status=413, detail=_DETAIL, remedy=_REMEDY)


class Bounded:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif _announced(scope) > LARGEST_BYTES:
            await answer(Request(scope), _TOO_LARGE)(scope, receive, send)
        else:
            await self.app(scope, _counting(receive), send)


def _announced(scope: Scope) -> int:
    """The length the sender speaks of; the server refuses one that is no number."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


def _counting(receive: Receive) -> Receive:
    """A body without a length is counted as it comes."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BYTES:
            raise Refused(413, _DETAIL, _REMEDY)
        return message

    return counted
