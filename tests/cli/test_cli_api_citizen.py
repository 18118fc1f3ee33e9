"""`whet api` is a good citizen: it stays where it was sent, keeps secrets, and stops at once."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from examples.api.running import running
from tests.cli.api_services import DESK, PASSWORD, SECRET, Desk, api, told
from tests.cli.command_line import WHET, environment
from tests.skills.api.small_service import Answer, Heard, Small, document, does, in_query, record, served

from whet.cli.api import _as_before, _terminable
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.learning.portable import pack_exchange
from whet.skills.api.oracles.symptoms import Symptoms
from whet.store import open_store
from whet.tools.http.messages import Request, Response


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "desk"\nversion = "1"\n')
    return tmp_path


def nothing(_: Heard) -> Answer:
    return 200, {}


class TestStaysWhereItWasSent:
    def test_a_document_that_leads_off_site_is_not_followed(self, project: Path) -> None:
        with served(nothing, DESK) as elsewhere:
            moved = {"Location": f"{elsewhere.url}/secret"}
            with served(lambda _: (302, None, moved)) as small:
                code, _, err = api(project, f"{small.url}/openapi.json")
        assert code == 2
        assert "another origin" in err
        assert elsewhere.heard == []

    def test_on_the_same_origin_it_is(self, project: Path) -> None:
        """As services do that want a slash at the end, or a query."""

        def moving(heard: Heard) -> Answer:
            if heard.path == "/schema":
                return 301, None, {"Location": "/schema/?format=json"}
            right = heard.path == "/schema/" and heard.query == {"format": ["json"]}
            return (200, document({"/ping": {"get": does("200", "404")}})) if right else (404, {})

        with served(moving) as small:
            for place in ("/schema", "/schema/?format=json"):
                assert told(project, small.url + place, "--requests", "3")[0] == 0

    def test_it_does_not_go_round_in_circles(self, project: Path) -> None:
        with served(lambda heard: (302, None, {"Location": heard.path})) as small:
            code, _, _ = api(project, f"{small.url}/openapi.json")
        assert code == 2
        assert len(small.heard) < 6

    def test_servers_of_the_contract_elsewhere_are_not_contacted(self, project: Path) -> None:
        with served(nothing, DESK) as elsewhere:
            servers = [{"url": f"{elsewhere.url}/v2"}, {"url": elsewhere.url}]
            path = {"get": {**does("200"), "servers": [{"url": elsewhere.url}]}, "servers": [{"url": elsewhere.url}]}
            made = document({"/ping": path, "/pong": {"get": does("200")}}, servers=servers)
            with served(lambda _: (307, None, {"Location": elsewhere.url}), made) as small:
                told(project, f"{small.url}/openapi.json", "--requests", "40", "--fail-on", "never")
        assert elsewhere.heard == []
        assert len(small.heard) > 30
        assert {one.path for one in small.heard} == {"/v2/ping", "/v2/pong"}

    def test_credentials_for_the_service_are_not_shown_to_the_host_of_its_document(self, project: Path) -> None:
        seen: list[Heard] = []

        def hosting(heard: Heard) -> Answer:
            seen.append(heard)
            return 200, DESK

        with served(hosting) as host, served(Desk(broken=False)) as small:
            known = ("--auth", f"bearer:{SECRET}", "--header", "X-T: abc")
            told(project, f"{host.url}/desk.json", "--url", small.url, *known, "--requests", "10")
        assert len(seen) == 1
        assert SECRET not in str(seen[0].headers)
        assert "X-T" not in seen[0].headers
        assert all(one.headers.get("X-T") == "abc" for one in small.heard)

    def test_a_document_of_several_megabytes_is_read_whole(self, project: Path) -> None:
        large = {**DESK, "x-padding": "x" * 3_000_000}
        with served(Desk(broken=False), large) as small:
            assert told(project, small.url, "--requests", "5")[0] == 0


class TestScope:
    def heard(self, project: Path, *arguments: str, requests: int = 120) -> Small:
        with served(Desk(broken=False), DESK) as small:
            told(project, small.url, "--requests", str(requests), "--seed", "3", "--fail-on", "never", *arguments)
        return small

    def methods(self, small: Small) -> set[str]:
        return {one.method for one in small.heard}

    def test_everything(self, project: Path) -> None:
        assert self.methods(self.heard(project)) >= {"GET", "POST", "DELETE"}

    def test_safe_sends_no_delete(self, project: Path) -> None:
        assert "DELETE" not in self.methods(self.heard(project, "--safe"))

    @pytest.mark.parametrize(
        ("arguments", "paths"),
        [
            (("--only", "POST /notes"), {("POST", "/notes")}),
            (("--only", "writing"), {("POST", "/notes")}),
            (("--only", "readNote"), {("GET", "/notes/")}),
            (("--exclude", "/{id}"), {("GET", "/notes"), ("POST", "/notes")}),
            (("--only", "POST", "--only", "readNote", "--exclude", "readNote"), {("POST", "/notes")}),
        ],
    )
    def test_only_and_exclude(self, project: Path, arguments: tuple[str, ...], paths: set[tuple[str, str]]) -> None:
        small = self.heard(project, *arguments, requests=30)
        of_contract = {(one.method, one.path[:7]) for one in small.heard if one.method in ("GET", "POST", "DELETE")}
        assert of_contract == paths

    def test_known_faults_out_of_scope_are_kept_and_not_tried_again(self, project: Path) -> None:
        class Undeletable(Desk):
            def __call__(self, heard: Heard) -> Answer:
                answer = super().__call__(heard)
                return (500, {"error": "cannot delete"}) if heard.method == "DELETE" and answer != (404, {}) else answer

        with served(Undeletable(broken=False), DESK) as small:
            _, first = told(project, small.url, "--requests", "120", "--seed", "1")
            assert any(one["operations"] == ["DELETE /notes/{id}"] for one in first["faults"])
            sent = len(small.heard)
            _, second = told(project, small.url, "--requests", "60", "--seed", "2", "--safe")
        assert "DELETE" not in {one.method for one in small.heard[sent:]}
        assert "not re-tested" in {one["standing"] for one in second["faults"]}

    def test_what_was_left_out_is_said(self, project: Path) -> None:
        with served(Desk(broken=False), DESK) as small:
            _, report = told(project, small.url, "--requests", "20", "--safe", "--exclude", "readNote")
        left = {one["what"]: one["why"] for one in report["untested"]}
        assert "--safe" in left["DELETE /notes/{id}"]
        assert "--exclude" in left["GET /notes/{id}"]

    def test_a_rate_is_kept(self, project: Path) -> None:
        with served(Desk(broken=False), DESK) as small:
            started = time.monotonic()
            _, report = told(project, small.url, "--requests", "20", "--rate", "20")
        sent = len(small.heard)
        assert report["requests"] == sent
        assert time.monotonic() - started >= (sent - 1) / 20


class TestSecrets:
    def all_written(self, project: Path) -> str:
        """Everything that was left, and the store's documents, which are packed."""
        files = [one for one in project.rglob("*") if one.is_file()]
        text = b"\n".join(one.read_bytes() for one in files).decode("latin-1")
        store = open_store(f"sqlite:///{project / '.whet' / 'whet.db'}")
        text += "\n".join(store.knowledge.load(service) or "" for service in store.knowledge.services())
        store.close()
        return text

    def outputs(self) -> tuple[str, ...]:
        return ("--write-tests", "t", "--junit", "j.xml", "--sarif", "s.sarif", "--requests", "60", "--seed", "1")

    @pytest.mark.parametrize(
        "given",
        [
            ("--auth", f"bearer:{SECRET}"),
            ("--auth", f"header:X-Key={SECRET}"),
            ("--auth", f"query:k={SECRET}"),
            ("--auth", f"cookie:sid={SECRET}"),
            ("--header", f"X-Any: {SECRET}"),
            ("--header", f"Authorization: Bearer {SECRET}"),
        ],
        ids=lambda one: one[1].partition(SECRET)[0],
    )
    def test_what_was_given_is_in_nothing_that_is_written_though_the_service_repeats_it(
        self, project: Path, given: tuple[str, str]
    ) -> None:
        with served(Desk(), DESK) as small:
            _, out, err = api(project, small.url, *given, *self.outputs())
            _, shown, _ = api(project, small.url, *given, "--requests", "20", "--format", "json")
        assert any(SECRET in str(one.headers) + str(one.query) for one in small.heard)
        assert json.loads(shown)["faults"]
        assert SECRET not in self.all_written(project) + out + err + shown

    @pytest.mark.parametrize(("kind", "where", "name"), [("query", "query", "k"), ("cookie", "cookie", "sid")])
    def test_nor_is_it_given_away_by_the_wrong_ones(self, project: Path, kind: str, where: str, name: str) -> None:
        """The service lets anybody in who has any key, and repeats it."""
        scheme = {"type": "apiKey", "in": where, "name": name}
        made = document(
            {"/mine": {"get": does("200", "401", security=[{"key": []}])}},
            components={"securitySchemes": {"key": scheme}},
        )

        def answering(heard: Heard) -> Answer:
            key = heard.query.get(name) or heard.headers.get("Cookie")
            return (200, {"you": key, "backwards": str(key)[::-1]}) if key else (401, {})

        with served(answering, made) as small:
            _, out, err = api(project, small.url, "--auth", f"{kind}:{name}={SECRET}", *self.outputs())
        written = (self.all_written(project) + out + err).lower()
        assert "whet-wrong-credential" in out
        assert [form for form in (SECRET, SECRET[::-1]) if form in written] == []

    @pytest.mark.parametrize("length", range(280, 300))
    def test_nor_is_half_of_it_told_where_an_answer_is_cut(self, length: int) -> None:
        """Half of a secret is nothing that could be found and hidden."""
        said = "x " * (length // 2) + f"Bearer%20{SECRET} and on {'y ' * 400}"
        answer = Response(500, (), said.encode())
        made = read_contract(DESK)
        note = made.operation("GET /notes/{id}")
        assert note is not None
        exchange = Exchange(1, Draft(note), Request("GET", "/notes/1"), answer)
        (told,) = Symptoms(made, Schemas(made)).of(exchange)
        assert len(told.detail) > 250
        assert SECRET[:4] not in told.detail.replace(SECRET, "")
        late = replace(exchange, response=Response(500, (), ("x " * 1850).encode() + said.encode()))
        kept = str(pack_exchange(late)["answer"])
        assert SECRET[:4] not in kept.replace(SECRET, "")

    def test_a_password_is_not_told_in_clear_or_encoded(self, project: Path) -> None:
        encoded = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()

        class Telling(Desk):
            def __call__(self, heard: Heard) -> Answer:
                answer = super().__call__(heard)
                return (500, {"error": "KeyError", "who": f"ann:{PASSWORD}"}) if answer and answer[0] == 500 else answer

        with served(Telling(), DESK) as small:
            _, out, err = api(project, small.url, "--auth", f"basic:ann:{PASSWORD}", *self.outputs())
        written = self.all_written(project) + out + err
        assert PASSWORD not in written
        assert encoded not in written

    def test_tokens_the_service_handed_out_are_kept_too(self, project: Path) -> None:
        """It found the login itself; the token comes back in an error."""
        body = record(("user", "password"), user={"type": "string"}, password={"type": "string"})
        made = document({"/login": {"post": does("200", "401", body=body)}, "/mine": {"get": does("200", "401")}})
        tokens: list[str] = []

        def answering(heard: Heard) -> Answer:
            if heard.path == "/login":
                if not isinstance(heard.body, dict) or not isinstance(heard.body.get("password"), str):
                    return 401, {}
                tokens.append(f"handed-out-{len(tokens)}-{os.urandom(8).hex()}")
                return 200, {"access_token": tokens[-1]}
            worn = heard.headers.get("Authorization", "").removeprefix("Bearer ")
            return (500, {"error": f"cannot read <{worn}>"}) if worn in tokens else (401, {})

        with served(answering, made) as small:
            _, out, err = api(project, small.url, *self.outputs())
        written = self.all_written(project) + out + err
        assert tokens
        assert "cannot read" in written
        assert [one for one in tokens if one in written] == []


ENDED_LATE = """
import os, signal
from whet.bootstrap.api import Visit
from whet.cli.main import main
remember = Visit.remember
def ended(self, store):
    os.kill(os.getpid(), signal.SIGTERM)
    remember(self, store)
Visit.remember = ended
main()
"""


class TestStopping:
    def start(self, project: Path, url: str, *arguments: str) -> subprocess.Popen[str]:
        command = [str(WHET), "api", url, "--project", str(project), "--format", "json", *arguments]
        return subprocess.Popen(
            command, cwd=project, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def interrupted(
        self, process: subprocess.Popen[str], small: Small, after: int, by: signal.Signals = signal.SIGINT
    ) -> tuple[int, str, str]:
        deadline = time.monotonic() + 40
        while len(small.heard) < after and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(by)
        out, err = process.communicate(timeout=40)
        return process.returncode, out, err

    @pytest.mark.parametrize(("by", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_it_ends_with_the_report_so_far_and_keeps_what_was_learned(
        self, project: Path, by: signal.Signals, expected: int
    ) -> None:
        with served(Desk(), DESK) as small:
            process = self.start(project, small.url, "--requests", "1000000", "--sarif", "s.sarif")
            code, out, err = self.interrupted(process, small, 150, by)
            sent = len(small.heard)
        report = json.loads(out)
        assert (code, report["interrupted"]) == (expected, True), err
        assert any(fault["kind"] == "server-error" for fault in report["faults"])
        assert report["requests"] in (sent, sent - 1)  # the one under way may not have come back
        assert "interrupted" in (project / ".whet" / "api.html").read_text()
        assert (project / "s.sarif").exists()
        assert "Traceback" not in err
        _, after = self.next_run(project)
        assert after["earlier_runs"] == 1

    def test_one_that_is_done_keeps_what_was_learned_whoever_asks_for_its_end(self, project: Path) -> None:
        """As a proxy does when the budget is spent: the last request is answered, the report is not written yet."""
        with served(Desk(), DESK) as small:
            command = [
                sys.executable,
                "-c",
                ENDED_LATE,
                "api",
                small.url,
                "--project",
                str(project),
                "--requests",
                "30",
            ]
            done = subprocess.run(command, cwd=project, env=environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), done.stderr
        assert self.next_run(project)[1]["earlier_runs"] == 1

    def next_run(self, project: Path) -> tuple[int, dict[str, object]]:
        with served(Desk(), DESK) as small:
            return told(project, small.url, "--requests", "20")

    def test_even_while_it_waits(self, project: Path) -> None:
        with served(lambda _: (429, {}, {"Retry-After": "30"}), DESK) as small:
            process = self.start(project, small.url)
            started = time.monotonic()
            code, out, err = self.interrupted(process, small, 1)
        assert code == 130, err
        assert json.loads(out)["interrupted"]
        assert time.monotonic() - started < 25


def test_a_service_that_dies_is_told_with_the_request_that_did_it_and_waited_for(project: Path) -> None:
    with running("empty-cover", supervised=True) as library:
        code, report = told(
            project, library.document, "--requests", "120", "--seed", "2", "--only", "POST /books", "--only", "/cover",
            "--header", "X-Api-Key: library-demo-key",
        )  # fmt: skip
    crash = next(one for one in report["faults"] if one["kind"] == "crash")
    assert code == 1
    assert crash["steps"][-1]["operation"] == "PUT /books/{book_id}/cover"
    assert not [note for note in report["notes"] if "did not come back" in note]
    assert report["requests"] > 80  # it went on


def test_slowing_down_when_asked(project: Path) -> None:
    """Every second answer asks for a second of rest: the others are not sent before."""
    times: list[float] = []

    def busy(heard: Heard) -> Answer:
        times.append(time.monotonic())
        return (429, {}, {"Retry-After": "1"}) if len(times) == 3 else (200, {})

    made = document({"/ping": {"get": does("200", "429", parameters=(in_query("q"),))}})
    with served(busy, made) as small:
        told(project, small.url, "--requests", "8")
    assert times[3] - times[2] > 0.95


def test_signals_are_left_as_they_were() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _as_before(), _terminable():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
