"""Coming in with a key, and leaving."""

import time
from html import escape
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from whet.core.people import Person, Role
from whet.service.access import TOO_MANY, address_of, require
from whet.service.cookies import drop_cookie, keep_cookie
from whet.service.desk import Desk, desk_of
from whet.service.problems import Refused

router = APIRouter(include_in_schema=False)


@router.get("/login")
def ask(request: Request) -> Response:
    return drawn(request, None, 200)


@router.post("/login")
async def come_in(request: Request, key: Annotated[str, Form(max_length=200)]) -> Response:
    desk = desk_of(request)
    _refuse_elsewhere(request)
    now, address = time.monotonic(), address_of(request)
    if desk.attempts.exhausted(address, now):
        raise _too_many(desk)
    found = await request.app.state.identifying.by_key(key.strip())
    if found is None or not found.role.may(Role.VIEWER):
        if not await desk.attempts.take(address, now):
            raise _too_many(desk)
        return drawn(request, "That key is not valid.", 401)
    response = RedirectResponse("/", 303)
    session = desk.sessions.begun(found, desk.clock().timestamp())
    keep_cookie(response.headers, desk, session, request.url.scheme == "https")
    return response


@router.post("/logout")
def leave(_person: Annotated[Person, Depends(require(Role.VIEWER))]) -> Response:
    response = RedirectResponse("/login", 303)
    drop_cookie(response)
    return response


def drawn(request: Request, problem: str | None, status: int) -> Response:
    """The form; pages may draw a nicer one (`app.state.login_page`)."""
    page = getattr(request.app.state, "login_page", None)
    return _plain(problem, status) if page is None else page(request, problem, status)


def _plain(problem: str | None, status: int) -> Response:
    told = "" if problem is None else f'<p role="alert">{escape(problem)}</p>'
    return HTMLResponse(
        f'<!doctype html><html lang="en"><title>Whet</title><h1>Whet</h1>{told}'
        '<form method="post" action="/login"><label>Key <input type="password" name="key" required '
        'autocomplete="current-password"></label> <button>Come in</button></form></html>',
        status,
    )


def _too_many(desk: Desk) -> Refused:
    return Refused(429, TOO_MANY.detail, TOO_MANY.remedy, {"Retry-After": str(desk.attempts.retry_seconds())})


def _refuse_elsewhere(request: Request) -> None:
    """A page elsewhere must not bring somebody in as somebody else."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != request.headers["host"].lower():
        raise Refused(403, "This form was sent from another site.", "Open /login here.")
