"""The one way out: counted, paced, and patient with a service that is away."""

import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Timer

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, operation, served, service
from tests.tools.http.scripted import Line, cut, free_port, scripted

from whet.skills.api.access import Access
from whet.skills.api.exchange import Draft
from whet.skills.api.service import Service
from whet.tools.http.client import Client
from whet.tools.http.origin import Origin

CONTRACT = contract({"/things": {"get": does("200")}})
GET = Draft(operation(CONTRACT, "GET /things"))


def test_requests_are_counted_from_one() -> None:
    with served(lambda _: (200, {})) as small, service(CONTRACT, small) as reached:
        assert [reached.send(GET).number for _ in range(3)] == [1, 2, 3]
    assert reached.requests == 3


def test_what_was_broken_off_before_it_went_out_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    with served(lambda _: (200, {})) as small, service(CONTRACT, small) as reached:
        reached.send(GET)
        monkeypatch.setattr(Access, "dress", broken_off)
        with pytest.raises(KeyboardInterrupt):
            reached.send(GET)
    assert reached.requests == len(small.heard) == 1


def test_a_rate_is_kept() -> None:
    """Twelve requests at 50 a second have eleven gaps of 20 ms."""
    with served(lambda _: (200, {})) as small, service(CONTRACT, small, per_second=50) as reached:
        started = time.monotonic()
        for _ in range(12):
            reached.send(GET)
    assert time.monotonic() - started >= 0.21
    assert len(small.heard) == 12


@pytest.mark.parametrize(("asked", "paused"), [("7", 7), ("99999", 30), ("0", None), ("soon", None), ("²", None)])
def test_retry_after_is_heeded_within_reason(asked: str, paused: float | None) -> None:
    pauses: list[float] = []
    answer: Answer = (429, {}, {"Retry-After": asked})
    with served(lambda _: answer) as small, service(CONTRACT, small, pause=pauses.append) as reached:
        reached.send(GET)
        reached.send(GET)
    assert [round(one) for one in pauses] == ([paused] if paused else [])


def test_only_a_429_asks_to_slow_down() -> None:
    pauses: list[float] = []
    answer: Answer = (200, {}, {"Retry-After": "9"})
    with served(lambda _: answer) as small, service(CONTRACT, small, pause=pauses.append) as reached:
        reached.send(GET)
        reached.send(GET)
    assert pauses == []


def test_a_header_of_the_user_takes_the_place_of_ours() -> None:
    given = (("accept", "text/x-mine"), ("X-Tenant", "a"))
    with served(lambda _: (200, {})) as small, service(CONTRACT, small, headers=given) as reached:
        reached.send(GET)
    names = [name.lower() for name in small.heard[0].headers]
    assert names.count("accept") == 1
    assert small.heard[0].headers["accept"] == "text/x-mine"
    assert small.heard[0].headers["X-Tenant"] == "a"


def test_one_that_is_away_is_waited_for_only_so_long() -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(0.01)

    with Client(Origin("http", "127.0.0.1", free_port())) as client:
        assert not Service(client, Access(CONTRACT), "", pause=pause).back_within(0.05)
    assert pauses


def test_one_that_comes_back_is_noticed() -> None:
    def answering(heard: Heard) -> Answer:
        return 200, {}

    with served(answering) as small, service(CONTRACT, small) as reached:
        assert reached.back_within(0.0)
    assert small.heard == []  # without a request


def test_waiting_ends_when_it_listens_again() -> None:
    port = free_port()
    servers: list[HTTPServer] = []
    timer = Timer(0.1, lambda: servers.append(HTTPServer(("127.0.0.1", port), BaseHTTPRequestHandler)))
    timer.start()
    try:
        with Client(Origin("http", "127.0.0.1", port)) as client:
            reached = Service(client, Access(CONTRACT), "", pause=lambda _: time.sleep(0.02))
            assert reached.back_within(10.0)
    finally:
        timer.join()
        servers[0].server_close()


def test_silences_come_through() -> None:
    with scripted(cut) as gone, Client(gone.origin) as client:
        assert Service(client, Access(CONTRACT), "").send(GET).response.silence == "dropped"


def test_a_request_that_went_out_twice_counts_twice() -> None:
    """The first connection rests after one answer and is cut as we speak again: the same request goes to the second."""

    def answers_once(line: Line) -> None:
        line.read()
        line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        line.read()

    def answers(line: Line) -> None:
        line.read()
        line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")

    with scripted(answers_once, answers) as small, Client(small.origin, 5.0) as client:
        reached = Service(client, Access(CONTRACT), "")
        answered = [reached.send(GET).response for _ in range(2)]
    assert [(one.status, one.resent) for one in answered] == [(200, False), (200, True)]
    assert reached.requests == 3


def test_after_a_failure_the_connection_is_not_trusted_any_more() -> None:
    """Servers close it without saying so; what is sent next would be taken for the crash."""

    def fails(line: Line) -> None:
        line.read()
        line.say(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")

    with scripted(fails) as small, Client(small.origin, 2.0) as client:
        reached = Service(client, Access(CONTRACT), "")
        answers = [reached.send(GET).response for _ in range(3)]
    assert [(answer.status, answer.resent) for answer in answers] == [(500, False)] * 3
    assert reached.requests == small.connections == 3
