"""POST /predict and what came of it: the same policies as a visit's, learned from once, right while models change."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.service.offices import URL, Office, bearer, office

from whet.agents.catalogue import AGENTS
from whet.bootstrap.candidates import registry
from whet.bootstrap.learning import plan
from whet.core.candidates import Lineage, NewCandidate, Stage, Step
from whet.core.people import Role
from whet.core.ports import Cell, Entry, Scope
from whet.core.records import now
from whet.core.registries import Facts
from whet.improvement.rollout import people
from whet.policies import snapshot
from whet.service.rest.samples import OUTCOME, STATE

AGENT = "test-executor"
JSON = {"content-type": "application/json"}


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path) as opened:
        yield opened


def asked(program: TestClient, **more: Any) -> dict[str, Any]:
    answer = program.post("/predict", json={"agent": AGENT, "state": STATE, **more})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def tell(program: TestClient, decision: str, **changes: Any) -> dict[str, Any]:
    body = {"agent": AGENT, "decision": decision, "outcome": OUTCOME | changes}
    answer = program.post("/api/v1/experiences", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_where_nothing_is_known_the_safe_default_runs(at: Office) -> None:
    told = asked(at.program(Role.VIEWER))
    assert (told["action"], told["decided_by"], told["probability"]) == ("run_all_tests", "safe-default", 1.0)
    assert (told["kept"], told["run"], at.store.decisions.count()) == (False, None, 0)
    assert sum(each["probability"] for each in told["alternatives"]) == pytest.approx(1.0)


CREW = {"budget_left": 0.5, "suites_left": 3.0, "turns_done": 1, "blocked": []}


def test_every_agent_is_asked_alike(at: Office) -> None:
    """The commander's state holds a mapping; one that is not of its crew makes no sense to it."""
    commander = {"agent": "fleet-commander"}
    visits = {name: 1 for name in AGENTS if name != "fleet-commander"}
    state = {"situation": STATE["situation"], **CREW, "visits": visits}
    told = at.program().post("/predict", json=commander | {"state": state})
    assert (told.status_code, told.json()["agent"]) == (200, "fleet-commander")
    refused = at.program().post("/predict", json=commander | {"state": state | {"visits": {"nobody": 1}}})
    assert (refused.status_code, "no sense" in refused.json()["detail"]) == (422, True)


def test_what_came_of_it_is_learned_once(at: Office) -> None:
    program = at.program(Role.OPERATOR)
    decision = asked(program, keep=True)
    first, again = tell(program, decision["decision"]), tell(program, decision["decision"], duration_seconds=1.0)
    assert (first["learned"], again["learned"]) == (True, False)
    assert first["reward"] == again["reward"]
    assert at.store.experiences.count() == 1
    kept = at.store.experiences.recent()[0]
    assert (kept.run_id, kept.decision.action, kept.reward.raw) == (
        decision["run"],
        decision["action"],
        first["reward"]["raw"],
    )
    rows = at.store.tables.rows(Scope.INDIVIDUAL, AGENT)
    assert {cell.action for cell in rows} == {decision["action"]}
    assert {entry.visits for entry in rows.values()} == {1}


def test_a_reward_is_what_a_visit_would_have_given(at: Office) -> None:
    from whet.bootstrap.assembly import valuing
    from whet.rewards import reward_of

    program, agent, rules = at.program(Role.OPERATOR), AGENTS[AGENT], valuing(at.site.settings)
    decision = asked(program, keep=True)
    state, outcome = agent.state_type.model_validate(STATE), agent.outcome_type.model_validate(OUTCOME)
    valuation = agent.value(state, agent.action(decision["action"]), outcome)
    assert (
        tell(program, decision["decision"])["reward"]["raw"] == reward_of(rules.profile, valuation, rules.weights).raw
    )


def test_findings_of_an_outcome_are_kept(at: Office) -> None:
    program = at.program(Role.OPERATOR)
    finding = {"kind": "failing-test", "title": "<script>", "severity": "high", "evidence": "e", "test": "t::x"}
    tell(program, asked(program, keep=True)["decision"], findings=[finding])
    assert program.get("/api/v1/findings").json()["items"][0]["finding"]["title"] == "<script>"


def test_what_was_learned_changes_what_is_decided(at: Office) -> None:
    """The store's own tables, within a second of the change, or at once after a person's word."""
    program = at.program(Role.OPERATOR)
    decision = asked(program, keep=True)
    for _ in range(30):
        tell(program, asked(program, keep=True)["decision"])
    at.app.state.desk.predicting.forget()
    known = asked(program)
    default = next(each for each in known["alternatives"] if each["action"] == "run_all_tests")
    assert (default["source"], default["visits"] > 0) == ("individual", True)
    assert known["version"] != decision["version"]
    ruled = program.post(
        f"/api/v1/decisions/{decision['decision']}/ruling", json={"verdict": "override", "action": "run_fast_first"}
    )
    assert ruled.status_code == 200
    told = asked(program)
    assert (told["action"], told["decided_by"], told["probability"]) == ("run_fast_first", "person", 1.0)


def test_the_draw_follows_the_probabilities(at: Office) -> None:
    """What a policy thinks is kept in memory; what it draws is drawn every time."""
    agent = AGENTS[AGENT]
    state = agent.state_type.model_validate(STATE)
    allowed = agent.allowed(state)
    at.store.tables.initialise(
        {Cell(Scope.INDIVIDUAL, AGENT, state.situation.category_key(), a.name): 1.0 for a in allowed}
    )
    program = at.program()
    proposals = [asked(program)["proposed"] for _ in range(150)]
    assert len(set(proposals)) == len(allowed)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"agent":"nobody","state":{}}',
        b'{"agent":NaN,"state":{}}',
        json.dumps({"agent": AGENT, "state": STATE | {"num_tests": "240"}}).encode(),
        json.dumps({"agent": AGENT, "state": STATE | {"num_tests": -1}}).encode(),
        json.dumps({"agent": AGENT, "state": STATE | {"avg_execution_time": float("nan")}}).encode(),
        json.dumps({"agent": AGENT, "state": STATE | {"available_memory_mb": float("inf")}}).encode(),
        json.dumps({"agent": AGENT, "state": STATE | {"more": 1}}).encode(),
        json.dumps({"agent": AGENT, "state": STATE, "run": "x" * 101}).encode(),
        b'{"agent":"test-executor","state":{},"run":"\\ud800"}',
    ],
    ids=range(15),
)  # fmt: skip
def test_what_is_no_question_is_refused_with_a_remedy(at: Office, body: bytes) -> None:
    refused = at.program().post("/predict", content=body, headers=JSON)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["remedy"]


def test_a_whole_number_may_be_written_with_a_point(at: Office) -> None:
    body = json.dumps({"agent": AGENT, "state": STATE | {"num_tests": 240.0}})
    assert "240.0" in body
    assert at.program().post("/predict", content=body, headers=JSON).status_code == 200
    assert at.program().post("/predict", content=body.replace("240.0", "240.5"), headers=JSON).status_code == 422


def test_a_decision_belongs_to_a_run_that_is_under_way(at: Office) -> None:
    program = at.program(Role.OPERATOR)
    body = {"agent": AGENT, "state": STATE, "keep": True}
    assert program.post("/predict", json=body | {"run": "nowhere"}).status_code == 404
    run = program.post("/api/v1/runs", json={"budget_seconds": 60.0}).json()["run"]
    decision = program.post("/predict", json=body | {"run": run}).json()
    assert decision["run"] == run
    tell(program, decision["decision"])
    assert program.post(f"/api/v1/runs/{run}/finish", json={}).status_code == 200
    assert program.post("/predict", json=body | {"run": run}).status_code == 409
    assert program.get(f"/api/v1/runs/{run}").json()["run"]["status"] == "finished"


def test_an_outcome_of_something_else_is_refused(at: Office) -> None:
    program = at.program(Role.OPERATOR)
    body = {"agent": AGENT, "decision": "nothing", "outcome": OUTCOME}
    assert program.post("/api/v1/experiences", json=body).status_code == 404
    decision = asked(program, keep=True)["decision"]
    other = {"agent": "fleet-commander", "decision": decision, "outcome": {"duration_seconds": 1.0}}
    assert program.post("/api/v1/experiences", json=other).status_code in (409, 422)
    assert program.post("/api/v1/experiences", json=body | {"decision": decision, "outcome": {}}).status_code == 422
    assert at.store.experiences.count() == 0


def test_agents_at_once_lose_nothing(at: Office) -> None:
    """Each decision is told of twice, by threads that race; every one is learned from exactly once."""
    program = at.program(Role.OPERATOR)

    def live(_number: int) -> int:
        decision = asked(program, keep=True)["decision"]
        return sum(tell(program, decision)["learned"] for _ in range(2))

    with ThreadPoolExecutor(8) as threads:
        learned = list(threads.map(live, range(40)))
    assert learned == [1] * 40
    assert at.store.experiences.count() == at.store.decisions.count() == 40
    rows = at.store.tables.rows(Scope.INDIVIDUAL, AGENT)
    assert sum(entry.visits for entry in rows.values()) == 2 * 40  # the exact state, and the abstract one
    assert at.store.audit.verify().problem is None


def test_two_processes_on_postgresql_share_keys_runs_and_lessons(postgres_url: str, tmp_path: Path) -> None:
    """Two apps with stores of their own stand for two processes behind a proxy."""
    url = f'database_url = "{postgres_url}"'
    with office(tmp_path, settings=url) as one, office(tmp_path, settings=url) as other:
        here = one.program(Role.OPERATOR)
        there = TestClient(other.app, base_url=URL, headers=bearer(one.key(Role.OPERATOR)))
        run = here.post("/api/v1/runs", json={}).json()["run"]
        decision = asked(there, keep=True, run=run)
        assert (tell(here, decision["decision"])["learned"], tell(there, decision["decision"])["learned"]) == (
            True,
            False,
        )
        assert there.post(f"/api/v1/runs/{run}/finish", json={}).status_code == 200
        other.app.state.desk.predicting.forget()
        assert "individual" in {each["source"] for each in asked(there)["alternatives"]}
        assert one.store.audit.verify().problem is None


def _candidate(at: Office, folder: Path, favourite: str) -> int:
    """A candidate whose tables prefer one action by far."""
    agent = AGENTS[AGENT]
    state = agent.state_type.model_validate(STATE)
    cells = {
        Cell(Scope.INDIVIDUAL, AGENT, state.key(), action.name): Entry(q_value=v, visits=500, mean=v, m2=1.0)
        for action in agent.allowed(state)
        if (v := 50.0 if action.name == favourite else -50.0)
    }
    at.store.tables.restore(Scope.INDIVIDUAL, AGENT, cells)
    folder.mkdir()
    snapshot.save(folder, at.store.tables, AGENT, agent.category)
    at.store.tables.wipe(Scope.INDIVIDUAL, AGENT)
    lineage = Lineage(batch=1, experiences=1, first=None, last=None, parent=None, code_version="0", seed=0)
    digest = registry(at.site).keep(folder, Facts(AGENT, "tables", {}, {}, lineage.model_dump(), {}))
    new = NewCandidate(key=favourite, agent=AGENT, kind="tables", artefact=digest, lineage=lineage)
    return at.store.candidates.add(new, now()).number


def test_during_promotion_and_rollback_no_answer_fails_or_mixes(at: Office, tmp_path: Path) -> None:
    """Each answer is wholly one version's: its name, its files' digest, its favourite."""
    favourites = {
        f"candidate-{_candidate(at, tmp_path / name, name)}": name for name in ("run_all_tests", "run_fast_first")
    }
    program, number = at.program(), {name: int(name.split("-")[1]) for name in favourites}
    told: list[dict[str, Any]] = []

    def ask(_number: int) -> dict[str, Any]:
        return asked(program)

    with ThreadPoolExecutor(4) as threads:
        for one in [*number, *number]:
            candidate = at.store.candidates.get(number[one])
            assert candidate is not None
            if candidate.stage.value != "rolled-back":
                people.promote(at.store, number[one], "ada", plan(at.site.settings), now())
            at.app.state.desk.predicting.forget()
            told += threads.map(ask, range(20))
        production = next(c for c in at.store.candidates.all() if c.stage.value == "production")
        rolled = program.post(f"/api/v1/candidates/{production.number}/rollback", json={"why": "worse"})
        assert rolled.status_code == 200
        told += threads.map(ask, range(20))
    seen = {each["policy"] for each in told}
    assert seen >= set(favourites)
    for each in told:
        assert each["version"].startswith(each["policy"])
        if each["policy"] in favourites:
            best = max(each["alternatives"], key=lambda alternative: alternative["value"])
            assert best["action"] == favourites[each["policy"]]
    assert told[-1]["policy"] != f"candidate-{production.number}"


def test_two_versions_at_once_are_kept_apart(at: Office, tmp_path: Path) -> None:
    """A canary decides for some runs and production for others, in the same state and the same second."""
    names = ("run_all_tests", "run_fast_first")
    production, canary = (_candidate(at, tmp_path / name, name) for name in names)
    people.promote(at.store, production, "ada", plan(at.site.settings), now())
    moves = ((Stage.TRAINED, 0.0, Stage.PROVEN, 0.0), (Stage.PROVEN, 0.0, Stage.CANARY, 0.5))
    for seen, share, to, then in moves:
        step = Step(number=canary, seen=seen, seen_share=share, to=to, share=then, why="a trial")
        assert at.store.candidates.move(step, now()) is not None
    program = at.program()
    told = [asked(program, run=f"run-{number}") for number in range(40)]
    favourites = {f"candidate-{production}": names[0], f"candidate-{canary}": names[1]}
    assert {each["policy"] for each in told} == set(favourites)
    for each in told:
        best = max(each["alternatives"], key=lambda alternative: alternative["value"])
        assert (best["action"], each["version"].startswith(each["policy"])) == (favourites[each["policy"]], True)
    again = [asked(program, run=f"run-{number}")["policy"] for number in range(40)]
    assert again == [each["policy"] for each in told]  # nobody flips
