"""A small shop over HTTP with planted faults: `python examples/cases/service.py [--seed N | --no-faults]`.

Listens on the loopback interface only, prints its address and serves until it is ended. Whoever sends the same
X-Session sees what that session did before; a new one begins with the same shop, so that nothing else counts.
"""

import argparse
import json
import threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from faults import faulty_answer, planted
from orders import Reply, Request, Shop

MOST_SESSIONS, LARGEST_BODY = 256, 100_000


class Service(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, faults: list[str]) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.faults = faults
        self._shops: OrderedDict[str, Shop] = OrderedDict()
        self._lock = threading.Lock()

    def shop(self, session: str) -> Shop:
        with self._lock:
            if len(self._shops) > MOST_SESSIONS:
                self._shops.popitem(last=False)
            return self._shops.setdefault(session, Shop())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Service

    def do_any(self) -> None:
        split = urlsplit(self.path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        request = Request(
            self.command, split.path, dict(parse_qsl(split.query, keep_blank_values=True)), token, self._body()
        )
        session = self.headers.get("X-Session")
        self._send(faulty_answer(request, Shop() if session is None else self.server.shop(session), self.server.faults))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any  # noqa: N815 - http.server looks for these names

    def _body(self) -> Any:
        content = self.rfile.read(min(LARGEST_BODY, int(self.headers.get("Content-Length") or 0)))
        try:
            return json.loads(content) if content else None
        except ValueError:
            return None

    def _send(self, reply: Reply) -> None:
        content = json.dumps(reply.body).encode()
        head = (f"HTTP/1.1 {reply.status} -", "Content-Type: application/json", f"Content-Length: {len(content)}")
        self.wfile.write("\r\n".join((*head, "", "")).encode() + content)

    def log_message(self, *_: object) -> None:
        """Thousands of requests are nothing to tell about."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--seed", type=int, default=0, help="which faults are planted")
    parser.add_argument("--no-faults", action="store_true")
    arguments = parser.parse_args()
    with Service(arguments.port, [] if arguments.no_faults else planted(arguments.seed)) as service:
        print(f"http://127.0.0.1:{service.server_port}", flush=True)
        service.serve_forever()


if __name__ == "__main__":
    main()
