"""What the tabular policies say is what they do."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.policy_worlds import LEFT, RIGHT, STAY, Spot, constant, experience

from whet.core.ports import Cell, Scope
from whet.core.records import Action, ActionKind
from whet.policies.beliefs import Beliefs
from whet.policies.exploration import Exponential
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner
from whet.policies.tabular import EpsilonGreedy, Exploration, TabularPolicy, Thompson

SPOT = Spot(where=1)
RUSH = Action(name="rush", kind=ActionKind.FOCUSED, summary="Rush.")
ACTIONS = (LEFT, RIGHT, STAY, RUSH)


def policy(
    tables: InProcessTables, exploration: Exploration | None = None, seed: int = 1, rate: float = 0.1
) -> TabularPolicy:
    hierarchy = Hierarchy("walker", "walkers", tables)
    return TabularPolicy(hierarchy, exploration or Thompson(), rate, np.random.default_rng(seed))


def taught(rewards: Mapping[Action, Sequence[float]]) -> InProcessTables:
    tables = InProcessTables()
    learner = QLearner(Hierarchy("walker", "walkers", tables), {a.name: a for a in ACTIONS})
    for action, earned in rewards.items():
        for value in earned:
            tables.learn(learner.lesson(experience(SPOT, action, value)))
    return tables


TAUGHT = {LEFT: [9.0, 11.0, 10.0], RIGHT: [12.0, 6.0], STAY: [8.0]}


def epsilon_greedy(epsilon: float, *means: float) -> list[float]:
    beliefs = Beliefs(np.array(means), np.ones(len(means)))
    return list(EpsilonGreedy(constant(epsilon)).probabilities(beliefs))


def test_epsilon_greedy_is_exact() -> None:
    assert epsilon_greedy(0.2, 1.0, 5.0, 3.0, 2.0) == pytest.approx([0.05, 0.85, 0.05, 0.05])


def test_ties_share_the_greedy_part() -> None:
    assert epsilon_greedy(0.2, 5.0, 5.0, 3.0, 2.0) == pytest.approx([0.45, 0.45, 0.05, 0.05])
    assert epsilon_greedy(0.2, 5.0, 5.0, 5.0) == pytest.approx([1 / 3] * 3)


def test_the_ends_of_epsilon() -> None:
    assert epsilon_greedy(0.0, 1.0, 2.0) == [0.0, 1.0]
    assert epsilon_greedy(1.0, 1.0, 2.0) == [0.5, 0.5]


def test_epsilon_greedy_follows_its_schedule() -> None:
    schedule = Exponential(initial=0.4, floor=0.0, decay=0.5)
    exploration, beliefs = EpsilonGreedy(schedule), Beliefs(np.array([1.0, 2.0]), np.ones(2))
    assert list(exploration.probabilities(beliefs)) == pytest.approx([0.2, 0.8])
    schedule.observe(0.0)
    assert list(exploration.probabilities(beliefs)) == pytest.approx([0.1, 0.9])


EXPLORATIONS = [Thompson(), EpsilonGreedy(constant(0.3))]


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda e: e.name)
def test_what_is_drawn_is_what_is_stated(exploration: Exploration) -> None:
    """χ² of 1,500 choices against the stated probabilities; 16.27 is exceeded once in a thousand."""
    chooser, rounds = policy(taught(TAUGHT), exploration, seed=20), 1500
    stated = {a.action: a.probability for a in chooser.choose(SPOT, ACTIONS).alternatives}
    assert min(stated.values()) * rounds > 5
    drawn = Counter(chooser.choose(SPOT, ACTIONS).action for _ in range(rounds))
    squares = sum((drawn[name] - rounds * p) ** 2 / (rounds * p) for name, p in stated.items())
    assert squares < 16.27


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda e: e.name)
def test_stated_probabilities_sum_to_one(exploration: Exploration) -> None:
    choice = policy(taught(TAUGHT), exploration).choose(SPOT, ACTIONS)
    assert sum(a.probability for a in choice.alternatives) == pytest.approx(1.0)


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda e: e.name)
@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from(ACTIONS), min_size=1), st.integers(0, 2**32))
def test_only_allowed_actions_are_weighed_and_chosen(exploration: Exploration, some: set[Action], seed: int) -> None:
    allowed = sorted(some, key=lambda a: a.name)
    choice = policy(taught(TAUGHT), exploration, seed).choose(SPOT, allowed)
    assert [a.action for a in choice.alternatives] == [a.name for a in allowed]
    assert choice.action in {a.name for a in allowed}


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda e: e.name)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_a_single_allowed_action_is_certain(exploration: Exploration, action: Action) -> None:
    choice = policy(taught(TAUGHT), exploration).choose(SPOT, [action])
    (only,) = choice.alternatives
    assert (choice.action, choice.explored) == (action.name, False)
    assert [only.probability, only.confidence] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda e: e.name)
def test_where_nothing_is_known_all_are_equally_likely(exploration: Exploration) -> None:
    choice = policy(InProcessTables(), exploration).choose(SPOT, ACTIONS)
    assert [a.probability for a in choice.alternatives] == pytest.approx([0.25] * 4)
    assert {(a.value, a.visits, a.source) for a in choice.alternatives} == {(None, 0, "none")}
    assert not choice.explored


def test_alternatives_tell_what_the_tables_know() -> None:
    choice = policy(taught(TAUGHT)).choose(SPOT, ACTIONS)
    told = {a.action: (a.value, a.visits, a.source) for a in choice.alternatives}
    assert told == {
        "left": (pytest.approx(10.0), 3, "individual"),
        "right": (pytest.approx(9.0), 2, "individual"),
        "stay": (8.0, 1, "individual"),
        "rush": (None, 0, "none"),
    }
    uncertainty = {a.action: a.uncertainty or 0.0 for a in choice.alternatives}
    assert uncertainty["left"] < uncertainty["right"] < uncertainty["rush"]


def test_explored_means_that_something_else_looked_better() -> None:
    chooser = policy(taught(TAUGHT), EpsilonGreedy(constant(0.5)))
    seen = {(c.action, c.explored) for c in (chooser.choose(SPOT, (LEFT, RIGHT, STAY)) for _ in range(60))}
    assert seen == {("left", False), ("right", True), ("stay", True)}


def test_equal_seeds_choose_equally() -> None:
    one, same, other = (policy(taught(TAUGHT), seed=s) for s in (5, 5, 6))
    first = [one.choose(SPOT, ACTIONS) for _ in range(40)]
    assert first == [same.choose(SPOT, ACTIONS) for _ in range(40)]
    assert [c.action for c in first] != [other.choose(SPOT, ACTIONS).action for _ in range(40)]


def version(tables: InProcessTables, exploration: Exploration | None = None, rate: float = 0.1) -> str:
    return policy(tables, exploration, rate=rate).choose(SPOT, ACTIONS).version


def test_the_version_stays_while_nothing_changes() -> None:
    assert version(taught(TAUGHT)) == version(taught(TAUGHT))


@pytest.mark.parametrize(
    "more", [{LEFT: [1.0]}, {RUSH: [0.0]}, {STAY: [8.0]}], ids=["another value", "a first visit", "an equal reward"]
)
def test_the_version_changes_with_every_entry_read(more: dict[Action, list[float]]) -> None:
    before = taught(TAUGHT)
    after = taught({a: [*TAUGHT.get(a, []), *more.get(a, [])] for a in ACTIONS})
    assert version(before) != version(after)


def test_the_version_changes_with_a_borrowed_value() -> None:
    tables = InProcessTables()
    before = version(tables)
    tables.initialise({Cell(Scope.FLEET, "fleet", SPOT.situation.fleet_key(), "faster"): 3.0})
    assert version(tables) != before


def test_the_version_does_not_change_with_another_state() -> None:
    tables = taught(TAUGHT)
    before = version(tables)
    tables.initialise({Cell(Scope.INDIVIDUAL, "walker", Spot(where=2).key(), "left"): 3.0})
    assert version(tables) == before


def test_the_version_changes_with_epsilon() -> None:
    """The same state is answered differently, so by the word of `Choice` it is another version."""
    tables = taught(TAUGHT)
    assert version(tables, EpsilonGreedy(constant(0.2))) != version(tables, EpsilonGreedy(constant(0.1)))


def test_the_version_changes_with_the_rate_that_makes_the_beliefs() -> None:
    # fifty times 1, then ten times 9: the recent values have left the mean, so the rate says how sure they are
    tables = taught({LEFT: [1.0] * 50 + [9.0] * 10, RIGHT: [2.0, 1.0] * 10})
    assert version(tables, rate=0.1) != version(tables, rate=0.9)


def test_the_name_says_how_it_explores() -> None:
    assert policy(InProcessTables()).name == "tabular-thompson"
    assert policy(InProcessTables(), EpsilonGreedy(constant(0.1))).name == "tabular-epsilon-greedy"


def test_choosing_never_learns() -> None:
    tables = taught(TAUGHT)
    before = tables.rows(Scope.INDIVIDUAL, "walker")
    chooser = policy(tables)
    for _ in range(20):
        chooser.choose(SPOT, ACTIONS)
    assert tables.rows(Scope.INDIVIDUAL, "walker") == before
