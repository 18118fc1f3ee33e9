"""api-contract-validator and test-data-architect at work on a real service."""

from pathlib import Path

import pytest
from examples.api.app import app
from tests.agents.services import KEY, project, serving, workplace
from tests.agents.workplaces import SmallProject

from whet.agents.contracts import ContractOutcome, ContractState, ContractValidator
from whet.agents.data import DataArchitect
from whet.bootstrap.assembly import chosen_crew
from whet.bootstrap.site import open_site
from whet.checks.agent import check_agent
from whet.core.records import Action, Situation
from whet.settings.model import Settings
from whet.skills.api.knowledge import Knowledge, written
from whet.tools.workplace import Workplace

EASY = "copies-in-words,coverless-page,open-export,member-stays,any-status,beyond-the-end"
VALIDATOR, ARCHITECT = ContractValidator(), DataArchitect()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRARY_KEY", KEY)


def names(actions: tuple[Action, ...]) -> set[str]:
    return {action.name for action in actions}


def offered(place: Workplace) -> set[str]:
    return names(VALIDATOR.allowed(VALIDATOR.observe(place)))


def test_both_are_fit_for_the_fleet_and_measure(tmp_path: Path) -> None:
    with workplace(project(tmp_path / "p", serving(), requests=40)) as place:
        assert check_agent(VALIDATOR, place) == []
        assert check_agent(ARCHITECT, place) == []
        # the second probe starts from what both learned
        state = ARCHITECT.observe(place)
        outcome = ARCHITECT.act(state, ARCHITECT.action("observed_first"), place)
    assert (state.earlier_runs, state.operations) == (2, 31)
    assert state.operations_reached is not None
    assert state.operations_reached > 5
    assert state.best() is not None
    assert outcome.requests is not None
    assert 8 <= outcome.requests <= 12
    assert outcome.valid is not None
    assert outcome.accepted is not None
    assert 0 < outcome.accepted <= outcome.valid <= outcome.requests
    assert outcome.findings == ()


def test_what_is_known_decides_what_makes_sense(tmp_path: Path) -> None:
    """Nothing known: no re-test. A fault: a re-test sees it again. A new contract: what changed can be checked."""
    root = project(tmp_path / "p", serving(EASY), requests=200)  # enough to make sure of what is found, too
    with workplace(root) as place:
        assert offered(place) == {"hunt_faults", "cover_operations"}
        state = VALIDATOR.observe(place)
        hunted = VALIDATOR.act(state, VALIDATOR.action("hunt_faults"), place)
        assert offered(place) == {"hunt_faults", "cover_operations", "retest_known"}
    assert hunted.faults_new
    assert {finding.kind for finding in hunted.findings} == {"api-fault"}
    assert all("curl" in (f.reproduce or "") and KEY not in (f.reproduce or "") for f in hunted.findings)
    with workplace(root) as place:
        state = VALIDATOR.observe(place)
        again = VALIDATOR.act(state, VALIDATOR.action("retest_known"), place)
    assert state.known_faults == sum(hunted.faults_new.values())
    assert again.requests is not None
    assert hunted.requests is not None
    assert 0 < again.requests < hunted.requests / 2
    assert (again.still_there or 0) + (again.fixed or 0) > 0
    met = {finding.fingerprint() for finding in hunted.findings}
    assert {finding.fingerprint() for finding in again.findings} <= met


def test_a_new_contract_can_be_checked_where_it_changed(tmp_path: Path) -> None:
    root = project(tmp_path / "p", serving("none", "--breaking"))
    with open_site(root).store() as store:
        store.knowledge.update("Library 127.0.0.1", lambda _: written(Knowledge(runs=1, document=app.openapi())))
    with workplace(root) as place:
        state = VALIDATOR.observe(place)
    assert "check_changed" in names(VALIDATOR.allowed(state))
    assert 0 < (state.changed_operations or 0) < (state.operations or 0)
    assert (state.breaking_changes or 0) > 0


def test_new_faults_are_bugs_and_requests_cost() -> None:
    situation = Situation(suite="small", pace="fast", failing=None, changed=None, history="none", budget="ample")
    state = ContractState(
        situation=situation, operations=10, operations_reached=0, known_faults=0, changed_operations=0,
        breaking_changes=0, earlier_runs=0, request_budget=100, seconds_left=60.0,
    )  # fmt: skip
    found = ContractOutcome(
        duration_seconds=6.0, requests=100, operations=10, operations_reached=4, operations_new=4, faults={"crash": 1},
        faults_new={"critical": 1}, still_there=1, fixed=2, restarts=1,
    )  # fmt: skip
    valuation = VALIDATOR.value(state, VALIDATOR.action("hunt_faults"), found)
    assert valuation.measures.bugs_found == {"critical": 1}
    assert [part.points for part in valuation.own] == pytest.approx([4.0, 3.0, -1.0, -0.2])


def test_a_service_that_does_not_start_is_a_finding_with_its_last_words(tmp_path: Path) -> None:
    root = project(tmp_path / "p", "python -c 'print(\\\"no database for {port}\\\"); raise SystemExit(3)'")
    with workplace(root) as place:
        assert offered(place) == {"hunt_faults"}
        state = VALIDATOR.observe(place)
        outcome = VALIDATOR.act(state, VALIDATOR.safe_default(state), place)
        probed = ARCHITECT.act(ARCHITECT.observe(place), ARCHITECT.action("as_learned"), place)
    assert state.operations is None
    assert outcome.requests is None
    assert "ended with code 3 before it answered" in (outcome.failed or "")
    (finding,) = outcome.findings
    assert (finding.title, finding.severity) == ("The service does not start", "critical")
    assert "no database for" in finding.evidence
    assert probed.failed == outcome.failed


def test_without_a_service_nobody_is_sent_who_needs_one(tmp_path: Path) -> None:
    crew = [agent.name for agent in chosen_crew(Settings())]
    assert crew == ["test-executor", "coverage-analyzer", "flaky-test-hunter", "regression-risk-analyzer"]
    half = Settings.model_validate({"api": {"document": "openapi.yaml"}})
    assert [agent.name for agent in chosen_crew(half)][4:] == ["api-contract-validator", "test-data-architect"]
    with SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"}).workplace() as place:
        assert "[tool.whet.api]" in (VALIDATOR.obstacle(place) or "")
        assert VALIDATOR.obstacle(place) == ARCHITECT.obstacle(place)


@pytest.mark.parametrize(
    ("api", "said"),
    [
        ('document = "/openapi.json"', "needs both"),
        ('document = "/d"\nstart = "serve {port}"\nauth = ["bearer:env:NO_SUCH_TOKEN"]', "needs NO_SUCH_TOKEN in the"),
        ('document = "nowhere.yaml"\nstart = "serve {port}"', "nowhere.yaml, which is not a file"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, api: str, said: str) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    (tmp_path / "pyproject.toml").write_text(f"[tool.whet.api]\n{api}\n")
    with workplace(tmp_path) as place:
        assert said in (VALIDATOR.obstacle(place) or "")
