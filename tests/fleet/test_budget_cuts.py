"""What the end of the budget cut short says nothing about the action, and nothing is learned from it."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.agents.workplaces import SmallProject
from tests.fleet.test_fleet_runs import visit

from whet.agents.catalogue import COMMANDER
from whet.agents.commander import STOP, CommanderOutcome, CommanderState
from whet.core.events import Event, Warned
from whet.core.records import Finding, Outcome, Situation
from whet.fleet.loop import _uncensored
from whet.tools.budget import Budget
from whet.tools.workplace import Workplace

TROUBLE = Finding(kind="suite-problem", title="it did not finish", severity="critical", evidence="time was up")
SITUATION = Situation(suite="small", pace="fast", failing=False, changed=False, history="some", budget="tight")


def place(left_seconds: float, done: int) -> Workplace:
    return cast(Workplace, SimpleNamespace(budget=Budget(left_seconds), agents_done=["a"] * done))


def test_an_outcome_the_budget_ended_did_not_fail() -> None:
    outcome = Outcome(duration_seconds=1.0, failed="it did not finish", findings=(TROUBLE,))
    cut = _uncensored(outcome, place(0.0, done=3))
    assert (cut.failed, cut.cut_short, cut.findings) == (None, True, ())


def test_that_the_suite_does_not_fit_at_all_is_told() -> None:
    outcome = Outcome(duration_seconds=1.0, failed="it did not finish", findings=(TROUBLE,))
    assert _uncensored(outcome, place(0.0, done=1)).findings == (TROUBLE,)


def test_a_failure_within_the_budget_stays_one() -> None:
    outcome = Outcome(duration_seconds=1.0, failed="pytest broke", findings=(TROUBLE,))
    assert _uncensored(outcome, place(60.0, done=3)) == outcome


def test_nothing_is_learned_from_what_was_cut_short(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_long.py": "import time\ndef test_long(): time.sleep(60)\n"})
    with project.store() as store:
        lived = visit(project, store, minutes=0.05)
        moved = {owner for _, owner in store.tables.owners()}
        (run,) = store.runs.recent()
        told = [f.kind for f in store.runs.findings(run.id)]
    executor = next(e for e in lived if e.agent == "test-executor")
    assert (executor.outcome["cut_short"], executor.outcome["failed"]) == (True, None)
    assert "test-executor" not in moved
    assert told == ["suite-problem"]


def state(suites_left: float | None) -> CommanderState:
    visits = dict.fromkeys(COMMANDER.crew, 0) | {COMMANDER.crew[0]: 1}
    return CommanderState(
        situation=SITUATION, budget_left=0.5, suites_left=suites_left, turns_done=1, visits=visits, blocked=()
    )


@pytest.mark.parametrize(("suites_left", "room"), [(None, True), (1.0, True), (0.9, False)])
def test_nobody_is_sent_where_the_suite_does_not_fit_once_more(suites_left: float | None, room: bool) -> None:
    allowed = COMMANDER.allowed(state(suites_left))
    assert (len(allowed) > 1) is room
    assert COMMANDER.safe_default(state(suites_left)) in allowed
    assert STOP in allowed


def test_other_reward_rules_than_last_time_are_mentioned(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"})
    heard: list[Event] = []
    with project.store() as store:
        visit(project, store, heard)
        before = [e for e in heard if isinstance(e, Warned)]
        visit(project, store, heard, rewards={"weights": {"execution_speed": 1.0}})
    warned = [e.message for e in heard if isinstance(e, Warned)]
    assert (before, len(warned)) == ([], 1)
    assert "reward rules changed" in warned[0]


@pytest.mark.parametrize(("seconds", "points"), [(10.0, 0.0), (15.0, -10.0)])
def test_overrunning_the_room_that_was_left_costs(seconds: float, points: float) -> None:
    """Fifteen seconds where ten were left: half too long, at 20 points for the whole."""
    outcome = CommanderOutcome(duration_seconds=seconds, agent="test-executor", new_findings=0, room_seconds=10.0)
    own = {p.name: p.points for p in COMMANDER.value(state(5.0), COMMANDER.actions[0], outcome).own}
    assert own["budget_overrun"] == pytest.approx(points)
