"""Small real services on loopback, each one function, and contracts to go with them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from whet.skills.api.access import Access, Credential
from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.skills.api.explorer import EVERYTHING, Explorer, Learned
from whet.skills.api.service import Service
from whet.tools.http.client import Client
from whet.tools.http.messages import Request, Response
from whet.tools.http.origin import Origin

Document = dict[str, Any]


@dataclass(frozen=True)
class Heard:
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        with suppress(ValueError, RecursionError):
            return json.loads(self.raw)
        return None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


# Status, JSON answer (None: no body) and headers; None cuts the connection without a word.
Answer = tuple[int, Any] | tuple[int, Any, Mapping[str, str]] | None
Answering = Callable[[Heard], Answer]


@dataclass
class Small:
    origin: Origin
    heard: list[Heard] = field(default_factory=list)

    @property
    def url(self) -> str:
        return str(self.origin)


@contextmanager
def served(answering: Answering, document: Document | None = None) -> Iterator[Small]:
    """`document` is answered at /openapi.json and does not count as heard."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    small = Small(Origin("http", "127.0.0.1", server.server_port))
    server.RequestHandlerClass = _handler(small, answering, document)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield small
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(small: Small, answering: Answering, document: Document | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 5

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            length = self.headers.get("Content-Length") or "0"
            raw = self.rfile.read(int(length)) if length.isdigit() else b""
            if url.path == "/openapi.json" and document is not None:
                return self._say(200, document, {})
            heard = Heard(self.command, url.path, parse_qs(url.query), dict(self.headers.items()), raw)
            small.heard.append(heard)
            answer = answering(heard)
            if answer is None:
                self.close_connection = True
                return None
            return self._say(answer[0], answer[1], answer[2] if len(answer) == 3 else {})

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_TRACE = do_GET  # noqa: N815

        def _say(self, status: int, answer: Any, headers: Mapping[str, str]) -> None:
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(b"" if self.command == "HEAD" else content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing is written beside the tests' own report."""

    return Handler


def document(paths: Document, title: str = "Small", **more: Any) -> Document:
    return {"openapi": "3.0.3", "info": {"title": title, "version": "1"}, "paths": paths, **more}


def contract(paths: Document, **more: Any) -> Contract:
    return read_contract(document(paths, **more))


def operation(made: Contract, name: str) -> Operation:
    found = made.operation(name)
    assert found is not None, name
    return found


def does(*statuses: str, parameters: tuple[Document, ...] = (), body: Document | None = None, **more: Any) -> Document:
    """One operation. Answers are any JSON."""
    told: Document = {
        "responses": {status: {"description": "x", "content": {"application/json": {}}} for status in statuses},
        "parameters": list(parameters),
        **more,
    }
    if body is not None:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return told


def in_path(name: str, kind: str = "integer") -> Document:
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def in_query(name: str, required: bool = False, **schema: Any) -> Document:
    return {"name": name, "in": "query", "required": required, "schema": {"type": "string", **schema}}


def record(required: tuple[str, ...] = (), **properties: Document) -> Document:
    return {"type": "object", "required": list(required), "properties": properties}


@contextmanager
def service(made: Contract, small: Small, *given: Credential, **more: Any) -> Iterator[Service]:
    with Client(small.origin, 5.0) as client:
        yield Service(client, Access(made, given), made.base_path, **more)


@contextmanager
def exploring(made: Contract, small: Small, seed: int = 0, learned: Learned = EVERYTHING) -> Iterator[Explorer]:
    with service(made, small) as reached:
        explorer = Explorer(made, made.operations, reached.send, seed, learned)
        explorer.hears(reached.access.listen)
        yield explorer


def told(
    of: Operation, status: int | None, answer: Any = None, number: int = 1, headers: Mapping[str, str] | None = None,
    **draft: Any,
) -> Exchange:  # fmt: skip
    """An exchange made by hand."""
    made = Draft(of, **{"body": NO_BODY, **draft})
    body = b"" if answer is None else json.dumps(answer).encode()
    pairs = (("Content-Type", "application/json"), *(headers or {}).items())
    answered = Response(status, pairs, body, silence=None if status is not None else "dropped")
    return Exchange(number, made, Request(of.method, of.path), answered)
