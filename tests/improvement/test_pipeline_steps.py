"""What a tick of learning makes of a long backlog, of a world that moved, and of a candidate's files."""

from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.improvement.learning_site import SETTINGS, START, in_production, live, made, ticked

from whet.bootstrap.candidates import opener, registry
from whet.bootstrap.learning import _elsewhere, pipeline, queue
from whet.bootstrap.proving import examiner
from whet.bootstrap.site import Site
from whet.core.candidates import Candidate, NewCandidate, Stage
from whet.core.errors import RefusedInput, WhetError
from whet.core.learning_log import Batch, Quality
from whet.core.ports import Policy
from whet.core.records import Reward
from whet.improvement.drift_record import Drift
from whet.improvement.pipeline import Examination, Phase, Told
from whet.improvement.rollout.people import rollback
from whet.queues.unreachable import Unreachable

NOW = START + timedelta(hours=1)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return made(tmp_path / "project")


def test_of_a_long_backlog_only_the_newest_are_trained_with(tmp_path: Path) -> None:
    site = made(tmp_path / "project", SETTINGS.replace("min_hours", "stream_capacity = 50\nmin_hours"))
    with site.store() as store:
        live(site, store, runs=30, first=0)
        lived = store.experiences.count()
        assert lived > 50
    ticked(site, NOW)
    with site.store() as store:
        verdicts = store.learning.verdicts()
        assert verdicts[Quality.STALE] == lived - 50
        oldest = {each.key for each in store.experiences.recent(limit=lived)[50:]}
        assert {each.key for each in store.learning.refused(lived) if each.quality is Quality.STALE} == oldest
        assert "newer ones wait; of those that wait, the newest 50 are kept" in store.learning.refused(1)[0].why


def drift(size: float, minutes: int) -> Drift:
    at, sentence = START + timedelta(minutes=minutes), "It is known by now."
    return Drift(agent="test-executor", kind="rewards", what="", size=size, run_id="run", at=at, sentence=sentence)


@pytest.mark.parametrize(
    ("size", "minutes", "ends_at"),
    [(-5.0, 40, Stage.ROLLED_BACK), (5.0, 40, Stage.PRODUCTION), (-5.0, 20, Stage.PRODUCTION)],
    ids=["it pays less since", "it pays more since", "it paid less before"],
)
def test_a_candidate_goes_back_when_its_proof_was_of_another_world(
    site: Site, size: float, minutes: int, ends_at: Stage
) -> None:
    candidate, told = in_production(site), drift(size, minutes)
    with site.store() as store, pipeline(site, store) as learning:
        list(replace(learning, moved=lambda _agent: told)._outdated(NOW))
        found = store.candidates.get(candidate.number)
        assert found is not None
        assert found.stage is ends_at
        assert ("It is known by now." in found.why) == (ends_at is Stage.ROLLED_BACK)


def test_the_aliases_in_the_registry_follow_the_candidate(site: Site) -> None:
    candidate = in_production(site)
    with closing(registry(site)) as kept, site.store() as store:
        found = [kept.named(candidate.agent)]
        ticked(site, NOW)
        found.append(kept.named(candidate.agent))
        rollback(store, candidate.number, "ada", "only a test", NOW)
        ticked(site, NOW)
        found.append(kept.named(candidate.agent))
    assert found == [{"canary": candidate.artefact}, {"production": candidate.artefact}, {}]


def test_a_candidate_whose_files_were_changed_is_not_even_asked(site: Site) -> None:
    candidate = in_production(site)
    for path in (site.state_dir / "registry").rglob("*.json"):
        path.chmod(0o644)
        path.write_bytes(path.read_bytes() + b" ")
    with site.store() as store, closing(registry(site)) as kept:
        found = examiner(site, store, opener(site, kept))(candidate, NOW)
    assert (found.passed, found.evidence) == (False, {})
    assert found.why.startswith("its files were refused: ")


def test_who_is_passed_over_is_told_once_and_not_while_a_person_paused_it(site: Site) -> None:
    decides = in_production(site)
    with site.store() as store, pipeline(site, store) as learning:
        made_now = NewCandidate(
            **{name: getattr(decides, name) for name in NewCandidate.model_fields} | {"key": "older"}
        )
        waiting = store.candidates.add(made_now, NOW)
        store.candidates.pause(waiting.number, True, "anna", "a release", NOW)
        assert list(learning._passed_over(waiting, "another is in use", NOW)) == []
        store.candidates.pause(waiting.number, False, "anna", "released", NOW)
        (told,) = learning._passed_over(waiting, "another is in use", NOW)
        assert told.sentence == f"candidate {waiting.number} of test-executor is passed over: another is in use"
        assert list(learning._passed_over(waiting, "another is in use", NOW)) == []


@pytest.mark.parametrize("trouble", [WhetError("The server does not answer."), PermissionError("It is not ours.")])
def test_a_candidate_whose_files_are_out_of_reach_waits(site: Site, trouble: Exception) -> None:
    def out_of_reach(_candidate: Candidate) -> Policy:
        raise trouble

    candidate = in_production(site)
    with site.store() as store:
        found = examiner(site, store, out_of_reach)(candidate, NOW)
    assert (found.passed, found.evidence) == (None, {})
    assert str(trouble) in found.why


def test_without_its_queue_learning_still_watches_who_decides(site: Site) -> None:
    candidate = in_production(site)
    with site.store() as store, pipeline(site, store) as learning:
        live(site, store, runs=5, first=40)
        queueless = replace(learning, queue=Unreachable(WhetError("No broker answers.")), moved=lambda _: drift(-5, 40))
        with pytest.raises(WhetError, match="No broker answers"):
            list(queueless.tick(NOW))
        found = store.candidates.get(candidate.number)
        assert found is not None
        assert found.stage is Stage.ROLLED_BACK
        assert len(store.learning.unread(100)) == 15  # nothing is taken for read that is not in the queue


def test_a_defect_in_a_gate_does_not_keep_a_worse_candidate_in_use(site: Site) -> None:
    def examine(_candidate: Candidate, _now: datetime) -> Examination:
        raise KeyError("api-contract-validator")

    with site.store() as store:
        live(site, store, runs=30, first=0)
        ticked(site, START + timedelta(minutes=30))
        live(site, store, runs=150, first=40, effect=_much_worse)  # about 60 of its own, where 30 have to be
        told = list[Told]()
        with pipeline(site, store) as learning, pytest.raises(KeyError, match="api-contract-validator"):
            told.extend(replace(learning, examine=examine).tick(START + timedelta(minutes=190)))
        newer, canary = store.candidates.all()
    assert (newer.stage, canary.stage) == (Stage.TRAINED, Stage.ROLLED_BACK)
    assert "could not be examined: internal error: KeyError: 'api-contract-validator'" in str(told)


def _much_worse(policy: str, reward: Reward) -> Reward:
    loss = 40.0 if policy.startswith("candidate-") else 0.0
    return reward.model_copy(update={"credited": reward.credited - loss})


def test_a_batch_that_cannot_be_trained_is_an_error_when_all_else_is_done(site: Site) -> None:
    candidate = in_production(site)
    with site.store() as store:
        live(site, store, runs=40, first=40)
        for path in (site.state_dir / "registry").rglob("tables.json"):  # of whom the next one would go on from
            path.chmod(0o644)
            path.write_bytes(path.read_bytes() + b" ")
        told = list[Told]()
        with pipeline(site, store) as learning, pytest.raises(RefusedInput, match=r"tables\.json"):
            told.extend(learning.tick(START + timedelta(hours=2)))  # what came before the error is in it
        assert len(store.learning.batches()) == 2
        assert [each.number for each in store.candidates.all()] == [candidate.number]
    (why,) = [each.sentence for each in told if "could not be trained" in each.sentence]
    assert why.startswith(f"{candidate.agent}: batch 2 could not be trained: ")
    assert "tables.json" in why
    assert told[-1].phase is Phase.ROLL_OUT


def test_of_several_troubles_each_is_told_once(site: Site) -> None:
    class Full:
        def train(self, batch: Batch, parent: Candidate | None) -> NewCandidate:
            raise OSError(28, "No space left on device")

    in_production(site)
    with site.store() as store, pipeline(site, store) as learning:
        live(site, store, runs=40, first=40)
        for phase in (learning._collect, learning._take):
            list(phase(NOW))
        broken = replace(learning, queue=Unreachable(WhetError("No broker answers.")), workshop=Full())
        told = list[Told]()
        with pytest.raises(WhetError) as raised:
            told.extend(broken.tick(START + timedelta(hours=2)))
    assert str(raised.value).splitlines() == ["No broker answers.", "[Errno 28] No space left on device"]
    assert any("could not be trained: [Errno 28]" in each.sentence for each in told)
    assert told[-1].phase is Phase.ROLL_OUT


def test_a_queue_that_does_not_answer_is_told_by_whoever_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that is not there takes Kafka's client half a minute to tell: that alone is made up here."""

    def failing(_address: str, _name: str) -> None:
        raise WhetError("No broker answers.")

    site = made(tmp_path / "project", SETTINGS.replace("min_hours", 'queue = "kafka://127.0.0.1:9/whet"\nmin_hours'))
    monkeypatch.setattr("whet.queues.opening.opened", failing)
    with site.store() as store, queue(site, store) as opened, pytest.raises(WhetError, match="No broker answers"):
        opened.take("one", 1)


def test_a_wrong_line_of_settings_is_told_at_once() -> None:
    with pytest.raises(RefusedInput, match="no number of a Redis database"):
        _elsewhere("redis://127.0.0.1:9/zero", "whet")
