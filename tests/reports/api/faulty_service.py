"""A small service with one fault of each kind, or none: what written tests are run against."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "s3cret/t0ken+value"  # noqa: S105 - of this service alone
ITEM = {
    "type": "object",
    "required": ["id", "name", "secret"],
    "properties": {
        "id": {"$ref": "#/components/schemas/Id"},
        "name": {"type": "string"},
        "secret": {"type": "string", "writeOnly": True},
    },
}


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    broken = True
    items: dict[int, dict[str, Any]]
    taken: set[str]  # names are used once, even when what they named is gone

    def next_number(self) -> int:
        return len(self.taken) + 1000

    def answer(self, status: int, document: Any = None, media: str = "application/json") -> None:
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def read(self) -> Any:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            return json.loads(body or b"null")
        except ValueError:
            return None

    def do_POST(self) -> None:
        sent = self.read()
        if self.path == "/login":
            return self.answer(200, {"token": TOKEN})
        if self.path == "/items":
            return self.create(sent)
        if self.path == "/orders":
            known = isinstance(sent, dict) and sent.get("item_id") in self.items
            return self.answer(500 if known and self.broken else 201 if known else 404, {"detail": "x"})
        return self.answer(404)

    def create(self, sent: Any) -> None:
        if not isinstance(sent, dict) or not isinstance(sent.get("name"), str):
            return self.answer(201 if self.broken else 422, {"id": 0, "name": "?"})
        if sent["name"] == "refused":
            return self.answer(422 if self.broken else 201, {"id": 0, "name": "?"})
        if sent["name"] == "boom":
            return self.answer(500 if self.broken else 201, {"id": 0, "name": "boom"})
        if sent["name"] in self.taken:
            return self.answer(409, {"detail": "taken"})
        self.taken.add(sent["name"])
        number = self.next_number()
        self.items[number] = {"id": number, "name": sent["name"]}
        if sent["name"] == "vanishes" and self.broken:
            del self.items[number]
        return self.answer(201, {"id": number, "name": sent["name"]})

    def do_PUT(self) -> None:
        sent, number = self.read(), int(self.path.split("/")[2])
        if not self.broken:
            self.items[number]["name"] = sent["name"]
        self.answer(200, {"id": number, "name": sent["name"]})

    def do_DELETE(self) -> None:
        number = int(self.path.split("/")[2])
        if not self.broken:
            del self.items[number]
        self.answer(204)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/hangs":
            time.sleep(1.5 if self.broken else 0)
        if path == "/dies" and self.broken:
            self.close_connection = True
            return None
        if path == "/private":
            known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            return self.answer(200 if self.broken or known else 401, {})
        if path == "/profile":
            known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            return self.answer(401 if not known else 500 if self.broken else 200, {})
        if path == "/shape":
            return self.answer(200, {"id": "one"} if self.broken else {"id": 1, "name": "a"})
        if path == "/status":
            return self.answer(202 if self.broken else 200, {})
        if path == "/media":
            return self.answer(200, {}, "text/html" if self.broken else "application/json")
        if path.startswith("/named/"):
            known = path.split("/")[2] in {item["name"] for item in self.items.values()}
            return self.answer(404 if not known else 500 if self.broken else 200, {})
        if path.startswith("/items/"):
            item = self.items.get(int(path.split("/")[2]))
            return self.answer(404 if item is None else 200, {} if item is None else {"data": item})
        return self.answer(200, {})

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serving(broken: bool) -> Iterator[str]:
    handler = type("Serving", (Service,), {"broken": broken, "items": {}, "taken": set()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
