"""Curl lines are run by a real bash with a real curl; a loopback service keeps what arrives."""

import os
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.skills.api.small_service import Heard, served

from whet.reports.api.curl import curl_line
from whet.reports.api.redaction import HIDDEN, Secrets
from whet.skills.api.access import Credential
from whet.tools.http.client import Client
from whet.tools.http.messages import Request
from whet.tools.http.origin import split_address

# What curl says of itself, or both sides say by themselves.
OWN = {"host", "user-agent", "accept", "content-length", "connection"}


class Keeping(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arrived: ClassVar[list[tuple[str, str, list[tuple[str, str]], bytes]]] = []

    def parse_request(self) -> bool:
        parsed = super().parse_request()
        self.__dict__[f"do_{self.command}"] = self.keep
        return parsed

    def keep(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        told = [(name.lower(), value) for name, value in self.headers.items() if name.lower() not in OWN]
        target = (
            bytes(self.__dict__["raw_requestline"]).decode("latin-1").rstrip("\r\n").split(" ", 1)[1].rsplit(" ", 1)[0]
        )
        self.arrived.append((self.command, target, told, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Keeping)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _by_curl(request: Request, service: str) -> tuple[str, str, list[tuple[str, str]], bytes]:
    Keeping.arrived.clear()
    line = curl_line(request, service)
    done = subprocess.run(["bash"], input=line.encode(), capture_output=True, timeout=20)
    assert done.returncode == 0, (line[:500], done.stderr)
    assert line.isprintable()
    return Keeping.arrived.pop()


def _by_client(request: Request, service: str) -> tuple[str, str, list[tuple[str, str]], bytes]:
    Keeping.arrived.clear()
    with Client(split_address(service)[0]) as client:
        assert client.send(request).status == 200
    return Keeping.arrived.pop()


names = st.sampled_from(["X-Odd", "Content-Type", "If-Match", "X-Empty"])
values = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"], blacklist_characters="\x85"), max_size=12)
targets = st.text("abc019-._~%$&'()*+,;=:@/?[]{}|\"<>^`\\!é", max_size=20).map(lambda text: "/" + text)
requests = st.builds(
    Request,
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"]),
    target=targets.map(lambda target: target.encode("ascii", "ignore").decode()).filter(lambda one: HIDDEN not in one),
    headers=st.dictionaries(names, values.map(str.strip), max_size=3).map(lambda given: tuple(given.items())),
    body=st.none() | st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "ignore")),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests)
@example(request=Request("POST", "/", body=bytes(range(256))))
@example(request=Request("POST", "/", body=b"@/etc/hostname"))
@example(request=Request("POST", "/", body=b"%s %d \\n $(id) `id` '\"!\n\r\t"))
@example(request=Request("POST", "/../a/./b//?x=[1-3]&y={a,b}", body=b""))
@example(request=Request("PUT", "/", (("Content-Type", "application/json"),), '{"a": "é\u202e\x1b"}'.encode()))
@example(request=Request("HEAD", "/x"))
@example(request=Request("POST", "/", body=b"x" * 300_000))
@example(request=Request("GET", "/a#b"))
def test_curl_sends_what_the_client_sends(request: Request, service: str) -> None:
    assert _by_curl(request, service) == _by_client(request, service)


def test_a_hidden_credential_is_taken_from_the_environment(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_API_AUTHORIZATION", "Bearer it's $secret")
    _, _, headers, _ = _by_curl(Request("GET", "/", (("Authorization", "Bearer ***"),)), service)
    assert headers == [("authorization", "Bearer it's $secret")]


SENT = "s3$cret"
ODD = 'it\'s $HOME + `id` "q" \\ 100% &x=é/#'


def _by_sh(line: str, **variables: str) -> Heard:
    with served(lambda _: (200, {})) as small:
        ran = subprocess.run(
            ["sh", "-c", line.replace("SERVICE", small.url)],
            capture_output=True,
            timeout=20,
            env={**os.environ, **variables},
        )
    assert ran.returncode == 0, (line, ran.stderr)
    (heard,) = small.heard
    return heard


@pytest.mark.parametrize(
    ("method", "body"),
    [("GET", None), ("DELETE", None), ("POST", None), ("POST", b"{}"), ("PUT", b"\x00\xff"), ("HEAD", None)],
)
@pytest.mark.parametrize("before", ["/a", "/a/[1]?page=2&q=a%20b+c"])
def test_a_credential_of_the_query_is_sent_as_it_stands_in_the_environment(
    method: str, body: bytes | None, before: str
) -> None:
    right = Credential("query", "api key", ODD).on(Request(method, before, (), body))
    hidden = Secrets([ODD], ["api key"]).request(right)
    line = curl_line(hidden, "SERVICE")
    heard = _by_sh(line, WHET_API_API_KEY=ODD)
    assert "***" not in line
    assert (heard.method, heard.path, heard.raw) == (method, before.partition("?")[0], body or b"")
    assert dict(heard.query) == parse_qs(right.target.partition("?")[2])


def test_each_credential_has_a_variable_of_its_own() -> None:
    request = Request("GET", "/a?app_id=***&page=2&app.key=***", (("Cookie", "sid=***; theme=***"),))
    line = curl_line(request, "SERVICE")
    given = {"WHET_API_APP_ID": "a b", "WHET_API_APP_KEY": ODD, "WHET_API_COOKIE": "sid=$1'; theme=dark"}
    heard = _by_sh(line, **given)
    assert dict(heard.query) == {"app_id": ["a b"], "page": ["2"], "app.key": [ODD]}
    assert heard.headers["Cookie"] == "sid=$1'; theme=dark"


def test_what_is_hidden_elsewhere_is_put_in_as_it_is() -> None:
    line = curl_line(Request("PUT", "/of/***/x?y=a***#", (), b'{"it\'s": "***"}'), "SERVICE")
    heard = _by_sh(line, WHET_API_SECRET=SENT)
    assert (heard.path, heard.body) == (f"/of/{SENT}/x", {"it's": SENT})
    dotted = _by_sh(curl_line(Request("GET", "/../a?k=***"), "SERVICE"), WHET_API_SECRET=SENT)
    assert (dotted.path, dict(dotted.query)) == ("/../a", {"k": [SENT]})


def test_a_simple_request_is_a_simple_line() -> None:
    request = Request("POST", "/items", (("Content-Type", "application/json"),), b'{"name": "a"}')
    assert curl_line(request, "http://127.0.0.1:8000") == (
        "curl -sS -i -X POST -H 'Content-Type: application/json' --data-raw '{\"name\": \"a\"}' http://127.0.0.1:8000/items"
    )
