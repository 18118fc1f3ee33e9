"""Lives in worlds that are remembered, and lives that are reminded of them, for `memory_helps.py`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar, cast

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.memories import Kind, Memory, Recalled
from whet.core.ports import Choice
from whet.core.records import Action, State, now
from whet.fleet.recalling import Recalling
from whet.improvement.lives import Course, Life, live
from whet.improvement.spots import Spot, spots
from whet.improvement.world import World
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering_cues import state_cue
from whet.memory.remembering_texts import fitting
from whet.memory.retrieval import Retrieval
from whet.policies.deep.deciding import DeepPolicy
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner
from whet.policies.tabular import TabularPolicy, Thompson
from whet.rewards import profile
from whet.store.sql_store import SqlStore

T = TypeVar("T")
PER_ACTION = 16  # as [tool.whet.memory] has it


class Lived:
    """One decision of an earlier life, as it will be remembered."""

    def __init__(self, world: World, key: str, state: State, action: str, reward: float) -> None:
        self.project, self.agent = world.project, world.agent
        self.key, self.state, self.action, self.reward = f"{world.name} {key}", state, action, reward

    def memory(self, project: str, age: timedelta, origin: str | None) -> Memory:
        """As `Remembering` writes it and an import brings it: without a place in this store's stream."""
        about = {"action": self.action, "reward": self.reward, "state_key": self.state.key()}
        return Memory(
            project=project,
            kind=Kind.EPISODIC,
            topic="experience",
            source=f"experience:{self.key}",
            agent=self.agent,
            text=f"{self.agent} chose {self.action}. Reward {self.reward:+.2f}.",
            cue=fitting(state_cue(self.agent, self.state.model_dump(mode="json"))),
            subjects=(f"state:{self.state.key()}",),
            about=about if origin is None else about | {"origin": origin},
            at=now() - age,
        )


def remembered(world: World, there: Sequence[Spot], decisions: int, seed: int) -> list[Lived]:
    """A life like any other: Thompson sampling over tables that begin empty."""
    rng = np.random.default_rng([seed, 7, *world.name.encode()])
    tables, lived = InProcessTables(), []
    hierarchy = Hierarchy(world.agent, agent_named(world.agent).category, tables)
    rates = Course().rates
    policy, learner = TabularPolicy(hierarchy, Thompson(), rates.learning, rng), QLearner(hierarchy, rates=rates)
    for number in range(decisions):
        spot = there[int(rng.integers(len(there)))]
        action = policy.choose(spot.state, spot.allowed).action
        reward = float(rng.choice(spot.credits[action]))
        kind = next(each.kind for each in spot.allowed if each.name == action)
        tables.learn(learner.lesson_at(spot.place, action, kind, reward, rates.learning, averaged=True))
        lived.append(Lived(world, f"{seed} {number}", spot.state, action, reward))
    return lived


_made: dict[Any, Any] = {}  # what several comparisons need


def _once(what: tuple[Any, ...], world: World, make: Callable[[], T]) -> T:
    place = (*what, world.name, *(context.label for context in world.contexts))
    if place not in _made:
        _made[place] = make()
    return cast(T, _made[place])


def spots_of(world: World) -> list[Spot]:
    return _once(("spots",), world, lambda: spots(world, profile("multi-objective"), {}))


def lived_in(world: World, decisions: int, seed: int) -> list[Lived]:
    return _once(("lived", decisions, seed), world, lambda: remembered(world, spots_of(world), decisions, seed))


def without_memory(world: World, decisions: int, seed: int) -> Life:
    course = Course(decisions=decisions)
    return _once(("life", decisions, seed), world, lambda: live("thompson", world, spots_of(world), course, seed))


class Remembered:
    """The memories of one earlier life, in the store, under a project of their own."""

    def __init__(self, store: SqlStore, project: str, lived: Sequence[Lived], age: timedelta, here: str) -> None:
        """`here`: the project it is now; what was lived in others was imported from them."""
        embedder = HashedEmbedder()
        memories = [each.memory(project, age, None if each.project == here else each.project) for each in lived]
        store.memories.keep(memories, embedder.name, embedder.embed([memory.found_by() for memory in memories]))
        recall = Retrieval(store.memories, embedder)
        self._recalling = Recalling(store, project, lambda: recall, lambda: embedder, PER_ACTION)
        self._asked: dict[tuple[str, int], list[Recalled]] = {}

    def of(self, agent: str, state: State, actions: int) -> list[Recalled]:
        """They do not change during a life: each state asks once."""
        place = (state.key(), actions)
        if place not in self._asked:
            self._asked[place] = self._recalling.experiences(agent, state, actions, _no_trouble)
        return self._asked[place]


class Reminded:
    """The policy of the fleet, given what the loop would recall."""

    name = "reminded"

    def __init__(self, policy: TabularPolicy | DeepPolicy, memory: Remembered) -> None:
        self._policy, self._memory = policy, memory

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        found = self._memory.of(self._policy.hierarchy.agent, state, len(allowed))
        return self._policy.choose(state, allowed, found)


def live_with(memory: Remembered, world: World, there: Sequence[Spot], course: Course, seed: int) -> Life:
    def make(hierarchy: Hierarchy, rng: np.random.Generator, _: int) -> Reminded:
        return Reminded(TabularPolicy(hierarchy, Thompson(), course.rates.learning, rng), memory)

    return live("reminded", world, there, replace(course, makers={"reminded": make}), seed)


def _no_trouble(told: str) -> None:
    raise RuntimeError(told)
