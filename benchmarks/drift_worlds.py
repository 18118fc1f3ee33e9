"""Stable streams from recorded worlds, and how policies fare after the actions of one have changed places."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.drift_streams import Stream, experience

from whet.agents.catalogue import AGENTS, agent_named
from whet.core.records import Action, ActionKind, Experience, Situation, State
from whet.improvement.drift import DriftWatch
from whet.improvement.reopening import CLOSED, Reopened
from whet.improvement.world import World, shipped
from whet.policies.beliefs import Vector
from whet.policies.exploration import Exponential
from whet.policies.hierarchy import Hierarchy, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.tabular import EpsilonGreedy, Exploration, TabularPolicy, Thompson
from whet.rewards import profile, reward_of, without_luck

_PROFILE = profile("multi-objective")


def recorded() -> dict[str, Stream]:
    """By chance, and by one that takes the better actions more and more often: rewards rise, nothing drifts."""
    worlds = [world for world in shipped() if world.agent == "test-executor"]
    return {
        f"{world.name}{', learning' if learning else ''}": partial(_lived, world, learning)
        for world in worlds
        for learning in (False, True)
    }


def _lived(world: World, learning: bool, rng: np.random.Generator, runs: int) -> Iterator[Experience]:
    earned = [_earned(world, place) for place in range(len(world.contexts))]
    for run in range(runs):
        place = int(rng.integers(len(earned)))
        actions = sorted(earned[place])
        best = max(actions, key=lambda name: float(np.mean(earned[place][name])))
        greedy = learning and rng.random() < run / runs
        action = best if greedy else str(rng.choice(actions))
        reward = float(rng.choice(earned[place][action]))
        state = world.contexts[place].state
        yield experience(run, reward, state, str(place), action)


def _earned(world: World, place: int) -> dict[str, list[float]]:
    agent, context = agent_named(world.agent), world.contexts[place]
    state = agent.state_type.model_validate(context.state)
    found: dict[str, list[float]] = {}
    for name, outcomes in context.outcomes.items():
        values = [agent.value(state, agent.action(name), world.outcome(each)) for each in outcomes]
        found[name] = [without_luck(reward_of(_PROFILE, v), _PROFILE, v, {}).credited for v in values]
    return found


class _Here(State):
    def discrete(self) -> tuple[str]:
        return ("here",)


_STATE = _Here(
    situation=Situation(suite="small", pace="fast", failing=None, changed=None, history="rich", budget="ample")
)
_ACTIONS = tuple(Action(name=f"action_{n}", kind=kind, summary="") for n, kind in enumerate(list(ActionKind)[:4]))
_PAYS = np.array([10.0, 5.0, 2.0, 0.0])
CHANGES = {
    "best and worst changed places": np.array([0.0, 5.0, 2.0, 10.0]),
    "all fell but the worst": np.array([4.0, 2.0, 0.0, 9.0]),
}
_LEARNED, _AFTER = 600, 400


def after_a_change(change: str, policy: str, reopens: bool, seeds: Sequence[int]) -> dict[str, Any]:
    """A policy over tables; after 600 decisions the same actions pay something else."""
    lives = np.array([_life(CHANGES[change], policy, reopens, seed) for seed in seeds])
    return {
        "lives": len(seeds),
        "points_lost_each_of_400": float(lives[:, 0].mean()),
        "half_width": float(1.96 * lives[:, 0].std(ddof=1) / np.sqrt(len(seeds))),
        "drift_seen": float(lives[:, 1].mean()),
    }


def _life(later: Vector, explores: str, reopens: bool, seed: int) -> tuple[float, bool]:
    """What it gave away for each decision after the change, and whether a drift was seen."""
    rng, watch = np.random.default_rng(seed), DriftWatch(AGENTS)
    hierarchy = Hierarchy("test-executor", "core-testing", tables := InProcessTables())
    learner = QLearner(hierarchy, {each.name: each for each in _ACTIONS}, Rates())
    schedule, lost, seen = Exponential(), 0.0, False
    exploration: Exploration = Thompson() if explores == "thompson" else EpsilonGreedy(schedule)
    for run in range(_LEARNED + _AFTER):
        pays = _PAYS if run < _LEARNED else later
        reopening = watch.reopening("test-executor") if reopens else CLOSED
        policy = TabularPolicy(hierarchy, Reopened(exploration, reopening), 0.1, rng)
        action = policy.choose(_STATE, _ACTIONS).action
        place = int(action.rsplit("_", 1)[1])
        turn = _turn(run, action, float(pays[place] + rng.normal(0.0, 5.0)))
        tables.learn(learner.lesson(turn))
        schedule.observe(turn.reward.credited)
        seen = bool(watch.observe(turn)) or seen
        lost += (pays.max() - pays[place]) if run >= _LEARNED else 0.0
    return lost / _AFTER, seen


def _turn(run: int, action: str, reward: float) -> Experience:
    place = Place.of(_STATE)
    made = experience(run, reward, None, _STATE.key(), action)
    kind = next(each.kind for each in _ACTIONS if each.name == action)
    return made.model_copy(update={"kind": kind, "category_key": place.category_key, "fleet_key": place.fleet_key})
