"""Learner and policy together learn worlds whose best actions and values are known."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.policies.policy_worlds import LEFT, RIGHT, STAY, Spot, constant, experience

from whet.core.records import Action
from whet.policies.hierarchy import Hierarchy, Known, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.tabular import EpsilonGreedy, Exploration, TabularPolicy, Thompson

EXPLORATIONS: list[Callable[[], Exploration]] = [Thompson, lambda: EpsilonGreedy(constant(0.2))]
either = pytest.mark.parametrize("exploration", EXPLORATIONS, ids=["thompson", "epsilon-greedy"])


class Walker:
    """An agent that chooses and learns, in one table."""

    def __init__(self, actions: tuple[Action, ...], exploration: Exploration, rates: Rates, seed: int) -> None:
        self.actions, self.tables = actions, InProcessTables()
        self.hierarchy = Hierarchy("walker", "walkers", self.tables)
        self.learner = QLearner(self.hierarchy, {a.name: a for a in actions}, rates)
        self.policy = TabularPolicy(self.hierarchy, exploration, rates.learning, np.random.default_rng(seed))

    def choose(self, state: Spot) -> Action:
        name = self.policy.choose(state, self.actions).action
        return next(a for a in self.actions if a.name == name)

    def learn(self, state: Spot, action: Action, credited: float, next_state: Spot | None = None) -> None:
        names = tuple(a.name for a in self.actions) if next_state else ()
        lived = experience(state, action, credited, next_state=next_state, next_actions=names)
        self.tables.learn(self.learner.lesson(lived))

    def knows(self, state: Spot) -> dict[str, Known]:
        return {k.action: k for k in self.hierarchy.recall(Place.of(state), self.actions)}

    def best(self, state: Spot) -> str:
        """The best of what it has tried itself."""
        tried = {name: k.own.q_value for name, k in self.knows(state).items() if k.own is not None}
        return max(tried, key=lambda name: tried[name])


@either
def test_the_identity_is_learned(exploration: Callable[[], Exploration]) -> None:
    """Left pays in state 0, right in state 1, and nothing else does."""
    walker = Walker((LEFT, RIGHT), exploration(), Rates(), seed=4)
    right_ones = 0
    for turn in range(160):
        state = Spot(where=turn % 2)
        action = walker.choose(state)
        pays = action is (LEFT, RIGHT)[state.where]
        walker.learn(state, action, 10.0 if pays else 0.0)
        right_ones += pays and turn >= 80
    assert (walker.best(Spot(where=0)), walker.best(Spot(where=1))) == ("left", "right")
    # ε-greedy at 0.2 is right nine times in ten
    assert right_ones >= 64


MEANS = {0: {"left": 1.0, "right": 4.0, "stay": 9.0}, 1: {"left": 9.0, "right": 4.0, "stay": 1.0}}


@either
def test_a_noisy_contextual_bandit_is_learned(exploration: Callable[[], Exploration]) -> None:
    walker = Walker((LEFT, RIGHT, STAY), exploration(), Rates(), seed=8)
    noise, taken = np.random.default_rng(9), {0: 0, 1: 0}
    for turn in range(500):
        state = Spot(where=turn % 2)
        action = walker.choose(state)
        walker.learn(state, action, MEANS[state.where][action.name] + float(noise.normal(0.0, 2.0)))
        taken[state.where] += turn >= 250 and MEANS[state.where][action.name] == 9.0
    for where, best in ((0, "stay"), (1, "left")):
        known = walker.knows(Spot(where=where))[best]
        assert walker.best(Spot(where=where)) == best
        # the standard deviation of a value at rate 0.1 is 2 · √(0.1 / 1.9) = 0.46
        assert known.value == pytest.approx(9.0, abs=4 * 0.46)
        assert known.own is not None
        assert known.own.variance() == pytest.approx(4.0, rel=0.5)
        assert taken[where] > 0.75 * 125


def walk_the_chain(walker: Walker, episodes: int) -> None:
    """Three states. Left ends with 5, 1, 1; right leads on and ends after the third with 10."""
    for _ in range(episodes):
        for where, aside in enumerate((5.0, 1.0, 1.0)):
            action, last = walker.choose(Spot(where=where)), where == 2
            if action is LEFT:
                walker.learn(Spot(where=where), LEFT, aside)
                break
            walker.learn(Spot(where=where), RIGHT, 10.0 if last else 0.0, None if last else Spot(where=where + 1))


@either
def test_a_patient_walker_goes_the_whole_way(exploration: Callable[[], Exploration]) -> None:
    """At γ = 0.95 the way is worth 10, 9.5, 9.025: more than the 5 at hand."""
    walker = Walker((LEFT, RIGHT), exploration(), Rates(discount=0.95), seed=2)
    walk_the_chain(walker, 250)
    values = [walker.knows(Spot(where=w))["right"].value for w in (0, 1, 2)]
    assert values == pytest.approx([9.025, 9.5, 10.0], abs=0.02)
    assert [walker.best(Spot(where=w)) for w in (0, 1, 2)] == ["right", "right", "right"]


@either
def test_an_impatient_walker_takes_what_is_at_hand(exploration: Callable[[], Exploration]) -> None:
    """At γ = 0.5 the same way is worth 2.5: less than 5."""
    walker = Walker((LEFT, RIGHT), exploration(), Rates(discount=0.5), seed=2)
    walk_the_chain(walker, 250)
    assert walker.best(Spot(where=0)) == "left"
    assert walker.knows(Spot(where=0))["left"].value == pytest.approx(5.0)


def test_replay_brings_values_home_without_new_experience() -> None:
    """One walk along the chain, told again and again backwards, gives the discounted values."""
    walker = Walker((LEFT, RIGHT), Thompson(), Rates(), seed=0)
    names = ("left", "right")
    spots = [Spot(where=w) for w in range(3)]
    lived = [
        experience(spots[0], RIGHT, 0.0, next_state=spots[1], next_actions=names),
        experience(spots[1], RIGHT, 0.0, next_state=spots[2], next_actions=names),
        experience(spots[2], RIGHT, 10.0),
    ]
    for one in lived:
        walker.tables.learn(walker.learner.lesson(one))
    for _ in range(400):
        for one in reversed(lived):
            walker.tables.replay(walker.learner.replay_lesson(one))
    known = [walker.knows(spot)["right"] for spot in spots]
    assert [k.value for k in known] == pytest.approx([9.025, 9.5, 10.0], abs=1e-3)
    assert [k.visits for k in known] == [1, 1, 1]
