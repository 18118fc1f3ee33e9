"""What a tick of learning makes of a long backlog, of a world that moved, and of a candidate's files."""

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.improvement.learning_site import SETTINGS, START, live, made, ticked

from whet.bootstrap.candidates import opener, registry
from whet.bootstrap.learning import pipeline
from whet.bootstrap.proving import examiner, held_out
from whet.bootstrap.site import Site
from whet.core.candidates import Candidate, Stage
from whet.core.learning_log import Quality
from whet.improvement.drift_record import Drift
from whet.improvement.rollout import steps

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


def in_production(site: Site) -> Candidate:
    """A candidate that decides everything, made at START + 30 minutes."""
    with site.store() as store:
        live(site, store, runs=30, first=0)
        ticked(site, START + timedelta(minutes=30))
        (candidate,) = store.candidates.all()
        step = steps.to_production(candidate, None, START + timedelta(minutes=31), steps.Told("it is better"))
        reached = store.candidates.move(step, START + timedelta(minutes=31))
    assert reached is not None
    return reached


@pytest.mark.parametrize(
    ("size", "minutes", "ends_at"),
    [(-5.0, 40, Stage.ROLLED_BACK), (5.0, 40, Stage.PRODUCTION), (-5.0, 20, Stage.PRODUCTION)],
    ids=["it pays less since", "it pays more since", "it paid less before"],
)
def test_a_candidate_goes_back_when_its_proof_was_of_another_world(
    site: Site, size: float, minutes: int, ends_at: Stage
) -> None:
    candidate, at = in_production(site), START + timedelta(minutes=minutes)
    told = Drift(
        agent=candidate.agent, kind="rewards", what="", size=size, run_id="run", at=at, sentence="It is known by now."
    )
    with site.store() as store, pipeline(site, store) as learning:
        list(replace(learning, moved=lambda _agent: told)._outdated(NOW))
        found = store.candidates.get(candidate.number)
        assert found is not None
        assert found.stage is ends_at
        assert ("It is known by now." in found.why) == (ends_at is Stage.ROLLED_BACK)


def test_a_candidate_whose_files_were_changed_is_not_even_asked(site: Site) -> None:
    candidate = in_production(site)
    for path in (site.state_dir / "registry").rglob("*.json"):
        path.chmod(0o644)
        path.write_bytes(path.read_bytes() + b" ")
    with site.store() as store, closing(registry(site)) as kept:
        found = examiner(site.settings, store, opener(site, kept))(candidate, NOW)
    assert (found.passed, found.evidence) == (False, {})
    assert found.why.startswith("its files were refused: ")


@pytest.mark.parametrize("stage", [Stage.PRODUCTION, Stage.ROLLED_BACK])
def test_only_what_production_decided_is_evidence(site: Site, stage: Stage) -> None:
    """Runs that another candidate decided count while it is in production, and not when it was taken back."""
    candidate = in_production(site)
    other = candidate.model_copy(update={"number": 2})
    with site.store() as store, closing(registry(site)) as kept:
        examine = examiner(site.settings, store, opener(site, kept))
        before = examine(other, NOW).evidence["holdout"]["runs"]
        live(site, store, runs=40, first=40)
        if stage is Stage.ROLLED_BACK:
            store.candidates.move(steps.back(candidate, None, steps.Told("it is worse")), NOW)
        after = examine(other, NOW).evidence["holdout"]["runs"]
    held = [number for number in range(40, 80) if held_out(site.settings)(f"run-{number:05}")]
    assert before > 0
    assert len(held) > 0
    assert after - before == (len(held) if stage is Stage.PRODUCTION else 0)
