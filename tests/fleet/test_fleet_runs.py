"""The loop on a real project: what is stored when, who is sent, who gets the credit."""

from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject

from whet.agents.catalogue import AGENTS
from whet.bootstrap import assembly
from whet.bootstrap.site import Site
from whet.core.events import Decided, Event, Experienced, RunEnded
from whet.core.ports import Store
from whet.core.records import Experience
from whet.fleet.teaching import Schooling, Teacher
from whet.settings.model import Settings
from whet.tools.project import Project
from whet.tools.suite import Suite

QUICK = {"test_quick.py": "def test_a(): pass\ndef test_b(): assert False\n"}


def visit(
    project: SmallProject, store: Store, heard: list[Event] | None = None, **settings: object
) -> list[Experience]:
    site = Site(Project(project.root), Settings.model_validate({"agents": ("test-executor",), **settings}))
    listen = (lambda _event: None) if heard is None else heard.append
    with Suite(site.project, site.python) as suite:
        place = assembly.workplace(site, store, suite, 1, listen)
        return assembly.fleet(site, store, 1, warn=pytest.fail).run(place)


def tables(store: Store) -> dict[object, object]:
    return {
        cell: entry for scope, owner in store.tables.owners() for cell, entry in store.tables.rows(scope, owner).items()
    }


def test_a_visit_leaves_its_whole_way_behind(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    heard: list[Event] = []
    with project.store() as store:
        lived = visit(project, store, heard)
        decided = {d.id for d in store.decisions.recent(limit=100)}
        (run,) = store.runs.recent()
        seen = [f.kind for f in store.runs.findings(run.id)]
        learnt = {row["agent"] for row in store.runs.learning()}
        assert store.audit.verify().problem is None
    assert (run.status, run.summary["turns"]) == ("finished", len(lived))
    assert decided == {e.decision.id for e in lived}
    assert seen == ["failing-test"]
    assert learnt == {"test-executor", "fleet-commander"}
    kinds = [type(event) for event in heard]
    assert kinds.index(Decided) < kinds.index(Experienced)
    assert kinds[-1] is RunEnded
    # the first of the crew is sent first, and the commander has the last word
    assert (lived[0].agent, lived[-1].agent, lived[-1].decision.action) == ("test-executor", "fleet-commander", "stop")


def test_credit_is_shared_but_neither_made_nor_lost(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    with project.store() as store:
        executor, commander = visit(project, store)[:2]
    both = (executor.reward, commander.reward)
    # One failing test shows in any full run: 5 points at 0.25, and half of the 30 for showing early. That is luck.
    luck = 0.25 * 5 + 15
    assert sum(r.credited for r in both) == pytest.approx(sum(r.shaped for r in both) - luck)
    assert executor.reward.credited != pytest.approx(executor.reward.shaped)


def test_an_experience_delivered_twice_counts_once(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    with project.store() as store:
        lived = visit(project, store)
        before, count = tables(store), store.experiences.count()
        assert Teacher(store, AGENTS, Schooling()).teach(lived[0]) is None
        assert (tables(store), store.experiences.count()) == (before, count)


def test_without_learning_experience_is_kept_and_no_table_moves(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    with project.store() as store:
        taught = visit(project, store)
        moved = tables(store)
        assert moved
        lived = visit(project, store, learning=False)
        assert (tables(store), store.experiences.count()) == (moved, len(taught) + len(lived))


def test_with_the_budget_gone_the_first_agent_still_runs_and_then_it_stops(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    with project.store() as store:
        lived = visit(project, store, agents=None, minutes=0.0001)
        (run,) = store.runs.recent()
    assert [e.agent for e in lived] == ["test-executor", "fleet-commander"]
    assert (lived[-1].done, run.status) == (True, "finished")


def test_a_listener_that_stops_the_run_leaves_it_interrupted(tmp_path: Path) -> None:
    """Ctrl-C while pytest runs reaches the loop as KeyboardInterrupt at any point; here right after deciding."""
    project = SmallProject(tmp_path, QUICK)

    class Stopping(list[Event]):
        def append(self, event: Event) -> None:
            if isinstance(event, Decided) and event.decision.agent == "test-executor":
                raise KeyboardInterrupt

    with project.store() as store:
        with pytest.raises(KeyboardInterrupt):
            visit(project, store, Stopping())
        (run,) = store.runs.recent()
        stored = {d.agent for d in store.decisions.recent()}
        assert visit(project, store)
    # decided and stored before anything ran
    assert stored == {"fleet-commander", "test-executor"}
    assert (run.status, run.summary["turns"]) == ("interrupted", 0)


def test_agents_that_cannot_work_here_are_not_sent(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, QUICK)
    site = Site(Project(project.root), Settings.model_validate({"agents": ("test-executor", "coverage-analyzer")}))
    bare = site.python.model_copy(update={"packages": {"pytest": site.python.packages["pytest"]}})
    site.__dict__["python"] = bare  # the property is cached; a machine without coverage would answer the same
    with project.store() as store, Suite(site.project, bare) as suite:
        place = assembly.workplace(site, store, suite, 1, lambda _event: None)
        lived = assembly.fleet(site, store, 1, warn=pytest.fail).run(place)
    assert {e.agent for e in lived} == {"test-executor", "fleet-commander"}
    assert "Install it" in place.obstacles["coverage-analyzer"]
