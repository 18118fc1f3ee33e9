"""A small service whose fields are not called like what they need: `owner` is a person, `ref` a team, `parent` a desk.

For `benchmarks/api_ablation.py --service misnamed`. Ids are random, and a refusal does not say which field is wrong:
only what was accepted tells which thing a field wants.
"""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

# By kind: its fields, and the kind of thing that each needs.
KINDS: dict[str, dict[str, str]] = {
    "people": {},
    "rooms": {},
    "teams": {"lead": "people"},
    "desks": {"ref": "teams", "place": "rooms"},
    "lamps": {"parent": "desks", "owner": "people"},
    "notes": {"about": "lamps", "by": "people"},
    "tickets": {"source": "notes", "target": "lamps"},
}
_TEXT = {"type": "string"}
_ANSWERS = {status: {"description": ""} for status in ("200", "201", "204", "404", "422")}


def document() -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "misnamed", "version": "1"},
        "paths": {path: each for kind in KINDS for path, each in _paths(kind).items()},
    }


def _paths(kind: str) -> dict[str, Any]:
    fields = ["title", *KINDS[kind]]
    schema = {"type": "object", "required": fields, "properties": dict.fromkeys(fields, _TEXT)}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    one = {"name": "id", "in": "path", "required": True, "schema": _TEXT}
    reading, deleting = ({"parameters": [one], "responses": _ANSWERS} for _ in range(2))
    return {
        f"/{kind}": {"get": {"responses": _ANSWERS}, "post": {"requestBody": body, "responses": _ANSWERS}},
        f"/{kind}/{{id}}": {"get": reading, "delete": deleting},
    }


class Service(BaseHTTPRequestHandler):
    things: dict[str, dict[str, Any]]
    dice: random.Random

    def do_GET(self) -> None:
        kind, one = self._place()
        if kind not in KINDS:
            return self._say(200, document())
        there = self.things[kind]
        return self._say(200, list(there.values())[-5:]) if one is None else self._found(there.get(one))

    def do_DELETE(self) -> None:
        kind, one = self._place()
        self._found(self.things.get(kind, {}).pop(one or "", None))

    def do_POST(self) -> None:
        kind, _ = self._place()
        given = self._body()
        needs = KINDS.get(kind)
        if needs is None or not isinstance(given, dict) or not isinstance(given.get("title"), str):
            return self._say(422, {"detail": "it cannot be made"})
        if not all(str(given.get(field)) in self.things[other] for field, other in needs.items()):
            return self._say(422, {"detail": "it cannot be made"})
        made = {"id": f"{self.dice.getrandbits(64):016x}", **{name: given[name] for name in ("title", *needs)}}
        self.things[kind][made["id"]] = made
        return self._say(201, made)

    def _place(self) -> tuple[str, str | None]:
        parts = self.path.partition("?")[0].strip("/").split("/")
        return parts[0], parts[1] if len(parts) > 1 else None

    def _body(self) -> Any:
        try:
            return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except (ValueError, RecursionError):
            return None

    def _found(self, thing: Any) -> None:
        self._say(404, {"detail": "not there"}) if thing is None else self._say(200, thing)

    def _say(self, status: int, answer: Any) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    """Its address; another service, with nothing in it, each time."""
    own = {"things": {kind: {} for kind in KINDS}, "dice": random.Random(1)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Service,), own))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
