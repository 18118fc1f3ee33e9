"""One process, one port, until it is told to end."""

import contextlib
import ipaddress
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from whet.core.errors import WhetError
from whet.service.logs import begin_logging

# Whoever is still being answered gets this long; live pages never end by themselves.
_GRACE_SECONDS = 3
_BACKLOG = 2048


def bound(host: str, port: int) -> socket.socket:
    """The port, taken before anything is said of it."""
    try:
        return _listening(host, port)
    except OSError as error:
        raise WhetError(
            f"Whet cannot listen at {host}:{port}: {error.strerror or error}.",
            "Give another --port, or end what uses this one.",
        ) from error


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # With its protocol named: asyncio sends small packets at once (TCP_NODELAY) only on sockets that say they are TCP,
    # and each answer would wait 40 ms for the other side's acknowledgement.
    taken = socket.socket(family, kind, protocol)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(place)
        taken.listen(_BACKLOG)
    except OSError:
        taken.close()
        raise
    return taken


def address(taken: socket.socket) -> str:
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(app: FastAPI, taken: socket.socket) -> None:
    """Returns when SIGTERM or SIGINT came and everyone was answered."""
    begin_logging(sys.stderr)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        limit_concurrency=None,
        h11_max_incomplete_event_size=64 * 1024,
        lifespan="on",
    )
    # The server sends itself the signal again once it has ended; it must not kill us before we have closed the store.
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[taken])
    finally:
        signal.signal(signal.SIGTERM, before)
        taken.close()


def _ended(_number: int, _frame: object) -> None:
    """Everything that has to be done is done by whoever called `serve`."""
