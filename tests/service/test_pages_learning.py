"""Whether it still learns what is so: drift, a training under way, and rewards that were corrected after a training."""

from datetime import timedelta
from pathlib import Path

from benchmarks.drift_streams import experience
from tests.improvement.learning_site import START, live, made, ticked
from tests.service.offices import Clock, Office, office, over

from whet.bootstrap.feedback import Listener
from whet.checks.store_samples import run_record
from whet.client.wire import Trained
from whet.core.records import now
from whet.service.rest.samples import OUTCOME
from whet.service.training_board import LOST, Board

PATIENCE_SECONDS = 30.0


def page(at: Office, path: str) -> str:
    answer = at.program().get(path, headers={"accept": "text/html"})
    assert answer.status_code == 200
    return answer.text


def lived(at: Office, runs: range, reward: float) -> None:
    began = now() - timedelta(days=1)
    for run in runs:
        told = experience(run, reward + run % 3)
        decision = told.decision.model_copy(update={"run_id": told.run_id})
        when = began + timedelta(minutes=run)
        changes = {"decision": decision, "outcome": OUTCOME, "at": when}
        at.store.experiences.learn(told.model_copy(update=changes), None)


def test_drift_is_told_of_each_agent(tmp_path: Path) -> None:
    with office(tmp_path) as at:
        lived(at, range(60), 10.0)
        assert at.app.state.desk.drifting.known(PATIENCE_SECONDS).drifts == ()
        assert "None noticed" in page(at, "/learning")
    with office(tmp_path) as at:
        lived(at, range(60, 120), -40.0)
        assert at.app.state.desk.drifting.known(PATIENCE_SECONDS).drifts
        told = page(at, "/learning")
        assert "Rewards of test-executor fell by about" in told
        assert "exploring again" in told


def test_a_training_of_another_process_is_shown_until_it_ends_or_nobody_signs_for_it(tmp_path: Path) -> None:
    with office(tmp_path) as at:
        elsewhere, begun = _board(at, at.clock), Trained(what="learn", by="grace", begun_at=at.clock())
        assert elsewhere.begin(begun, "another process")
        assert "A training is under way: learn, begun by grace" in page(at, "/learning")
        program = at.program()
        assert program.post("/api/v1/training/start", json={"what": "learn"}).status_code == 409
        at.clock.pass_minutes(LOST.total_seconds() / 60 / 2)
        assert elsewhere.sign("another process")
        at.clock.pass_minutes(LOST.total_seconds() / 60 * 0.75)
        assert program.get("/api/v1/training/status").json()["under_way"] is True
        at.clock.pass_minutes(LOST.total_seconds() / 60)
        told = program.get("/api/v1/training/status").json()
        assert (told["under_way"], told["last"]["ok"], told["last"]["by"]) == (False, False, "grace")
        assert "A training is under way" not in page(at, "/learning")
        begun_here = Trained(what="learn", by="ada", begun_at=at.clock())
        assert _board(at, at.clock).begin(begun_here, "this process")
        assert not elsewhere.sign("another process")
        elsewhere.end(begun.model_copy(update={"ended_at": at.clock(), "ok": True}), "another process")
        assert program.get("/api/v1/training/status").json()["last"]["by"] == "ada"


def _board(at: Office, clock: Clock) -> Board:
    return Board(at.store.knowledge, at.site.project.name, clock)


def test_a_model_says_that_its_rewards_were_corrected_since(tmp_path: Path) -> None:
    site = made(tmp_path / "project")
    with site.store() as store:
        live(site, store, runs=20, first=0)
    ticked(site, START + timedelta(hours=1))
    with over(site) as at:
        assert "corrected" not in page(at, "/models") + page(at, "/models/1")
        trained = {each.run_id for each in at.store.learning.members(1)}
        run = min(trained)
        at.store.runs.start(run_record(run))
        taught = Listener(at.store, site.settings).rate(run, 1, "ada")
        assert f"{len(taught)} rewards corrected since" in page(at, "/models")
        assert f"People corrected {len(taught)} of the rewards it was trained with." in page(at, "/models/1")
