"""A person's word, all the way: mark → reward → table → what is decided next time."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.improvement.learning_site import live, made

from whet.agents.catalogue import agent_named
from whet.bootstrap import assembly
from whet.bootstrap.feedback import Listener
from whet.bootstrap.site import Site
from whet.checks.store_samples import finding, run_record
from whet.core.ports import Scope
from whet.core.records import Experience, Finding, Measures, Valuation
from whet.fleet.teaching import Teacher
from whet.rewards.feedback import heard
from whet.store.sql_store import SqlStore

AGENT = "test-executor"


def _lived(site: Site, store: SqlStore, alarm: Finding) -> list[Experience]:
    """Ten runs, and one more in which what is likely to be chosen again reported an alarm, three times."""
    live(site, store, 10, 0)
    store.runs.start(run_record("alarming"))
    model = max(store.experiences.recent(AGENT, 10), key=lambda each: _chances(site, store, each)[each.decision.action])
    teacher = Teacher(store, {AGENT: agent_named(AGENT)}, assembly.schooling(site.settings))
    for number in range(3):
        outcome = model.outcome | {"findings": [alarm.model_dump(mode="json")], "confirmed_failures": 1}
        told = {"key": f"alarm-{number}", "run_id": "alarming", "outcome": outcome}
        teacher.teach(model.model_copy(update=told))
    store.runs.note_findings("alarming", [alarm])
    return store.experiences.recent(AGENT, 3)


def _chances(site: Site, store: SqlStore, like: Experience) -> dict[str, float]:
    agent = agent_named(AGENT)
    state: Any = agent.state_type.model_validate(like.state)
    policy = assembly.shelf(site.settings, store, 1, site.state_dir / "models").policy_for(AGENT, "run")
    return {each.action: each.probability for each in policy.choose(state, agent.allowed(state)).alternatives}


def test_a_false_alarm_lowers_the_reward_and_the_chance_of_what_raised_it(tmp_path: Path) -> None:
    site, alarm = made(tmp_path / "shop"), finding("t.py::test_a")
    with site.store() as store:
        lived = _lived(site, store, alarm)
        action, before = lived[0].decision.action, _chances(site, store, lived[0])
        taught = Listener(store, site.settings).mark(alarm.fingerprint(), "false-alarm", "ada")
        assert [each.key for each in taught] == [each.key for each in lived]
        assert all(each.moved < -5.0 for each in taught)
        corrected = store.experiences.recent(AGENT, 3)
        for was, is_now, moved in zip(lived, corrected, taught, strict=True):
            assert is_now.reward.credited == pytest.approx(was.reward.credited + moved.moved)
            assert "false_alarms" in {part.name for part in is_now.reward.parts}
        after = _chances(site, store, lived[0])
        assert after[action] < before[action]
        assert Listener(store, site.settings).mark(alarm.fingerprint(), "false-alarm", "bob") == [], "once is enough"
        assert Listener(store, site.settings).catch_up() == []


def test_taking_a_mark_back_takes_everything_back(tmp_path: Path) -> None:
    site, alarm = made(tmp_path / "shop"), finding("t.py::test_a")
    with site.store() as store:
        lived, tables = _lived(site, store, alarm), store.tables.rows(Scope.INDIVIDUAL, AGENT)
        listener = Listener(store, site.settings)
        listener.mark(alarm.fingerprint(), "false-alarm", "ada")
        assert store.tables.rows(Scope.INDIVIDUAL, AGENT) != tables
        listener.mark(alarm.fingerprint(), None, "ada")
        assert [each.reward.credited for each in store.experiences.recent(AGENT, 3)] == pytest.approx(
            [each.reward.credited for each in lived]
        )
        for cell, entry in store.tables.rows(Scope.INDIVIDUAL, AGENT).items():
            assert entry.mean == pytest.approx(tables[cell].mean)
            assert entry.m2 == pytest.approx(tables[cell].m2, abs=1e-6)


def test_a_word_that_was_kept_but_not_taught_is_caught_up_with(tmp_path: Path) -> None:
    """As after a kill between the two, or when a false alarm is raised again."""
    site, alarm = made(tmp_path / "shop"), finding("t.py::test_a")
    with site.store() as store:
        _lived(site, store, alarm)
        store.feedback.mark(alarm.fingerprint(), "false-alarm", "ada")
        store.feedback.rate("alarming", 5, "ada")
        taught = Listener(store, site.settings).catch_up()
        assert len(taught) == 3
        assert Listener(store, site.settings).catch_up() == []


def test_ratings_move_every_decision_of_a_run(tmp_path: Path) -> None:
    site = made(tmp_path / "shop")
    with site.store() as store:
        lived = _lived(site, store, finding("t.py::test_a"))
        before = _chances(site, store, lived[0])
        taught = Listener(store, site.settings).rate("alarming", 1, "ada")
        assert [each.moved for each in taught] == pytest.approx([-10.0] * 3)
        assert _chances(site, store, lived[0])[lived[0].decision.action] < before[lived[0].decision.action]


_COUNTS = st.dictionaries(st.sampled_from(["critical", "high", "medium", "low"]), st.integers(0, 50))


@given(_COUNTS, _COUNTS, st.one_of(st.none(), st.integers(1, 5)))
def test_what_was_heard_never_makes_more_of_a_finding(found: Any, wrong: Any, stars: int | None) -> None:
    valuation = Valuation(measures=Measures(bugs_found=found))
    told = heard(valuation, wrong, stars)
    assert told.measures.bugs_found is not None
    assert all(0 <= told.measures.bugs_found[name] <= found[name] for name in found)
    assert told.measures.user_rating == stars
    if not sum(wrong.values()) and stars is None:
        assert told == valuation
