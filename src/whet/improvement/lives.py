"""A policy lives in a world: it decides, sees one recorded outcome, and its tables learn from that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.ports import Policy
from whet.improvement.intervals import Matrix
from whet.improvement.spots import Spot
from whet.improvement.world import World
from whet.policies.confidence import Calibration
from whet.policies.exploration import Schedule
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.tabular import EpsilonGreedy, TabularPolicy, Thompson


@dataclass(frozen=True)
class Course:
    """How policies are tried: how long, how often, with which learning."""

    decisions: int = 1000
    seeds: int = 5
    rates: Rates = field(default_factory=Rates)
    schedule: Callable[[], Schedule] | None = None
    policies: tuple[str, ...] = ("thompson", "epsilon-greedy")
    # Instead of the one that comes with Whet.
    calibration: Calibration | None = None
    # Policies made elsewhere, by name: from the tables they read, the random numbers they draw, and the seed.
    makers: Mapping[str, Callable[[Hierarchy, np.random.Generator, int], Policy]] = field(default_factory=dict)


@dataclass(frozen=True)
class Life:
    """One seed: per decision whether it was right, what it gave away, the confidence stated, and what was asked: the
    place of the state, and of the action that was chosen there."""

    right: Matrix
    regret: Matrix
    confidence: Matrix
    spot: Matrix
    action: Matrix


def live(name: str, world: World, there: Sequence[Spot], course: Course, seed: int) -> Life:
    """One life: decide, draw a recorded outcome, learn; `course.decisions` times."""
    rng = np.random.default_rng([seed, *world.name.encode()])
    tables = InProcessTables()
    hierarchy = Hierarchy(world.agent, agent_named(world.agent).category, tables)
    policy, schedule = _policy(name, hierarchy, course, rng, seed)
    learner = QLearner(hierarchy, rates=course.rates)
    rows = np.empty((course.decisions, 5))
    for turn in range(course.decisions):
        place = int(rng.integers(len(there)))
        spot = there[place]
        choice = policy.choose(spot.state, spot.allowed)
        reward = float(rng.choice(spot.credits[choice.action]))
        number, kind = next((n, a.kind) for n, a in enumerate(spot.allowed) if a.name == choice.action)
        rate, average = course.rates.learning, course.rates.average_first
        tables.learn(learner.lesson_at(spot.place, choice.action, kind, reward, rate, averaged=average))
        if schedule is not None:
            schedule.observe(reward)
        sure = next(a.confidence for a in choice.alternatives if a.action == choice.action)
        rows[turn] = spot.right(choice.action), spot.best - spot.means[choice.action], sure, place, number
    return Life(*rows.T)


def _policy(
    name: str, hierarchy: Hierarchy, course: Course, rng: np.random.Generator, seed: int
) -> tuple[Policy, Schedule | None]:
    if name in course.makers:
        return course.makers[name](hierarchy, rng, seed), None
    if name == "thompson" or course.schedule is None:
        return TabularPolicy(hierarchy, Thompson(), course.rates.learning, rng, course.calibration), None
    schedule = course.schedule()
    return TabularPolicy(hierarchy, EpsilonGreedy(schedule), course.rates.learning, rng, course.calibration), schedule


def untrained(name: str, world: World, there: Sequence[Spot], course: Course) -> float:
    """The same policy with empty tables that never fill: the chance that its decision is right."""
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy(world.agent, agent_named(world.agent).category, InProcessTables())
    shares = []
    for seed in range(course.seeds if name in course.makers else 1):
        policy, _ = _policy(name, hierarchy, course, rng, seed)
        for spot in there:
            alternatives = policy.choose(spot.state, spot.allowed).alternatives
            shares.append(sum(a.probability for a in alternatives if spot.right(a.action)))
    return float(np.mean(shares))
