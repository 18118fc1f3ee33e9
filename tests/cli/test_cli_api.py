"""`whet api` as people start it, against services that really listen."""

import gc
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from examples.api.running import running
from tests.cli.api_services import DESK, Desk, api, api_process, changed, told
from tests.cli.command_line import environment
from tests.skills.api.small_service import Answer, Heard, document, does, record, served
from tests.tools.http.scripted import free_port

from whet.bootstrap.site import open_site
from whet.skills.api.campaign import Campaign

WORDS = {"name": {"type": "string", "minLength": 4}, "password": {"type": "string", "minLength": 8}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "desk"\nversion = "1"\n')
    return tmp_path


def _pytest(project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:whet", "tests/api"],
        cwd=project, env=environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_help_says_what_it_does_and_warns() -> None:
    code, out, _ = api(Path.cwd(), "--help")
    assert code == 0
    assert "OpenAPI" in out
    assert "changes real data" in out
    for option in ("--url", "--requests", "--minutes", "--header", "--auth", "--only", "--exclude", "--safe", "--rate",
                   "--seed", "--write-tests", "--junit", "--sarif", "--fresh"):  # fmt: skip
        assert option in out


class TestBadInput:
    def refused(self, project: Path, *arguments: str) -> str:
        code, out, err = api(project, *arguments)
        assert code == 2
        assert "Traceback" not in err
        assert out == ""
        return " ".join(err.split())

    def test_not_an_address(self, project: Path) -> None:
        assert "http://127.0.0.1:8000" in self.refused(project, "http://h:x/openapi.json")
        assert "http://127.0.0.1:8000" in self.refused(project, "http://a..b/openapi.json")

    def test_a_file_that_is_not_there(self, project: Path) -> None:
        assert "openapi.yaml" in self.refused(project, "openapi.yaml", "--url", "http://127.0.0.1:1")

    def test_a_file_without_a_service(self, project: Path) -> None:
        (project / "openapi.json").write_text(json.dumps(DESK))
        assert "Add --url" in self.refused(project, str(project / "openapi.json"))

    def test_nothing_listens(self, project: Path) -> None:
        (project / "openapi.json").write_text(json.dumps(DESK))
        place = f"http://127.0.0.1:{free_port()}"
        code, out, err = api_process(project, f"{place}/openapi.json")
        assert (code, out) == (2, "")
        assert "Is the service running?" in err
        assert "Start the service" in self.refused(project, str(project / "openapi.json"), "--url", place)

    def test_not_an_openapi_document(self, project: Path) -> None:
        with served(lambda _: (200, {"hello": "world"})) as small:
            assert "openapi" in self.refused(project, f"{small.url}/hello").lower()

    def test_no_document_anywhere(self, project: Path) -> None:
        with served(lambda _: (404, {})) as small:
            assert "usual places" in self.refused(project, small.url)
            assert "browser" in self.refused(project, f"{small.url}/there")

    def test_nothing_in_scope(self, project: Path) -> None:
        with served(Desk(), DESK) as small:
            assert "--only" in self.refused(project, small.url, "--only", "/nowhere")
            assert small.heard == []

    @pytest.mark.parametrize(
        ("arguments", "remedy"),
        [
            (("--auth", "digest:x"), "bearer:TOKEN"),
            (("--auth", "bearer:env:WHET_NOT_SET"), "export WHET_NOT_SET"),
            (("--header", "no colon"), "X-Tenant: a"),
            (("--requests", "0"), "--requests"),
            (("--rate", "0"), "--rate"),
        ],
    )
    def test_options(self, project: Path, arguments: tuple[str, str], remedy: str) -> None:
        assert remedy in self.refused(project, "http://127.0.0.1:1", *arguments)


@pytest.mark.parametrize("option", ["--html", "--junit", "--sarif", "--write-tests"])
@pytest.mark.parametrize("place", ["pyproject.toml/below", "/proc/nowhere/below"])
def test_what_cannot_be_written_is_said_before_the_first_request(project: Path, option: str, place: str) -> None:
    with served(Desk(), DESK) as small:
        code, out, err = api(project, small.url, "--requests", "10", option, place)
        assert small.heard == []
    assert (code, out) == (2, "")
    assert option in err
    assert "Give another path" in " ".join(err.split())


@pytest.mark.parametrize("option", ["--html", "--junit", "--sarif"])
def test_a_folder_is_no_file(project: Path, option: str) -> None:
    with served(Desk(), DESK) as small:
        code, _, err = api(project, small.url, "--requests", "10", option, ".")
        assert small.heard == []
    assert code == 2
    assert "it is a folder" in err


def test_tests_of_someone_else_are_found_before_the_first_request(project: Path) -> None:
    (project / "test_whet_api.py").write_text("mine = 1\n")
    with served(Desk(), DESK) as small:
        code, _, err = api(project, small.url, "--requests", "10", "--write-tests", ".")
        assert small.heard == []
    assert code == 2
    assert "was not written by whet" in err


@pytest.mark.parametrize("lost", ["api.sarif", "junit.xml", "page.html", "tests", "summary.md"])
def test_a_file_that_cannot_be_written_in_the_end_costs_no_other(
    project: Path, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was free when the run began; somebody made a folder, or a file, of it meanwhile."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary.md"))
    desk = Desk()

    def answering(heard: Heard) -> Answer:
        if lost == "tests":
            (project / lost).touch()
        else:
            (project / lost).mkdir(exist_ok=True)
        return desk(heard)

    with served(answering, DESK) as small:
        code, out, err = api(
            project, small.url, "--requests", "60", "--seed", "1", "--sarif", "api.sarif", "--junit", "junit.xml",
            "--html", "page.html", "--write-tests", "tests",
        )  # fmt: skip
    assert code == 2
    assert "server error" in out
    assert f"{lost}" in err
    assert "could not be written" in err
    assert "Traceback" not in err
    written = {"api.sarif", "junit.xml", "page.html", "tests/test_whet_api.py", "summary.md"} - {lost}
    assert all((project / one).is_file() for one in written if not one.startswith(lost))
    with open_site(project).store() as store:
        assert store.knowledge.services()


def test_a_faulty_service_is_exit_1_and_every_form_of_the_report_is_written(project: Path) -> None:
    with served(Desk(), DESK) as small:
        code, out, err = api_process(
            project, small.url, "--requests", "150", "--seed", "1", "--write-tests", "tests/api",
            "--junit", "junit.xml", "--sarif", "api.sarif",
        )  # fmt: skip
        assert code == 1, err
        assert "server error" in out
        assert "curl" in out
        assert "Desk" in err
        assert "Desk" in (project / ".whet" / "api.html").read_text()
        assert ET.parse(project / "junit.xml").getroot() is not None  # noqa: S314 - our own
        assert json.loads((project / "api.sarif").read_text())["version"] == "2.1.0"
        ran = _pytest(project)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        assert "passed" not in ran.stdout.splitlines()[-1]


def test_written_tests_pass_when_it_is_fixed(project: Path) -> None:
    """On a service started anew: what the tests need they make themselves."""
    desk = Desk()
    with served(desk, DESK) as small:
        api(project, small.url, "--requests", "150", "--seed", "1", "--write-tests", "tests/api")
        desk.broken = False
        desk.notes.clear()
        ran = _pytest(project)
    assert ran.returncode == 0, ran.stdout


GUARDED = document(
    {
        "/members": {"post": does("201", "409", "422", body=record(("name", "password"), **WORDS))},
        "/login": {"post": does("200", "401", "422", body=record(("name", "password"), **WORDS))},
        "/diary": {"get": does("200", "401", security=[{"token": []}])},
        "/weather": {"get": does("200")},
    },
    components={"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
)


class Guarded:
    """Whoever signed up can log in; the diary needs it, the weather does not. `broken`: both fail."""

    def __init__(self) -> None:
        self.broken, self.members, self.tokens = True, set[str](), set[str]()

    def __call__(self, heard: Heard) -> Answer:
        failed = (500, {"error": f"KeyError: '{heard.path[1:]}'"}) if self.broken else (200, {})
        if heard.method == "GET":
            known = heard.headers.get("Authorization") in self.tokens
            return failed if known or heard.path == "/weather" else (401, {"error": "log in"})
        given = heard.body if isinstance(heard.body, dict) else {}
        name, password = given.get("name"), given.get("password")
        if not isinstance(name, str) or not isinstance(password, str) or len(name) < 4 or len(password) < 8:
            return 422, {"error": "a name and a password"}
        if heard.path == "/members":
            taken = name in self.members
            self.members.add(name)
            return (409, {"error": "taken"}) if taken else (201, {"name": name})
        if name not in self.members:
            return 401, {"error": "nobody is called so"}
        self.tokens.add(f"Bearer token-of-{name}")
        return 200, {"token": f"token-of-{name}"}


def test_written_tests_log_in_themselves_and_only_where_they_need_it(project: Path) -> None:
    """Where Whet found the login, nobody has credentials to put into the environment."""
    guarded = Guarded()
    with served(guarded, GUARDED) as small:
        api(project, small.url, "--requests", "400", "--seed", "1", "--write-tests", "tests/api")
        source = (project / "tests" / "api" / "test_whet_api.py").read_text()
        outcomes = []
        for broken in (True, False, False):
            guarded.broken = broken
            if broken:  # as after a restart
                guarded.members, guarded.tokens = set(), set()
            outcomes.append(_pytest(project).stdout.splitlines()[-1])
    assert "'/diary'" in source
    assert "from_environment('" not in source
    weather = source[source.index("def test_server_error_get_weather") :].partition("\n\n\n")[0]
    assert "/login" not in weather
    assert "passed" not in outcomes[0]
    assert all("failed" not in one and "error" not in one for one in outcomes[1:]), outcomes


def test_a_healthy_service_is_exit_0(project: Path) -> None:
    with served(Desk(broken=False), DESK) as small:
        code, report = told(project, small.url, "--requests", "150", "--seed", "1")
    gc.collect()  # a connection left open would be an error now
    assert code == 0
    assert report["faults"] == []
    assert report["headline"] == "Nothing wrong was found."


def test_a_service_that_lets_nobody_in_is_said_to_be_hardly_tested(project: Path) -> None:
    made = document({"/mine": {"get": does("200", "401")}, "/yours": {"get": does("200", "401")}})
    with served(lambda _: (401, {}), made) as small:
        _, report = told(project, small.url, "--requests", "20")
    (note,) = (note for note in report["notes"] if "401" in note)
    assert note.startswith(f"{report['requests']} of {report['requests']} answers were 401 or 403")
    assert "--auth" in note
    with served(lambda _: (200, {}), made) as small:
        _, report = told(project, small.url, "--requests", "20", "--fresh")
    assert not any("401" in note for note in report["notes"])


def test_findings_can_be_made_not_to_fail(project: Path) -> None:
    with served(Desk(), DESK) as small:
        code, report = told(project, small.url, "--requests", "100", "--seed", "1", "--fail-on", "never")
    assert code == 0
    assert report["faults"]


def test_the_json_says_everything_by_number(project: Path) -> None:
    with served(Desk(), DESK) as small:
        _, report = told(project, small.url, "--requests", "120", "--seed", "5")
    assert report["schema_version"] == 1
    assert (report["seed"], report["budget_requests"], report["interrupted"]) == (5, 120, False)
    assert report["requests"] == len(small.heard) <= 120
    assert {one["id"] for one in report["operations"]} == {
        "GET /notes", "POST /notes", "GET /notes/{id}", "DELETE /notes/{id}",
    }  # fmt: skip
    fault = next(one for one in report["faults"] if one["kind"] == "server-error")
    assert fault["confirmed"]
    assert [step["operation"] for step in fault["steps"]] == ["POST /notes", "GET /notes/{id}"]
    assert fault["standing"] == "new"


def test_the_second_run_says_what_is_known_what_is_fixed_and_what_changed(project: Path) -> None:
    """The service is another process by then, with other ids, at another port."""
    with served(Desk(first=1000), DESK) as small:
        told(project, small.url, "--requests", "120", "--seed", "1")
    with served(Desk(first=5000), DESK) as small:
        _, second = told(project, small.url, "--requests", "120", "--seed", "2")
    fault = next(one for one in second["faults"] if one["kind"] == "server-error")
    assert (second["earlier_runs"], fault["standing"]) == (1, "known")
    after = changed({"/notes": {"post": DESK["paths"]["/notes"]["post"]}, "/tags": {"get": does("200")}})
    with served(Desk(broken=False, first=9000), after) as small:
        code, out, err = api(project, small.url, "--requests", "120", "--seed", "3")
    assert code == 0 or "server error" not in out
    assert "starting from what 2 runs learned" in err
    assert "fixed" in out
    assert "Breaking changes of the contract" in out
    assert "GET /notes" in out


def test_fresh_forgets(project: Path) -> None:
    with served(Desk(), DESK) as small:
        told(project, small.url, "--requests", "60")
        _, again = told(project, small.url, "--requests", "60", "--fresh")
    assert again["earlier_runs"] == 0


def test_a_header_as_plain_as_true_does_not_spoil_what_is_kept(project: Path) -> None:
    with served(Desk(), DESK) as small:
        for header in ("X-Debug: true", "X-Mode: null", "X-Kind: server-error"):
            told(project, small.url, "--requests", "60", "--header", header)
        _, report = told(project, small.url, "--requests", "60")
    assert report["earlier_runs"] == 3


def test_a_file_with_an_address_and_a_base_path(project: Path) -> None:
    made = document({"/ping": {"get": does("200")}}, servers=[{"url": "http://elsewhere.invalid/v9"}])
    (project / "openapi.json").write_text(json.dumps(made))
    with served(lambda _: (200, {})) as small:
        told(project, "openapi.json", "--url", f"{small.url}/base", "--requests", "5")
    assert {one.path for one in small.heard} == {"/base/ping"}


def test_a_document_with_mistakes_is_understood_and_they_are_told(project: Path) -> None:
    """As httpbin's: `int` is no type, and a parameter has none."""
    number = {"in": "path", "name": "n", "type": "int", "required": True}
    made = {
        "swagger": "2.0", "info": {"title": "bytes", "version": "1"}, "basePath": "/",
        "paths": {
            "/bytes/{n}": {"get": {"parameters": [number], "responses": {"200": {"description": "bytes"}}}},
            "/status/{code}": {
                "get": {"parameters": [{"in": "path", "name": "code"}], "responses": {"200": {"description": "so"}}}
            },
        },
    }  # fmt: skip
    (project / "openapi.json").write_text(json.dumps(made))

    def answering(heard: Heard) -> Answer:
        last = heard.path.rpartition("/")[2]
        return (200, {}) if heard.path.startswith("/status") or last.removeprefix("-").isdecimal() else (404, {})

    with served(answering) as small:
        code, report = told(project, "openapi.json", "--url", small.url, "--requests", "60", "--seed", "1")
    assert code == 0, report["faults"]
    assert any("there is no type int; it was taken as integer" in note for note in report["notes"])
    assert sum(one.path.rpartition("/")[2].isdecimal() for one in small.heard if "/bytes" in one.path) > 5


def test_a_defect_of_ours_does_not_cost_what_was_learned(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Campaign) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Campaign, "conclude", fails)
    with running("none") as service:
        code, _, err = api(project, service.document, "--requests", "30", "--seed", "1")
    assert code == 2
    assert "ZeroDivisionError" in err
    with open_site(project).store() as store:
        assert store.knowledge.services()
