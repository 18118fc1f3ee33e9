"""From an experience to a lesson, in numbers."""

from typing import Any

import pytest
from tests.policies.policy_worlds import LEFT, RIGHT, Spot, experience

from whet.core.ports import Cell, Scope
from whet.policies.hierarchy import FLEET, Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates, similar, surprise

HERE, THERE = Spot(where=1), Spot(where=2)
BOTH = ("left", "right")


def learner(tables: InProcessTables | None = None, rates: Rates | None = None) -> QLearner:
    hierarchy = Hierarchy("walker", "walkers", InProcessTables() if tables is None else tables)
    return QLearner(hierarchy, {"left": LEFT, "right": RIGHT}, rates or Rates())


def knowing(**values: float) -> InProcessTables:
    """Tables in which the actions of THERE were visited once each."""
    tables = InProcessTables()
    actions = {"left": LEFT, "right": RIGHT}
    for name, value in values.items():
        tables.learn(learner(tables).lesson(experience(THERE, actions[name], value)))
    return tables


def test_nothing_follows_a_last_step() -> None:
    assert learner(knowing(left=100.0)).target(experience(HERE, LEFT, 7.0)) == 7.0


def test_done_means_no_bootstrap_even_when_a_next_state_is_told() -> None:
    last = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH, done=True)
    assert learner(knowing(left=100.0)).target(last) == 7.0


@pytest.mark.parametrize("missing", ["next_state_key", "next_category_key", "next_fleet_key"])
def test_without_all_keys_of_the_next_state_there_is_no_bootstrap(missing: str) -> None:
    changes: dict[str, Any] = {missing: None}
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH, **changes)
    assert learner(knowing(left=100.0)).target(step) == 7.0


def test_the_target_is_the_reward_and_the_discounted_best_that_follows() -> None:
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH)
    assert learner(knowing(left=20.0, right=40.0)).target(step) == pytest.approx(7.0 + 0.95 * 40.0)


def test_only_actions_allowed_next_count() -> None:
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=("left",))
    assert learner(knowing(left=20.0, right=40.0)).target(step) == pytest.approx(7.0 + 0.95 * 20.0)


def test_actions_that_no_longer_exist_are_passed_over() -> None:
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=("gone", "left"))
    assert learner(knowing(left=20.0)).target(step) == pytest.approx(7.0 + 0.95 * 20.0)


def test_the_best_that_follows_may_be_bad() -> None:
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH)
    assert learner(knowing(left=-20.0, right=-40.0)).target(step) == pytest.approx(7.0 - 0.95 * 20.0)


def test_what_follows_is_worth_nothing_while_nothing_is_known() -> None:
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH)
    assert learner().target(step) == 7.0


def test_what_follows_may_be_borrowed() -> None:
    tables = InProcessTables()
    tables.initialise({Cell(Scope.FLEET, FLEET, THERE.situation.fleet_key(), "faster"): 20.0})
    step = experience(HERE, LEFT, 7.0, next_state=THERE, next_actions=BOTH)
    assert learner(tables).target(step) == pytest.approx(7.0 + 0.95 * 0.5 * 20.0)


def test_the_credited_reward_is_learned_not_the_raw_one() -> None:
    step = experience(HERE, LEFT, 7.0)
    shared = step.reward.model_copy(update={"raw": 70.0, "shaped": 71.0})
    assert learner().target(step.with_reward(shared)) == 7.0


def test_a_lesson_names_its_cells_and_rates() -> None:
    lesson = learner().lesson(experience(HERE, LEFT, 7.0))
    situation = HERE.situation
    assert [(m.cell, m.rate, m.averaged) for m in lesson.own] == [
        (Cell(Scope.INDIVIDUAL, "walker", HERE.key(), "left"), 0.1, True),
        (Cell(Scope.INDIVIDUAL, "walker", situation.category_key(), "left"), 0.1, True),
    ]
    assert [(m.cell, m.rate, m.averaged) for m in lesson.shared] == [
        (Cell(Scope.CATEGORY, "walkers", situation.category_key(), "faster"), 0.1, True),
        (Cell(Scope.FLEET, FLEET, situation.fleet_key(), "faster"), 0.05, True),
    ]
    assert lesson.target == 7.0


def test_what_ran_is_learned_not_what_was_proposed() -> None:
    step = experience(HERE, LEFT, 7.0)
    overridden = step.decision.model_copy(update={"proposed": "right"})
    lesson = learner().lesson(step.model_copy(update={"decision": overridden}))
    assert {m.cell.action for m in lesson.own} == {"left"}


def test_replay_is_at_half_the_rate_and_not_averaged() -> None:
    lesson = learner().replay_lesson(experience(HERE, LEFT, 7.0))
    assert [(m.rate, m.averaged) for m in lesson.own] == [(0.05, False)] * 2
    assert [m.rate for m in lesson.shared] == pytest.approx([0.05, 0.025])
    assert not any(m.averaged for m in lesson.shared)


def test_constant_rates_from_the_first_visit() -> None:
    lesson = learner(rates=Rates(average_first=False)).lesson(experience(HERE, LEFT, 7.0))
    assert not any(m.averaged for m in lesson.own + lesson.shared)


@pytest.mark.parametrize(
    ("rates", "scopes"),
    [
        (Rates(category=0.0, fleet=0.0), []),
        (Rates(category=0.0), [Scope.FLEET]),
        (Rates(fleet=0.0), [Scope.CATEGORY]),
    ],
)
def test_a_table_of_rate_nought_is_not_taught(rates: Rates, scopes: list[Scope]) -> None:
    step = experience(HERE, LEFT, 7.0)
    assert [m.cell.scope for m in learner(rates=rates).lesson(step).shared] == scopes
    assert [m.cell.scope for m in learner(rates=rates).replay_lesson(step).shared] == scopes


def test_surprise_is_the_distance_to_the_target() -> None:
    tables = knowing(left=20.0)
    one = learner(tables)
    assert surprise(tables, one.lesson(experience(THERE, LEFT, 12.5))) == pytest.approx(7.5)
    assert surprise(tables, one.lesson(experience(THERE, LEFT, 27.5))) == pytest.approx(7.5)
    assert surprise(tables, one.lesson(experience(HERE, RIGHT, -3.0))) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("agent", "others"),
    [
        ("test-executor", ["regression-risk-analyzer"]),
        ("regression-risk-analyzer", ["test-executor"]),
        ("coverage-analyzer", ["quality-gate"]),
        ("fleet-commander", []),
        ("nobody", []),
    ],
)
def test_similar_agents(agent: str, others: list[str]) -> None:
    assert list(similar(agent)) == others
