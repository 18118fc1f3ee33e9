"""Knowledge handed on: only what is sure, discounted, by kind, and never over what is there."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.policy_worlds import HERE, LEFT, RIGHT, Mood, Spot, entry, experience

from whet.core.ports import Cell, Scope
from whet.core.records import Action, ActionKind
from whet.policies.hierarchy import Hierarchy, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.transfer import confidence, transfer

KEY = HERE.category_key()
SPRINT = Action(name="sprint", kind=ActionKind.FASTER, summary="Run.")
DASH = Action(name="dash", kind=ActionKind.FASTER, summary="Run faster.")
REST = Action(name="rest", kind=ActionKind.STOPPED, summary="Rest.")
RUNNER = ("runner", (SPRINT, REST))


def walked(*steps: tuple[Action, float]) -> InProcessTables:
    tables = InProcessTables()
    learner = QLearner(Hierarchy("walker", "walkers", tables), rates=Rates(category=0.0, fleet=0.0))
    for action, earned in steps:
        tables.learn(learner.lesson(experience(Spot(where=1), action, earned)))
    return tables


def hand_on(tables: InProcessTables, target: tuple[str, tuple[Action, ...]] = RUNNER, **options: float) -> int:
    return transfer(tables, ("walker", (LEFT, RIGHT, DASH)), target, [KEY], **options)


def given_to_runner(tables: InProcessTables) -> dict[tuple[str, str], float]:
    return {(c.state_key, c.action): e.q_value for c, e in tables.rows(Scope.INDIVIDUAL, "runner").items()}


def test_a_confident_value_is_handed_on_at_four_fifths() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    assert hand_on(tables) == 1
    assert given_to_runner(tables) == {(KEY, "sprint"): pytest.approx(40.0)}


def test_the_other_agent_finds_it_in_a_state_it_never_met() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    hand_on(tables)
    (known,) = Hierarchy("runner", "runners", tables).recall(Place.of(Mood(mood="keen")), [SPRINT])
    assert known.value == pytest.approx(40.0)
    assert (known.source, known.visits) == ("abstract", 0)


def test_a_value_seen_once_is_not_sure_enough() -> None:
    tables = walked((LEFT, 50.0))
    assert hand_on(tables) == 0
    assert hand_on(tables, min_confidence=0.6) == 1


def test_a_high_value_that_is_not_sure_stays_and_a_low_one_that_is_goes() -> None:
    """Confidence decides, not the size of the value."""
    tables = walked((LEFT, 500.0), (LEFT, -300.0), (LEFT, 600.0), *[(RIGHT, -20.0)] * 4)
    assert hand_on(tables, ("runner", (SPRINT, RIGHT))) == 1
    assert given_to_runner(tables) == {(KEY, "right"): pytest.approx(-16.0)}


def test_nothing_is_overwritten() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    tables.initialise({Cell(Scope.INDIVIDUAL, "runner", KEY, "sprint"): -1.0})
    assert hand_on(tables) == 0
    assert given_to_runner(tables) == {(KEY, "sprint"): -1.0}


def test_handing_on_twice_is_handing_on_once() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    assert (hand_on(tables), hand_on(tables)) == (1, 0)


def test_what_was_handed_on_is_not_handed_back() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    hand_on(tables)
    tables.wipe(Scope.INDIVIDUAL, "walker")
    assert transfer(tables, RUNNER, ("walker", (LEFT,)), [KEY]) == 0


def test_the_first_own_visit_replaces_what_was_handed_on() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    hand_on(tables)
    learner = QLearner(Hierarchy("runner", "runners", tables))
    tables.learn(learner.lesson(experience(Mood(mood="keen"), SPRINT, 3.0, agent="runner", category="runners")))
    assert given_to_runner(tables)[KEY, "sprint"] == 3.0


def test_actions_of_one_kind_are_averaged() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3, *[(DASH, 30.0)] * 3)
    hand_on(tables)
    assert given_to_runner(tables) == {(KEY, "sprint"): pytest.approx(0.8 * 40.0)}


def test_every_action_of_the_kind_gets_it() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    assert hand_on(tables, ("runner", (SPRINT, DASH, REST))) == 2
    assert {action for _, action in given_to_runner(tables)} == {"sprint", "dash"}


def test_exact_states_stay_at_home() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    assert transfer(tables, ("walker", (LEFT,)), RUNNER, []) == 0
    hand_on(tables)
    assert {key for key, _ in given_to_runner(tables)} == {KEY}


def test_an_action_the_source_no_longer_has_is_passed_over() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    assert transfer(tables, ("walker", (RIGHT,)), RUNNER, [KEY]) == 0


def test_a_factor_of_ones_own() -> None:
    tables = walked(*[(LEFT, 50.0)] * 3)
    hand_on(tables, factor=0.5)
    assert given_to_runner(tables) == {(KEY, "sprint"): pytest.approx(25.0)}


def test_confidence_worked_by_hand() -> None:
    assert confidence(entry(1.0, visits=0)) == 0.0
    # one visit: error √(50 / 2 / 1) = 5, so P(|z| < 1)
    assert confidence(entry(1.0, visits=1)) == pytest.approx(0.6827, abs=1e-4)
    # four visits, m2 = 30: error √(80 / 5 / 4) = 2, so P(|z| < 2.5)
    assert confidence(entry(1.0, visits=4, m2=30.0)) == pytest.approx(math.erf(2.5 / math.sqrt(2)))


@given(st.integers(0, 500), st.floats(0, 1e8), st.floats(0.01, 1.0))
def test_confidence_is_a_probability_that_grows_with_visits(visits: int, m2: float, rate: float) -> None:
    now, later = (confidence(entry(1.0, n, m2), rate) for n in (visits, visits + 1))
    assert 0.0 <= now <= later <= 1.0


@given(st.integers(1, 100), st.floats(0, 1e6), st.floats(0, 1e6))
def test_confidence_falls_with_noise(visits: int, one: float, other: float) -> None:
    calm, wild = (confidence(entry(1.0, visits, m2)) for m2 in sorted((one, other)))
    assert wild <= calm
