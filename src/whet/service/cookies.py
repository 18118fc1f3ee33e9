"""The session's cookie: for this site alone, out of reach of scripts."""

from starlette.datastructures import MutableHeaders
from starlette.responses import Response

from whet.service.desk import Desk
from whet.service.sessions import COOKIE, Session


def keep_cookie(headers: MutableHeaders, desk: Desk, session: Session, secure: bool) -> None:
    seconds = max(0, session.expires - int(desk.clock().timestamp()))
    text = f"{COOKIE}={desk.sessions.sealed(session)}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Strict"
    headers.append("set-cookie", f"{text}; Secure" if secure else text)


def drop_cookie(response: Response) -> None:
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
