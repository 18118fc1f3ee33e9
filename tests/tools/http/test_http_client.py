"""The client tells what the service really did: every answer, and each way of not answering."""

import gc

import pytest
from tests.tools.http.scripted import Life, Line, cut, free_port, scripted

from whet.tools.http.client import MOST_BYTES, Client
from whet.tools.http.messages import Request, Response
from whet.tools.http.origin import Origin

GET = Request("GET", "/things")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def ok(line: Line) -> None:
    """Serves whatever comes on this connection, as long as it comes."""
    while line.read():
        line.say(OK)


def once(answer: bytes) -> Life:
    def life(line: Line) -> None:
        line.read()
        line.say(answer)

    return life


def sent_to(*lives: Life, request: Request = GET, timeout: float = 2.0) -> Response:
    with scripted(*lives) as service, Client(service.origin, timeout) as client:
        return client.send(request)


class TestAnswers:
    def test_status_headers_and_body_are_told_as_they_came(self) -> None:
        answer = sent_to(once(b"HTTP/1.1 418 Teapot\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 3\r\n\r\n\x00\xff!"))

        assert (answer.status, answer.body, answer.whole, answer.silence) == (418, b"\x00\xff!", True, None)
        assert list(answer.all_headers("x-a")) == ["1", "2"]

    def test_one_connection_serves_many_requests(self) -> None:
        with scripted(ok) as service, Client(service.origin) as client:
            bodies = [client.send(Request("GET", f"/{number}")).body for number in range(20)]

        assert bodies == [b"ok"] * 20
        assert service.connections == 1

    @pytest.mark.parametrize(
        "close", [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall", b"HTTP/1.0 200 OK\r\n\r\nall"]
    )
    def test_an_answer_that_ends_with_its_connection_is_whole(self, close: bytes) -> None:
        with scripted(once(close), ok) as service, Client(service.origin) as client:
            first, second = client.send(GET), client.send(GET)

        assert (first.body, first.whole) == (b"all", True)
        assert second.body == b"ok"

    def test_chunks_are_put_together(self) -> None:
        answer = sent_to(once(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"))

        assert (answer.body, answer.whole) == (b"abc", True)

    @pytest.mark.parametrize(
        ("method", "status"), [("HEAD", b"200 OK"), ("GET", b"204 No Content"), ("GET", b"304 Same")]
    )
    def test_answers_without_body_do_not_wait_for_one(self, method: str, status: bytes) -> None:
        def life(line: Line) -> None:
            while line.read():
                line.say(b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\n\r\n")

        with scripted(life) as service, Client(service.origin, 1.0) as client:
            answers = [client.send(Request(method, "/")) for _ in range(2)]

        assert [(one.body, one.whole, one.silence) for one in answers] == [(b"", True, None)] * 2
        assert service.connections == 1

    def test_a_redirect_is_an_answer_and_is_not_followed(self) -> None:
        with scripted(ok) as elsewhere:
            place = str(elsewhere.origin).encode()
            moved = b"HTTP/1.1 302 Found\r\nLocation: " + place + b"/there\r\nContent-Length: 0\r\n\r\n"
            with scripted(once(moved)) as service, Client(service.origin) as client:
                answer = client.send(GET)

        assert answer.status == 302
        assert (elsewhere.connections, len(service.heard)) == (0, 1)


class TestSilences:
    def test_nothing_listens(self) -> None:
        with Client(Origin("http", "127.0.0.1", free_port())) as client:
            assert client.send(GET).silence == "unreachable"
            assert not client.answers()

    def test_a_host_that_does_not_exist(self) -> None:
        with Client(Origin("http", "nowhere.invalid", 80)) as client:
            assert client.send(GET).silence == "unreachable"

    def test_a_connection_cut_without_a_word(self) -> None:
        assert sent_to(cut).silence == "dropped"

    def test_a_service_that_never_answers(self) -> None:
        def life(line: Line) -> None:
            line.read()
            line.hang()

        answer = sent_to(life, timeout=0.2)
        assert (answer.status, answer.silence) == (None, "timeout")
        assert answer.seconds >= 0.2

    @pytest.mark.parametrize("speech", [b"SSH-2.0-server\r\n\r\n", b"HTTP/1.1 what\r\n\r\n", b"\x00" * 70_000])
    def test_something_else_than_http(self, speech: bytes) -> None:
        assert sent_to(once(speech)).silence == "garbled"

    def test_more_headers_than_anyone_reads(self) -> None:
        many = b"".join(b"X-%d: 1\r\n" % number for number in range(300))
        assert sent_to(once(b"HTTP/1.1 200 OK\r\n" + many + b"\r\n")).silence == "garbled"

    def test_the_next_request_after_any_silence_is_answered(self) -> None:
        def hangs(line: Line) -> None:
            line.read()
            line.conn.settimeout(1.0)
            line.conn.recv(1)

        with scripted(hangs, once(b"SSH\r\n"), ok) as service, Client(service.origin, 0.2) as client:
            told = [client.send(GET) for _ in range(3)]

        assert [one.silence for one in told] == ["timeout", "garbled", None]


class TestKeptConnections:
    def test_one_that_was_closed_meanwhile_is_opened_anew(self) -> None:
        with scripted(once(OK), ok) as service, Client(service.origin) as client:
            answers = [client.send(GET), client.send(GET)]

        assert [one.body for one in answers] == [b"ok", b"ok"]
        assert service.connections == 2

    def test_one_that_is_cut_as_we_speak_is_opened_anew(self) -> None:
        def cuts_the_second(line: Line) -> None:
            line.read()
            line.say(OK)
            line.read()

        with scripted(cuts_the_second, ok) as service, Client(service.origin) as client:
            told = [client.send(GET) for _ in range(3)]

        assert [one.body for one in told] == [b"ok"] * 3

    def test_a_request_that_kills_whoever_takes_it_is_told(self) -> None:
        def dies_of_the_second(line: Line) -> None:
            line.read()
            line.say(OK)
            line.read()

        with scripted(dies_of_the_second, cut, ok) as service, Client(service.origin) as client:
            told = [client.send(Request("POST", f"/{number}")) for number in range(3)]

        assert [one.silence for one in told] == [None, "dropped", None]
        assert [one.split()[1] for one in service.heard] == [b"/0", b"/1", b"/1", b"/2"]

    def test_once_only(self) -> None:
        with scripted(once(OK), cut) as service, Client(service.origin) as client:
            client.send(GET)
            second = client.send(GET)

        assert second.silence == "dropped"
        assert service.connections == 2

    def test_a_service_that_is_gone_by_then_is_unreachable(self) -> None:
        with scripted(once(OK)) as service:
            client = Client(service.origin)
            client.send(GET)
        with client:
            assert client.send(GET).silence == "unreachable"

    def test_a_timeout_is_not_tried_again(self) -> None:
        def life(line: Line) -> None:
            line.read()
            line.say(OK)
            line.read()
            line.conn.settimeout(1.0)
            line.conn.recv(1)

        with scripted(life) as service, Client(service.origin, 0.2) as client:
            client.send(GET)
            second = client.send(GET)

        assert second.silence == "timeout"
        assert len(service.heard) == 2


class TestLimits:
    def test_a_body_beyond_the_limit_is_cut_and_its_status_counts(self) -> None:
        size = 3 * MOST_BYTES
        answer = sent_to(once(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size))

        assert (answer.status, answer.whole) == (200, False)
        assert MOST_BYTES <= len(answer.body) < 2 * MOST_BYTES

    def test_an_endless_stream_is_cut_by_time(self) -> None:
        def drip(line: Line) -> None:
            line.read()
            line.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(500):
                line.conn.sendall(b"1\r\nx\r\n")
                if line.over.wait(0.02):
                    return

        with scripted(drip, ok) as service, Client(service.origin, 0.3) as client:
            answer, after = client.send(GET), client.send(GET)

        assert (answer.status, answer.whole) == (200, False)
        assert set(answer.body) == {ord("x")}
        assert after.body == b"ok"

    def test_a_stream_that_falls_silent_is_cut(self) -> None:
        def life(line: Line) -> None:
            line.read()
            line.say(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            line.hang()

        answer = sent_to(life, timeout=0.2)
        assert (answer.status, answer.body, answer.whole) == (200, b"half", False)

    def test_a_body_shorter_than_promised_is_not_whole(self) -> None:
        answer = sent_to(once(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
        assert (answer.status, answer.body, answer.whole) == (200, b"half", False)

    def test_an_answer_that_came_before_the_body_was_read_is_an_answer(self) -> None:
        """413 and good-bye is how a service refuses what is too large: no crash."""

        def refuses(line: Line) -> None:
            line.conn.recv(1000)
            line.say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

        answer = sent_to(refuses, request=Request("POST", "/", (), b"x" * 20_000_000))
        assert answer.status == 413


class TestRequests:
    def heard(self, request: Request) -> bytes:
        with scripted(ok) as service, Client(service.origin) as client:
            assert client.send(request).body == b"ok"
        return service.heard[0]

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
    def test_a_method_that_has_a_body_says_when_it_has_none(self, method: str) -> None:
        assert b"Content-Length: 0" in self.heard(Request(method, "/"))

    @pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "OPTIONS"])
    def test_others_say_nothing_of_a_body_they_do_not_have(self, method: str) -> None:
        with (
            scripted(once(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as service,
            Client(service.origin) as client,
        ):
            client.send(Request(method, "/"))
        assert b"content-length" not in service.heard[0].lower()

    def test_a_body_is_sent_to_the_byte_with_any_method(self) -> None:
        heard = self.heard(Request("DELETE", "/", (), b"\x00\xff"))
        assert b"Content-Length: 2" in heard
        assert heard.endswith(b"\r\n\r\n\x00\xff")

    def test_a_content_length_of_the_request_is_its_own(self) -> None:
        heard = self.heard(Request("POST", "/", (("content-length", "1"),), b"x"))
        assert heard.lower().count(b"content-length") == 1

    def test_header_bytes(self) -> None:
        heard = self.heard(Request("GET", "/", (("X-Name", "Zoë"), ("X-Name", "snow ☃"), ("X-Empty", ""))))
        assert b"X-Name: Zo\xeb\r\n" in heard
        assert b"X-Name: snow ?\r\n" in heard
        assert b"X-Empty: \r\n" in heard

    def test_the_target_goes_as_it_is_and_the_host_is_named(self) -> None:
        with scripted(ok) as service, Client(service.origin) as client:
            client.send(Request("GET", "/a%2Fb/../c?x=%00&y[]=1"))
        assert service.heard[0].startswith(b"GET /a%2Fb/../c?x=%00&y[]=1 HTTP/1.1\r\n")
        assert f"Host: 127.0.0.1:{service.origin.port}".encode() in service.heard[0]

    def test_no_compression_is_asked_for(self) -> None:
        assert b"accept-encoding" not in self.heard(GET).lower()


def test_whether_anything_listens_is_asked_without_a_request() -> None:
    with scripted(ok) as service, Client(service.origin) as client:
        assert client.answers()
    assert service.heard == []


def test_no_socket_is_left_open(recwarn: pytest.WarningsRecorder) -> None:
    for life in (ok, once(b"SSH\r\n"), once(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), cut):
        with scripted(life) as service, Client(service.origin, 0.3) as client:
            client.send(GET)
            client.send(GET)
    gc.collect()
    assert not [one for one in recwarn if issubclass(one.category, ResourceWarning)]
