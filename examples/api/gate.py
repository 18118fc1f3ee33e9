"""Before any route: what cannot be read at all is refused, so that routes see text that is text."""

from urllib.parse import unquote_to_bytes

from examples.api.answers import problem
from examples.api.faults import planted
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
WITH_BODY = ("POST", "PUT", "PATCH")


class Gate:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        refusal = _unreadable_target(scope)
        if scope["method"] in WITH_BODY:
            body, whole = await _drained(receive)
            refusal = refusal or _unreadable_body(scope, body, whole)
            receive = _once(body)
        if refusal is not None:
            return await problem(*refusal)(scope, receive, send)
        return await self._app(scope, receive, send)


def _unreadable_target(scope: Scope) -> tuple[int, str] | None:
    if b"%2f" in scope["raw_path"].lower():  # decoded it would be another route's path
        return 404, "No such path"
    if not _is_text(unquote_to_bytes(scope["raw_path"])) or not _is_text(unquote_to_bytes(scope["query_string"])):
        return 400, "The address is not UTF-8"
    return None


def _unreadable_body(scope: Scope, body: bytes, whole: bool) -> tuple[int, str] | None:
    headers = Headers(scope=scope)
    if not whole:
        return 413, f"The body is larger than {LARGEST_BODY} bytes"
    if body and headers.get("content-encoding", "identity").lower() != "identity":
        return 415, "Encoded bodies are not taken"
    raw = headers.get("content-type", "").startswith("multipart/") or (
        planted("import-bytes") and scope["path"] == "/imports"
    )
    if not raw and (not _is_text(body) or ("json" in headers.get("content-type", "") and b"\0" in body)):
        return 400, "The body is not UTF-8"
    return None


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _drained(receive: Receive) -> tuple[bytes, bool]:
    """The body, and whether it is whole. Read to its end even if too large: a sender cut off would see no answer."""
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= LARGEST_BODY:
            chunks.append(chunk)
        more = message.get("more_body", False)
    return b"".join(chunks), size <= LARGEST_BODY


def _once(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
