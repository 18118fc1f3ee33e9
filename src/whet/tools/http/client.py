"""A client for one origin: it follows no redirect, waits no longer than it is told, and says why nothing came back.

`http.client` rather than a richer library: a tester must see what the service really answered, and at some 0.2 ms a
request the budget is spent on the service instead of on ourselves.
"""

import http.client
import socket
import ssl
import time
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from whet.tools.http.messages import Request, Response, Silence
from whet.tools.http.origin import Origin

MOST_BYTES = 1_000_000
_CHUNK = 64 * 1024
_CUT_OFF = (ConnectionError, http.client.RemoteDisconnected, http.client.IncompleteRead, ssl.SSLError)


class _OneWrite(http.client.HTTPConnection):
    """Head and body leave together: `http.client` writes them one after the other, at the price of two."""

    _waiting: bytes = b""

    def send(self, data: Any) -> None:
        self._waiting += data

    def flush(self) -> None:
        data, self._waiting = self._waiting, b""
        super().send(data)


class _OneSecureWrite(_OneWrite, http.client.HTTPSConnection):
    """The same, encrypted."""


class Client:
    """Sends one request after another over a kept connection; one client per thread."""

    def __init__(
        self,
        origin: Origin,
        timeout_seconds: float = 10.0,
        trust: ssl.SSLContext | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.origin = origin
        self.timeout_seconds = timeout_seconds
        self._most_bytes = most_bytes
        self._trust = trust
        self._connection: _OneWrite | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(self, request: Request, fresh: bool = False) -> Response:
        """What came back. A kept connection that turns out to be cut is opened anew, once, and the answer says so.

        Services close connections that rested, and after some refusals, just as we speak: that looks like a crash. On a
        `fresh` connection the two can be told apart.
        """
        if fresh:
            self.close()
        started = time.monotonic()
        kept = self._connection is not None
        try:
            return self._exchange(request, started)
        except _CUT_OFF as error:
            self.close()
            if not kept:
                return _silent(_cut(error), started)
        except (TimeoutError, OSError, http.client.HTTPException) as error:
            self.close()
            return _silent(_why(error), started)
        return replace(self._again(request), resent=True)

    def _again(self, request: Request) -> Response:
        started = time.monotonic()
        try:
            return self._exchange(request, started)
        except _CUT_OFF as error:
            self.close()
            return _silent(_cut(error), started)
        except (TimeoutError, OSError, http.client.HTTPException) as error:
            self.close()
            return _silent(_why(error), started)

    def answers(self) -> bool:
        """Whether anything listens there, without sending a request."""
        try:
            with socket.create_connection((self.origin.host, self.origin.port), timeout=self.timeout_seconds):
                return True
        except OSError:
            return False

    def _exchange(self, request: Request, started: float) -> Response:
        connection = self._open()
        connection.putrequest(request.method, request.target, skip_host=False, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value.encode("latin-1", "replace"))
        named = {name.lower() for name, _ in request.headers}
        if "content-length" not in named and (request.body is not None or request.method in {"POST", "PUT", "PATCH"}):
            connection.putheader("Content-Length", str(len(request.body or b"")))
        heard_out = _sent(connection, request.body)
        answer = connection.getresponse()
        body, whole = self._read(answer, started)
        answer.close()  # read1 leaves an answer open at its end, and the connection would refuse the next request
        if answer.will_close or not whole or not heard_out:
            self.close()
        return Response(answer.status, tuple(answer.getheaders()), body, whole, time.monotonic() - started)

    def _open(self) -> _OneWrite:
        if self._connection is None:
            self._connection = self._fresh()
            self._connection.connect()
            sock = self._connection.sock
            with suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._connection

    def _fresh(self) -> _OneWrite:
        if self.origin.scheme == "https":
            return _OneSecureWrite(
                self.origin.host, self.origin.port, timeout=self.timeout_seconds, context=self._trust
            )
        return _OneWrite(self.origin.host, self.origin.port, timeout=self.timeout_seconds)

    def _read(self, answer: http.client.HTTPResponse, started: float) -> tuple[bytes, bool]:
        """The body as far as limits of size and time allow; an endless stream is cut, its status still counts."""
        parts: list[bytes] = []
        size = 0
        while size < self._most_bytes:
            try:
                part = answer.read1(_CHUNK)
            except TimeoutError:
                return b"".join(parts), False
            if not part:
                return b"".join(parts), answer.length in (None, 0)
            parts.append(part)
            size += len(part)
            if time.monotonic() - started > self.timeout_seconds:
                return b"".join(parts), False
        return b"".join(parts), False


def _sent(connection: _OneWrite, body: bytes | None) -> bool:
    """False when the service stopped listening: it may have answered before (413), which is no crash."""
    try:
        connection.endheaders(body)
        connection.flush()
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def _silent(why: Silence, started: float) -> Response:
    return Response(None, seconds=time.monotonic() - started, silence=why)


def _cut(error: Exception) -> Silence:
    return "unreachable" if isinstance(error, ConnectionRefusedError) else "dropped"


def _why(error: Exception) -> Silence:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, http.client.HTTPException):
        return "garbled"
    return "unreachable"
