"""REST as it is described: every example works, every refusal is a problem with a remedy, nothing hostile does harm."""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.service.offices import URL, Office, bearer, office

from whet.core.people import Role
from whet.service.rest.samples import OUTCOME, STATE
from whet.tools.supervisor import processes

HOSTILE = "<script>alert(1)</script>'\";DROP TABLE runs;--\u202e\x00\x1b[31m{{7*7}}%s../../etc/passwd"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path, "training_minutes = 1.0") as opened:
        yield opened


def described(at: Office) -> dict[str, Any]:
    told: dict[str, Any] = at.program().get("/openapi.json").json()
    return told


def test_every_operation_says_what_it_may_answer(at: Office) -> None:
    told = described(at)
    operations = [(path, operation) for path, item in told["paths"].items() for operation in item.values()]
    assert len(operations) > 30
    for path, operation in operations:
        assert {"401", "403", "404", "413", "422", "429"} <= set(operation["responses"]), path
        assert "application/problem+json" in operation["responses"]["401"]["content"]
        body = operation.get("requestBody")
        assert body is None or body["content"]["application/json"]["example"] is not None
    assert told["security"] == [{"key": []}]
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(told)))
    assert references <= set(told["components"]["schemas"])


def test_every_example_works(at: Office) -> None:
    """Where it names something, there is such a thing; what is not there is not found, and nothing else is wrong."""
    program, sent = at.program(), 0
    for path, item in described(at)["paths"].items():
        for method, operation in item.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            answer = program.request(method, re.sub(r"{[^}]*}", "7", path), json=body)
            assert answer.status_code in (200, 201, 202, 404), (method, path, answer.text)
            assert answer.status_code != 404 or "{" in path or body is not None
            sent += 1
    assert sent > 30


def test_lists_come_in_parts(at: Office) -> None:
    program = at.program()
    made = [
        program.post("/predict", json={"agent": "test-executor", "state": STATE, "keep": True}).json() for _ in range(5)
    ]
    first = program.get("/api/v1/decisions", params={"limit": 3}).json()
    rest = program.get("/api/v1/decisions", params={"limit": 3, "before": first["before"]}).json()
    seen = [each["decision"]["id"] for each in (*first["items"], *rest["items"])]
    assert seen == [each["decision"] for each in reversed(made)]
    assert rest["before"] is None
    assert program.get("/api/v1/decisions", params={"limit": 0}).status_code == 422
    assert program.get("/api/v1/decisions", params={"before": 2**63}).status_code == 422
    assert program.get("/api/v1/decisions", params={"agent": "nobody"}).json() == {"items": [], "before": None}


def test_rewards_are_calculated_as_they_are_learned(at: Office) -> None:
    program = at.program()
    decision = program.post("/predict", json={"agent": "test-executor", "state": STATE, "keep": True}).json()
    body = {"agent": "test-executor", "decision": decision["decision"], "outcome": OUTCOME}
    learned = program.post("/api/v1/experiences", json=body).json()["reward"]
    asked = {"agent": "test-executor", "state": STATE, "action": decision["action"], "outcome": OUTCOME}
    assert program.post("/api/v1/rewards/calculate", json=asked).json()["raw"] == learned["raw"]
    weighed = program.post("/api/v1/rewards/calculate", json=asked | {"weights": {"execution_speed": 0.0}}).json()
    assert weighed["raw"] < learned["raw"]
    history = program.get("/api/v1/rewards/history", params={"agent": "test-executor"}).json()["items"]
    assert [(each["decision"], each["reward"]) for each in history] == [(decision["decision"], learned)]


def test_a_note_is_masked_kept_once_and_found(at: Office) -> None:
    program = at.program(Role.REVIEWER)
    note = {"text": "Prices are rounded half up; password=hunter2hunter2", "subjects": ["file:src/prices.py"]}
    first, again = (program.post("/api/v1/memory/store", json=note).json() for _ in range(2))
    assert (first["new"], again["new"], first["id"]) == (True, False, again["id"])
    found = program.post("/api/v1/memory/retrieve", json={"text": "how are prices rounded?"}).json()["items"]
    assert [each["id"] for each in found] == [first["id"]]
    assert "hunter2" not in json.dumps(found)


def test_a_note_is_found_by_a_subject_that_was_masked(at: Office) -> None:
    program, about = at.program(Role.REVIEWER), ["test:tests/test_mail.py::test_to[bob@corp.example]"]
    program.post("/api/v1/memory/store", json={"text": "It needs the mail server.", "subjects": about})
    (found,) = program.post("/api/v1/memory/retrieve", json={"subjects": about}).json()["items"]
    assert found["why"].startswith("about the same test")


def test_hostile_text_goes_in_and_out_as_it_is(at: Office) -> None:
    program = at.program()
    key = program.post("/api/v1/keys", json={"name": HOSTILE[:100]}).json()
    assert key["key"]["name"] == HOSTILE[:100]
    noted = program.post("/api/v1/memory/store", json={"text": HOSTILE})
    assert noted.status_code == 201
    for path in ("/api/v1/runs/", "/api/v1/decisions/", "/api/v1/findings/"):
        refused = program.get(path + quote(HOSTILE.replace("/", ""), safe=""))
        assert refused.status_code == 404
        assert not set(refused.json()["detail"]) & set("\x00\x1b\u202e")
    assert at.store.runs.recent() == []


def test_a_page_of_refusal_shows_markup_and_does_not_make_it(at: Office) -> None:
    refused = at.program().get("/api/v1/runs/<script>alert(1)<", headers={"Accept": "text/html"})
    assert refused.status_code == 404
    assert refused.headers["content-type"].startswith("text/html")
    assert "<script>alert" not in refused.text


def test_a_body_of_another_kind_is_refused(at: Office) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = at.program().post("/api/v1/runs", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 415, kind


def test_training_ends_when_it_is_told_to_and_leaves_nothing(at: Office) -> None:
    program, before = at.program(), set(processes())
    begun = program.post("/api/v1/training/start", json={"what": "train", "agent": "test-executor", "steps": 10**7})
    assert begun.status_code == 202
    assert program.post("/api/v1/training/start", json={"what": "learn"}).status_code == 409
    assert program.get("/api/v1/training/status").json()["under_way"] is True
    assert program.post("/api/v1/training/stop").json() == {"stopped": True}
    ended = program.get("/api/v1/training/status").json()
    assert (ended["under_way"], ended["last"]["stopped"], ended["last"]["ok"]) == (False, True, False)
    assert program.post("/api/v1/training/stop").json() == {"stopped": False}
    assert not {pid for pid, parent in processes().items() if pid not in before and parent == os.getpid()}


def test_training_that_takes_too_long_is_ended(at: Office) -> None:
    program = at.program()
    begun = program.post("/api/v1/training/start", json={"what": "learn", "minutes": 0.001})
    assert begun.status_code == 202
    deadline = time.monotonic() + 30
    while program.get("/api/v1/training/status").json()["under_way"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    last = program.get("/api/v1/training/status").json()["last"]
    assert (last["timed_out"], last["ok"]) == (True, False)


def test_a_mark_changes_the_reward(at: Office) -> None:
    program = at.program()
    decision = program.post("/predict", json={"agent": "test-executor", "state": STATE, "keep": True}).json()
    finding = {"kind": "failing-test", "title": "t", "severity": "high", "evidence": "e", "test": "t::x"}
    body = {"agent": "test-executor", "decision": decision["decision"], "outcome": OUTCOME | {"findings": [finding]}}
    before = program.post("/api/v1/experiences", json=body).json()["reward"]["raw"]
    fingerprint = program.get("/api/v1/findings").json()["items"][0]["fingerprint"]
    heard = program.post(f"/api/v1/findings/{fingerprint}/mark", json={"verdict": "false-alarm"})
    assert heard.status_code == 200
    rated = program.post(f"/api/v1/runs/{decision['run']}/rating", json={"stars": 1})
    assert rated.status_code == 200
    after = program.get("/api/v1/rewards/history").json()["items"][0]["reward"]["raw"]
    assert (heard.json()["rewards_changed"] + rated.json()["rewards_changed"] > 0) == (after != before)
    assert after <= before


def test_trouble_of_our_own_is_told_without_telling_how(at: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the database password is hunter2")

    monkeypatch.setattr(at.store.views, "runs", broken)
    program = TestClient(at.app, base_url=URL, headers=bearer(at.key()), raise_server_exceptions=False)
    answer = program.get("/api/v1/runs")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
