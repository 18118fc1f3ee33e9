"""Reward hacks where they are lived: suspected, shown, not learned, and not preferred at the next decision."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.agents.workplaces import SmallProject
from tests.fleet.test_reward_safety import EVERY_OTHER_RUN, LATE_AND_FLAKY
from tests.improvement.intake.lived import NOON, PROFILE, lived, world

from whet.agents.catalogue import AGENTS
from whet.bootstrap import assembly
from whet.bootstrap.site import Site
from whet.cli.main import cli
from whet.core.events import Event, Warned
from whet.core.learning_log import Quality
from whet.core.ports import Cell, RunRecord, Scope, Store
from whet.core.records import Experience
from whet.fleet.teaching import Schooling, Teacher
from whet.improvement.intake.filtering import Filter
from whet.memory.remembering_episodes import episodes
from whet.policies.exploration import Exponential
from whet.policies.hierarchy import Hierarchy
from whet.policies.tabular import EpsilonGreedy, TabularPolicy
from whet.settings.model import Settings
from whet.store import open_store
from whet.tools.project import Project
from whet.tools.suite import Suite

UNCHANGED = {"situation": {**world().contexts[0].state["situation"], "changed": False}}
FLAKY = world("flaky-test-hunter")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as opened:
        yield opened


def teach(store: Store, *turns: Experience) -> list[str]:
    """By a teacher who has just begun, as every visit does; what was told."""
    teacher, told = Teacher(store, AGENTS, Schooling()), list[str]()
    for number in dict.fromkeys(turn.run_id for turn in turns):
        store.runs.start(_run(number))
    for turn in turns:
        teacher.teach(turn, told.append)
    return told


def _run(number: str) -> RunRecord:
    return RunRecord(id=number, project="p", code_version="", budget_seconds=60.0, seed=1, started_at=NOON)


def value(store: Store, turn: Experience) -> float | None:
    cell = Cell(Scope.INDIVIDUAL, turn.agent, turn.state_key, turn.decision.action)
    entry = store.tables.read([cell]).get(cell)
    return None if entry is None else entry.q_value


def preferred(store: Store, turn: Experience) -> str:
    """What a greedy policy takes in the state of this turn."""
    agent = AGENTS[turn.agent]
    hierarchy = Hierarchy(agent.name, agent.category, store.tables)
    greedy = EpsilonGreedy(Exponential(initial=0.0, floor=0.0))
    policy = TabularPolicy(hierarchy, greedy, 0.1, np.random.default_rng(1))
    state = agent.state_type.model_validate(turn.state)
    return policy.choose(state, agent.allowed(state)).action


def titles(store: Store, turn: Experience) -> list[str]:
    return [finding.title for finding in store.runs.findings(turn.run_id)]


# What pays: the honest turns, the hack in the same state, and the constraint that it breaks.
HACKS: dict[str, tuple[list[Experience], Experience, str]] = {
    "tests deleted": (
        [lived(f"honest-{n}", state=UNCHANGED) for n in range(3)],
        lived(
            "hack",
            "run_fast_first",
            state=UNCHANGED,
            outcome={"tests_collected": 39, "tests_run": 39, "duration_seconds": 0.01, "speedup": 100.0},
        ),
        "smaller suite",
    ),
    "everything flaky": (
        [lived("honest", "shuffle_order", of=FLAKY, outcome={"confirmed_new": 3, "tests_examined": 78})],
        lived("hack", "rerun_suite", of=FLAKY, outcome={"confirmed_new": 60, "tests_examined": 78}),
        "everything flaky",
    ),
    "green by other means": (
        [lived("honest")],
        lived("hack", "run_fast_first", outcome={"exit_code": 1, "findings": (), "speedup": 100.0}),
        "retried until green",
    ),
}


@pytest.mark.parametrize("hack", HACKS)
def test_a_hack_is_shown_not_learned_and_not_preferred(store: Store, hack: str) -> None:
    honest, turn, rule = HACKS[hack]
    assert turn.reward.credited > max(each.reward.credited for each in honest)  # it would pay
    assert teach(store, *honest) == []
    (told,) = teach(store, turn)
    assert told.startswith(f"What {turn.agent} earned does not count. ")
    assert titles(store, turn) == [f"A reward was not earned: {rule}"]
    assert value(store, turn) is None
    assert preferred(store, turn) == honest[0].decision.action

    kept = store.experiences.recent(turn.agent, 1)[0]
    assert kept.reward == turn.reward
    assert told.endswith(str(kept.outcome["unearned"]))


@pytest.mark.parametrize("hack", HACKS)
def test_what_was_not_earned_is_not_learned_later_either(store: Store, hack: str) -> None:
    """By replay, by training, by what is remembered, or because it was told twice."""
    honest, turn, _ = HACKS[hack]
    teach(store, *honest, turn, turn)
    for seed in range(20):
        Teacher(store, AGENTS, Schooling(replay_batch=32)).replay(turn.agent, seed)
    assert value(store, turn) is None
    kept = store.experiences.recent(turn.agent, 1)[0]
    assert Filter(AGENTS, PROFILE, {}).judge(kept, NOON).quality is Quality.SUSPECTED_HACK
    stored = {each.experience.key: each for each in store.experiences.after(0, "p", 100)}
    assert [episodes("p", stored[each.key])[0].topic for each in honest] == ["experience"] * len(honest)
    assert episodes("p", stored[turn.key]) == []


def test_only_what_is_suspect_is_kept_from_the_tables(store: Store) -> None:
    turns = [lived(f"honest-{n}", state=UNCHANGED) for n in range(6)]
    assert teach(store, *turns) == []
    assert value(store, turns[0]) == pytest.approx(turns[0].reward.credited)
    assert titles(store, turns[-1]) == []


OPEN_RETRY = {"exit_code": 1, "findings": (), "confirmed_failures": 0, "unchecked_failures": 0}
NOT_AUDITED = {"missed_failures": None, "tests_run": 1}


@pytest.mark.parametrize(("action", "outcome"), [("retry_failed_3x", OPEN_RETRY), ("run_changed_only", NOT_AUDITED)])
def test_nobody_is_accused_of_doing_what_the_action_says(store: Store, action: str, outcome: dict[str, Any]) -> None:
    """An open retry, and a selection that nobody had time to audit: not known to be earned, and no hack either."""
    shop = world(project="shop")
    turn = lived("doubted", action, of=shop.model_copy(update={"contexts": shop.contexts[1:]}), outcome=outcome)
    (told,) = teach(store, turn)
    assert told.startswith("What test-executor earned does not count. ")
    assert titles(store, turn) == []
    assert value(store, turn) is None
    assert store.experiences.recent(turn.agent, 1)[0].outcome["unearned"]


def test_whoever_shares_the_credit_of_a_hack_learns_nothing_from_it(store: Store) -> None:
    _, hack, _ = HACKS["everything flaky"]
    shares = lived("commander", state=UNCHANGED)
    for turn in (hack, shares):
        store.runs.start(_run(turn.run_id))
    assert Teacher(store, AGENTS, Schooling()).teach_together([hack, shares]) == [None, None]
    assert value(store, shares) is None
    kept = store.experiences.recent(shares.agent, 1)[0]
    assert kept.outcome["unearned"] == "It has a share of what flaky-test-hunter earned, and that does not count."
    assert titles(store, shares) == []


def visit(project: SmallProject, store: Store, agent: str, action: str) -> tuple[list[Experience], list[str]]:
    chosen = {"agents": (agent,), "minutes": 2.0, "policies": {agent: action, "fleet-commander": "stop"}}
    site, heard = Site(Project(project.root), Settings.model_validate(chosen)), list[Event]()
    with Suite(site.project, site.python) as suite:
        place = assembly.workplace(site, store, suite, 1, heard.append)
        run = assembly.fleet(site, store, 1, warn=pytest.fail).run(place)
    return run, [event.message for event in heard if isinstance(event, Warned)]


def test_calling_everything_flaky_in_a_real_visit_earns_nothing(tmp_path: Path) -> None:
    tests = "".join(f"def test_{n}(): pass\n" for n in range(6))
    project = SmallProject(tmp_path, {"test_six.py": tests, "conftest.py": EVERY_OTHER_RUN})
    project.state = project.root / ".whet"
    with project.store() as store:
        turns, told = visit(project, store, "flaky-test-hunter", "rerun_suite")
        assert turns[0].outcome["confirmed_new"] == 6
        assert len(told) == 1
        assert "A reward was not earned: everything flaky" in titles(store, turns[0])
        assert [value(store, turn) for turn in turns[:2]] == [None, None]  # the commander, who sent it, neither
    shown = CliRunner().invoke(cli, ["explain", turns[0].decision.id, "-C", str(project.root)])
    assert "Nothing was learned from it." in " ".join(shown.output.split())
    counted = CliRunner().invoke(cli, ["status", "-C", str(project.root), "--format", "json"])
    assert '"suite-problem": 1' in counted.output


def test_retrying_until_green_in_a_real_visit_earns_nothing(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, LATE_AND_FLAKY)
    with project.store() as store:
        turns, told = visit(project, store, "test-executor", "retry_failed_3x")
        assert [value(store, turn) for turn in turns[:2]] == [None, None]
    assert "Tests failed and retry_failed_3x ran them again until they passed" in told[0]
