"""The contract of `made_service`, really served on loopback, with faults that can be switched on."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.skills.api.oracles.made_service import CONTRACT

from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.writing import write
from whet.tools.http.client import Client
from whet.tools.http.origin import Origin

Faults = frozenset[str]


class Items:
    """A correct little service, but for what `faults` names."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.stored: dict[int, dict[str, Any]] = {}
        self.last_id = 0
        self.seen: list[str] = []
        self.versions: dict[int, int] = {}

    def answer(
        self, method: str, path: str, query: dict[str, list[str]], body: Any, wanted: str | None
    ) -> tuple[int, Any]:
        self.seen.append(f"{method} {path}")
        one = re.fullmatch(r"/v1/items/(\d+)", path)
        if path == "/v1/items":
            return self._create(body) if method == "POST" else self._list(query)
        if one is None or int(one[1]) not in self.stored:
            return 410 if "says-gone" in self.faults else 404, {"detail": "Not Found"}
        if method == "PATCH":
            return self._change(int(one[1]), body, wanted)
        return {"GET": self._read, "PUT": self._update, "DELETE": self._delete}[method](int(one[1]), body)

    def _list(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        limit = query.get("limit", ["10"])[0]
        if (
            "refuses-all" in self.faults
            or not limit.isdigit()
            or not 1 <= int(limit) <= (99 if "refuses" in self.faults else 100)
        ):
            return 400, {"detail": "limit is out of range"}
        return 200, list(self.stored.values())[: int(limit)]

    def _create(self, body: Any) -> tuple[int, Any]:
        if not self._fits(body):
            return 422, {"detail": "wrong"}
        if "unique" in self.faults and any(one["title"] == body["title"] for one in self.stored.values()):
            return 409, {"detail": "title is taken"}
        if "fails" in self.faults and "x" * 10 in str(body.get("note")) and body.get("size"):
            raise KeyError("margin")
        self.last_id += 1
        made = {**body, "id": self.last_id}
        if "forgets" not in self.faults:
            self.stored[self.last_id] = made
        return 201, made

    def _fits(self, body: Any) -> bool:
        if not isinstance(body, dict) or not isinstance(body.get("price"), int | float):
            return False
        high = body["price"] <= 1000 or "accepts" in self.faults
        return isinstance(body.get("title"), str) and 1 <= len(body["title"]) <= 40 and body["price"] >= 0 and high

    def _read(self, item_id: int, _: Any) -> tuple[int, Any]:
        if "poisoned" in self.faults and self.stored[item_id]["price"] == 13:
            raise ValueError(f"unlucky {item_id}")
        return 200, self.stored[item_id]

    def _change(self, item_id: int, body: Any, wanted: str | None) -> tuple[int, Any]:
        if wanted not in (None, self.tag(item_id)) and "overwrites" not in self.faults:
            return 412, {"detail": "out of date"}
        self.stored[item_id] = {**self.stored[item_id], **body}
        self.versions[item_id] = self.versions.get(item_id, 0) + 1
        return 200, self.stored[item_id]

    def tag(self, item_id: int) -> str:
        return f'"{item_id}-{self.versions.get(item_id, 0)}"'

    def _update(self, item_id: int, body: Any) -> tuple[int, Any]:
        if not self._fits(body):
            return 422, {"detail": "wrong"}
        kept = {"price": self.stored[item_id]["price"]} if "loses" in self.faults else {}
        title = body["title"].strip().capitalize()
        self.stored[item_id] = {**body, **kept, "title": title, "id": item_id}
        return 200, self.stored[item_id]

    def _delete(self, item_id: int, _: Any) -> tuple[int, Any]:
        if "archives" in self.faults:
            self.stored[item_id] = {**self.stored[item_id], "note": "archived"}
        elif "keeps" not in self.faults:
            del self.stored[item_id]
        return 204, None


@contextmanager
def served(*faults: str) -> Iterator[tuple[Items, Callable[[Draft], Exchange]]]:
    """The service, and a way to send drafts to it."""
    items = Items(frozenset(faults))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(items))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with Client(Origin("http", "127.0.0.1", server.server_port), timeout_seconds=0.3) as client:
            yield items, _sender(client)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _sender(client: Client) -> Callable[[Draft], Exchange]:
    sent = 0

    def send(draft: Draft) -> Exchange:
        nonlocal sent
        sent += 1
        request = write(draft, CONTRACT.base_path)
        return Exchange(sent, draft, request, client.send(request))

    return send


def _handler(items: Items) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            body = json.loads(content) if content else None
            if "hangs" in items.faults and isinstance(body, dict) and body.get("note"):
                time.sleep(0.6)
            if "drops" in items.faults and isinstance(body, dict) and body.get("note"):
                self.close_connection = True
                return
            try:
                status, answer = items.answer(
                    self.command, url.path, parse_qs(url.query), body, self.headers.get("If-Match")
                )
            except Exception as error:
                status, answer = 500, {"error": f"{type(error).__name__}: {error}", "request": f"{time.time()}"}
            self._send(status, answer)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def _send(self, status: int, answer: Any) -> None:
            content = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if isinstance(answer, dict) and "id" in answer:
                self.send_header("ETag", items.tag(answer["id"]))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the client did not wait
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing is written beside the tests' own report."""

    return Handler
