"""Written tests are run by a real pytest: red on the service they were found on, green on the one that is mended."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.api.faulty_service import TOKEN, serving
from tests.reports.api.sightings import contract, fault, faults

from whet.core.errors import WhetError
from whet.reports.api.composing import fault_line
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.pytest_file import module_source, write_tests
from whet.reports.api.redaction import Secrets
from whet.reports.api.replay_schema import simple_problems
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind
from whet.tools.http.messages import Request, Response

EMPTY = ApiReport("Faulty <service>", "http://127.0.0.1:1", 7, 10, 10, 1.0)


@pytest.fixture(scope="module")
def found() -> tuple[FaultLine, ...]:
    with serving(broken=True) as url:
        lines = [fault_line(each, contract(), url, Secrets([TOKEN])) for each in faults(url)]
    return tuple(lines)


def _run(path: Path, url: str) -> dict[str, str]:
    """Outcome by test."""
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-p", "no:whet"]
    variables = {**os.environ, "WHET_API_URL": url, "WHET_API_TIMEOUT": "0.5"}
    done = subprocess.run([*command, str(path)], cwd=path.parent, env=variables, capture_output=True, text=True)
    pairs = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE)
    assert pairs, done.stdout + done.stderr
    return {test: outcome for outcome, test in pairs}


def test_written_tests_fail_now_and_pass_when_fixed(found: tuple[FaultLine, ...], tmp_path: Path) -> None:
    path = write_tests(replace(EMPTY, faults=found), tmp_path)
    assert path is not None
    with serving(broken=True) as url:
        assert {name: outcome for name, outcome in _run(path, url).items() if outcome != "FAILED"} == {}
    with serving(broken=False) as url:
        faults(url)  # the names it uses are taken now, as when it runs for the second time
        outcomes = _run(path, url)
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "PASSED"} == {}
    assert len(outcomes) == len(found) == 16
    assert {line.kind for line in found} == set(Kind)


def test_written_tests_hold_no_credential(found: tuple[FaultLine, ...]) -> None:
    source = module_source(replace(EMPTY, faults=found))
    assert TOKEN not in source
    assert "answer_1.value('/token'" in source


def test_credentials_come_from_the_environment(found: tuple[FaultLine, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    (profile,) = [line for line in found if line.operations == ("GET /profile",)]
    alone = replace(profile, steps=(replace(profile.steps[1], carried=()),))
    with serving(broken=False) as url:
        monkeypatch.setenv("WHET_API_URL", url)
        written: dict[str, Any] = {}
        exec(module_source(replace(EMPTY, faults=(alone,))), written)  # noqa: S102 - our own text
        (test,) = [value for name, value in written.items() if name.startswith("test_")]
        with pytest.raises(LookupError, match="Set WHET_API_AUTHORIZATION"):
            test()
        monkeypatch.setenv("WHET_API_AUTHORIZATION", "Bearer wrong")
        assert test() is None, "it is refused, as it should be"
        monkeypatch.setenv("WHET_API_AUTHORIZATION", f"Bearer {TOKEN}")
        assert test() is None
    assert "from_environment('WHET_API_AUTHORIZATION')" in module_source(replace(EMPTY, faults=(alone,)))


def test_ids_of_the_replay_are_carried_on(found: tuple[FaultLine, ...]) -> None:
    source = module_source(replace(EMPTY, faults=found))
    assert "escaped(answer_1.value('/id', '1003'))" in source
    assert "'/named/' + escaped(answer_1.value('sent:/name', 'named'))" in source
    assert "b'{\"amount\": 1001, \"item_id\": ' + answer_1.written('/id', '1001')" in source


def test_where_a_fault_rests_on_what_may_be_gone_its_test_is_skipped_and_not_wrong(
    found: tuple[FaultLine, ...], tmp_path: Path
) -> None:
    """On a service that never had it, 404 would look like a fault that is fixed, or like one in the set-up."""
    kinds = (Kind.SERVER_ERROR, Kind.READ_AFTER_DELETE)
    shown = [line for line in found if line.kind in kinds and len(line.steps) > 1 and "/profile" not in line.cause]
    alone = [replace(line, rests=True, steps=tuple(replace(step, carried=()) for step in line.steps)) for line in shown]
    path = write_tests(replace(EMPTY, faults=tuple(alone)), tmp_path)
    assert path is not None
    with serving(broken=False) as url:
        assert set(_run(path, url).values()) <= {"PASSED"}
    source = path.read_text()
    assert source.count("pytest.skip(") > len(alone)
    assert "import pytest" in source
    deleted = source[source.index("def test_read_after_delete") :].partition("\n\n\n")[0]
    assert "if answer.status == 404" not in deleted, "there it is what should be"


def test_a_cookie_that_was_made_up_is_no_credential(found: tuple[FaultLine, ...]) -> None:
    secrets = Secrets([TOKEN])
    cookie = ("Cookie", f"session=w; token={TOKEN}")
    request = Request("GET", "/", (cookie,))
    written = secrets.request(request, (cookie,))
    assert written.headers == (("Cookie", "session=w; token=***"),)
    assert secrets.hidden_in([written]) == [written], "not even when the whole report loses its secrets"
    assert "session=w" not in str(secrets.request(request).headers)


@pytest.mark.parametrize(
    ("credentials", "sent"), [("wrong", "whet-wrong-credential"), ("given", "WHET_API_AUTHORIZATION")]
)
def test_a_curl_line_of_wrong_credentials_sends_wrong_ones(credentials: Literal["given", "wrong"], sent: str) -> None:
    """With the right ones from the environment it would show nothing."""
    made = contract()
    operation = made.operation("GET /shape")
    assert operation is not None
    request = Request("GET", "/shape", (("Authorization", f"Bearer {TOKEN}"),))
    step = Exchange(1, Draft(operation, credentials=credentials), request, Response(200, (), b""))
    line = fault_line(fault(Kind.MISSING_AUTH, step), made, "http://127.0.0.1:1", Secrets([TOKEN]))
    assert sent in line.curl
    assert TOKEN not in line.curl


@pytest.mark.parametrize(
    ("credentials", "sent"), [("wrong", "'/shape?key=whet-wrong-credential'"), ("given", "'WHET_API_KEY'")]
)
def test_a_credential_of_the_query_is_no_other_in_lines_than_in_tests(
    credentials: Literal["given", "wrong"], sent: str
) -> None:
    made = contract()
    operation = made.operation("GET /shape")
    assert operation is not None
    step = Exchange(1, Draft(operation, credentials=credentials), Request("GET", f"/shape?key={TOKEN}"), Response(200))
    line = fault_line(fault(Kind.MISSING_AUTH, step), made, "http://127.0.0.1:1", Secrets([TOKEN], ["key"]))
    source = module_source(replace(EMPTY, faults=(line,)))
    assert sent in source
    assert sent.strip("'") in line.curl
    assert TOKEN not in source + line.curl


def test_without_faults_nothing_is_written(tmp_path: Path) -> None:
    assert write_tests(EMPTY, tmp_path / "new") is None
    assert not (tmp_path / "new").exists()


def test_a_file_of_someone_else_is_left_alone(found: tuple[FaultLine, ...], tmp_path: Path) -> None:
    report = replace(EMPTY, faults=found[:1])
    path = write_tests(report, tmp_path)
    assert path is not None
    assert write_tests(report, tmp_path) == path, "our own is written anew"
    path.write_text("mine = 1\n")
    with pytest.raises(WhetError, match="was not written by whet"):
        write_tests(report, tmp_path)
    assert path.read_text() == "mine = 1\n"


@settings(max_examples=50, deadline=None)
@given(text=st.text(), body=st.binary(), value=st.text(st.characters(codec="latin-1")))
def test_whatever_is_in_a_fault_the_module_is_python(
    text: str, body: bytes, value: str, found: tuple[FaultLine, ...]
) -> None:
    order = next(line for line in found if line.operations == ("POST /orders",))
    step = replace(order.steps[1], request=Request(text, text, ((text, value),), body))
    hostile = replace(order, title=text, detail=text, cause=text, steps=(order.steps[0], step))
    compile(module_source(replace(EMPTY, title=text, base_url=text, faults=(hostile,))), "written", "exec")


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        ({"id": 1, "name": "a"}, 0),
        ({"id": 1.0, "name": "a", "more": []}, 0),
        ({"id": True, "name": "a"}, 1),
        ({"name": 1}, 2),
        ({"id": 1, "name": "abcdef", "tags": [1, "x"]}, 2),
        ([], 1),
    ],
)
def test_the_schema_check_without_a_library(value: object, broken: int) -> None:
    schema = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"$ref": "#/definitions/Id"},
            "name": {"allOf": [{"type": "string"}, {"maxLength": 5}]},
            "tags": {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["y"]}]}},
        },
    }
    assert len(list(simple_problems(value, schema, {"#/definitions/Id": {"type": "integer"}}))) == broken
