"""A decision changes what pytest does, that changes the reward, that the tables, and those the next decision."""

from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject

from whet.agents.catalogue import agent_named
from whet.bootstrap import assembly
from whet.bootstrap.site import Site
from whet.core.ports import Cell, Scope, Store
from whet.core.records import Decision, Experience
from whet.settings.model import Settings
from whet.tools.project import Project
from whet.tools.suite import Suite

EXECUTOR = "test-executor"
SUITE = """
    import time
    def test_a(): time.sleep(3.0)
    def test_b(): pass
    def test_c(): assert False
"""
# Weights under which showing failures early is what counts, and such under which only time does.
EARLY_COUNTS = {"early_failures": 3.0}
TIME_COUNTS = {"early_failures": 0.0, "execution_speed": 10.0}


def settings(weights: dict[str, float], policy: str) -> Settings:
    return Settings.model_validate(
        {
            "agents": (EXECUTOR,),
            "minutes": 2.0,
            "policies": {EXECUTOR: policy, "fleet-commander": "stop"},
            "q_learning": {"initial_epsilon": 0.0, "min_epsilon": 0.0},
            "rewards": {"weights": weights},
        }
    )


def visit(project: SmallProject, store: Store, chosen: Settings) -> Experience:
    site = Site(Project(project.root), chosen)
    with Suite(site.project, site.python) as suite:
        place = assembly.workplace(site, store, suite, 1, lambda _event: None)
        lived = assembly.fleet(site, store, 1, warn=pytest.fail).run(place)
    return next(e for e in lived if e.agent == EXECUTOR)


def planned(project: SmallProject, store: Store, chosen: Settings) -> Decision:
    site = Site(Project(project.root), chosen)
    with Suite(site.project, site.python) as suite:
        place = assembly.workplace(site, store, suite, 1, lambda _event: None)
        return next(d for _, d in assembly.fleet(site, store, 1, warn=pytest.fail).plan(place) if d.agent == EXECUTOR)


def value(store: Store, lived: Experience) -> float | None:
    cell = Cell(Scope.INDIVIDUAL, EXECUTOR, lived.state_key, lived.decision.action)
    entry = store.tables.read([cell]).get(cell)
    return None if entry is None else entry.q_value


def chances(decision: Decision) -> dict[str, float]:
    return {a.action: a.probability for a in decision.alternatives}


def part(lived: Experience, name: str) -> float | None:
    return next(p.points for p in lived.reward.parts if p.name == name)


@pytest.mark.parametrize(
    ("weights", "learnt"), [(EARLY_COUNTS, "run_failed_first"), (TIME_COUNTS, "run_all_tests")], ids=["early", "time"]
)
def test_outcomes_of_decisions_change_the_next_decision(tmp_path: Path, weights: dict[str, float], learnt: str) -> None:
    project = SmallProject(tmp_path, {"test_suite.py": SUITE})
    with project.store() as store:
        visit(project, store, settings(weights, "run_all_tests"))
        before = chances(planned(project, store, settings(weights, "epsilon-greedy")))
        lived = {name: visit(project, store, settings(weights, name)) for name in ("run_failed_first", "run_all_tests")}
        after = planned(project, store, settings(weights, "epsilon-greedy"))
        values = {name: value(store, one) for name, one in lived.items()}
        last = visit(project, store, settings(weights, "epsilon-greedy"))

    # decision → behaviour: pytest really ran in another order
    runs = [run.tests for run in project.traced() if len(run.tests) == 3]
    assert runs[0] == runs[2] == ["test_a", "test_b", "test_c"]
    assert runs[1] == ["test_c", "test_b", "test_a"], "the likely failure first, the long test last"
    # behaviour → outcome → reward
    early = {name: one.outcome["early_share"] for name, one in lived.items()}
    assert float(str(early["run_failed_first"])) > float(str(early["run_all_tests"])) + 0.2
    assert part(lived["run_failed_first"], "early_failures") == pytest.approx(
        30.0 * float(str(early["run_failed_first"]))
    )
    # reward → tables: one visit each, so the value is what was credited
    assert lived["run_failed_first"].state_key == lived["run_all_tests"].state_key
    assert values == {name: pytest.approx(one.reward.credited) for name, one in lived.items()}
    # tables → decision: greedy for what the rewards of these weights made the better one
    assert before[learnt] < 1.0
    assert chances(after)[learnt] == pytest.approx(1.0)
    assert (last.decision.action, last.decision.decided_by) == (learnt, "policy")
    assert runs[3][0] == (runs[1][0] if learnt == "run_failed_first" else runs[0][0])


def test_summaries_of_the_actions_compared_differ() -> None:
    """The chain above compares actions that mean to do different things."""
    executor = agent_named(EXECUTOR)
    assert executor.action("run_failed_first").kind != executor.action("run_all_tests").kind
