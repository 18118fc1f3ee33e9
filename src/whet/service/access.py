"""The lock: nothing but what is named here is answered to somebody unknown.

`Locked` asks who it is before anything of the app sees the request, so that a page which forgets to ask is locked too.
What a route needs beyond that it says itself::

    @router.post("/api/v1/training/start")
    def start(person: Annotated[Person, Depends(require(Role.OPERATOR))]) -> Started: ...
"""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whet.core.people import Person, Role
from whet.service.cookies import keep_cookie
from whet.service.desk import Desk, desk_of
from whet.service.identifying import Identifying, Known
from whet.service.problems import Problem, Refused, answer

PUBLIC: Final = frozenset({"/healthz", "/login"})
STATIC: Final = "/static/"
FORM_FIELD: Final = "csrf"
FORM_HEADER: Final = "x-csrf-token"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
UNKNOWN: Final = Problem(
    title="Unauthorized",
    status=401,
    detail="This needs a key.",
    remedy="Send it as `Authorization: Bearer whet_…`, or go to /login. Make one with: whet keys add NAME",
)
TOO_MANY: Final = Problem(title="Too Many Requests", status=429, detail="Too many requests.", remedy="Wait a little.")

Required = Callable[[Request], Awaitable[Person]]


def is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(STATIC)


class Locked:
    def __init__(self, app: ASGIApp, desk: Desk, identifying: Identifying) -> None:
        self.app, self.desk, self.identifying = app, desk, identifying

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        known, refusal = await self._admitted(request)
        if known is None:
            response = answer(request, refusal, _advice(refusal, self.desk))
            await response(scope, receive, send)
            return
        scope.setdefault("state", {})["known"] = known
        await self.app(scope, receive, self._renewing(request, known, send))

    async def _admitted(self, request: Request) -> tuple[Known | None, Problem]:
        now, address = time.monotonic(), address_of(request)
        if self.desk.attempts.exhausted(address, now):
            return None, TOO_MANY
        known = await self.identifying.who(request)
        if known is None:
            tried = request.headers.get("authorization") is not None
            return None, UNKNOWN if not tried or await self.desk.attempts.take(address, now) else TOO_MANY
        if not await self.desk.requests.take(known.person.key_id or known.person.name, now):
            return None, TOO_MANY
        return known, UNKNOWN

    def _renewing(self, request: Request, known: Known, send: Send) -> Send:
        """Who is at work is not sent away: the cookie is renewed with the answer."""
        session = known.session
        later = None if session is None else self.desk.sessions.renewed(session, self.desk.clock().timestamp())
        if later is None:
            return send

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                keep_cookie(MutableHeaders(scope=message), self.desk, later, request.url.scheme == "https")
            await send(message)

        return sending


def require(role: Role) -> Required:
    """A dependency: whoever asks, if they may; 403 otherwise. A form of a session must carry its token."""

    async def required(request: Request) -> Person:
        known: Known = request.state.known
        if not known.person.role.may(role):
            raise Refused(
                403,
                f"This needs the role {role.value}; the key {known.person.name!r} has {known.person.role.value}.",
                "Ask an admin for another key.",
            )
        if known.session is not None and request.method not in _SAFE:
            await _refuse_forged(request, known)
        return known.person

    required.role = role  # type: ignore[attr-defined]  # the walk over all routes reads it
    return required


def form_token(request: Request) -> str:
    """What every form of a page carries in its field `csrf`; empty for programs, which need none."""
    session = request.state.known.session
    return "" if session is None else desk_of(request).sessions.form_token(session)


async def _refuse_forged(request: Request, known: Known) -> None:
    given = request.headers.get(FORM_HEADER)
    if given is None and "form" in request.headers.get("content-type", ""):
        field = (await request.form()).get(FORM_FIELD)
        given = field if isinstance(field, str) else None
    session = known.session
    if given is None or session is None or not desk_of(request).sessions.is_form_token(session, given):
        raise Refused(403, "This form does not carry its token, or an old one.", "Load the page again and repeat it.")


def address_of(request: Request) -> str:
    return "unknown" if request.client is None else request.client.host


def _advice(refusal: Problem, desk: Desk) -> dict[str, str]:
    if refusal.status == 401:
        return {"WWW-Authenticate": 'Bearer realm="whet"'}
    return {"Retry-After": str(desk.attempts.retry_seconds())}
