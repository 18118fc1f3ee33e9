"""/metrics: what is known, by the names that dashboards use; what is not known is not there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.service.offices import Office, office

from whet.core.people import Role
from whet.service.rest.samples import OUTCOME, STATE

GRAFANA = Path(__file__).parents[2] / "docs" / "grafana.json"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path) as opened:
        yield opened


def samples(at: Office) -> dict[tuple[str, tuple[str, ...]], float]:
    text = at.program(Role.METRICS).get("/metrics").text
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(each.name, tuple(each.labels.values())): each.value for each in found}


def test_what_nobody_measured_is_absent(at: Office) -> None:
    names = {name for name, _ in samples(at)}
    assert not names & {"rl_average_reward", "rl_success_rate", "rl_exploration_rate", "whet_candidate_share"}
    assert "whet_learning_unread" in names


def test_rewards_and_requests_are_counted(at: Office) -> None:
    program = at.program()
    for failed in (None, "pytest was killed"):
        decision = program.post("/predict", json={"agent": "test-executor", "state": STATE, "keep": True}).json()
        body = {"agent": "test-executor", "decision": decision["decision"], "outcome": OUTCOME | {"failed": failed}}
        assert program.post("/api/v1/experiences", json=body).status_code == 200
    found = samples(at)
    credited = [each.reward.credited for each in at.store.experiences.recent()]
    assert found["rl_average_reward", ("test-executor",)] == pytest.approx(sum(credited) / 2)
    assert found["rl_success_rate", ("test-executor",)] == 0.5
    assert found["rl_decisions", ("test-executor", "tabular-thompson")] == 2
    assert found["whet_predictions_total", ("test-executor", "tabular-thompson")] == 2
    assert found["whet_request_seconds_count", ("POST", "/predict", "200")] == 2
    assert found["whet_learning_unread", ()] == 2


def test_strangers_cannot_make_metrics_grow(at: Office) -> None:
    before = len(samples(at))
    for number in range(30):
        at.stranger().get(f"/nowhere/{number}")
        at.program().get(f"/api/v1/runs/{number}")
    assert len(samples(at)) - before < 60  # two more routes, however many paths


def test_the_dashboard_file_asks_for_what_there_is(at: Office) -> None:
    program = at.program()
    decision = program.post("/predict", json={"agent": "test-executor", "state": STATE, "keep": True}).json()
    program.post(
        "/api/v1/experiences", json={"agent": "test-executor", "decision": decision["decision"], "outcome": OUTCOME}
    )
    at.program(Role.METRICS).get("/metrics")
    text = at.program(Role.METRICS).get("/metrics").text
    drawn = json.loads(GRAFANA.read_text())
    asked = [target["expr"] for panel in drawn["panels"] for target in panel.get("targets", ())]
    assert len(asked) >= 8
    names = {name for expression in asked for name in re.findall(r"\b(?:rl|whet)_[a-z_]+", expression)}
    assert all(f"# HELP {name.removesuffix('_bucket').removesuffix('_count')}" in text for name in names)
