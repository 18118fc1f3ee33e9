"""Memories for the tests of the policies that are reminded of them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from tests.policies.policy_worlds import LEFT, RIGHT, Spot, experience

from whet.core.memories import Kind, Memory, Recalled
from whet.core.records import Action
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner
from whet.policies.tabular import TabularPolicy, Thompson

SPOT, ELSEWHERE = Spot(where=1), Spot(where=2)
BOTH = (LEFT, RIGHT)
AT = datetime(2026, 1, 1, tzinfo=UTC)


def recalled(action: Action, reward: Any = 0.0, like: float = 1.0, state: Spot = SPOT, **about: Any) -> Recalled:
    told = {"action": action.name, "reward": reward, "state_key": state.key()} | about
    source = f"{sorted(told.items(), key=str)}"[:400]
    memory = Memory(
        project="p", kind=Kind.EPISODIC, topic="experience", source=source, agent="walker", text="x", about=told, at=AT
    )
    return Recalled(memory, like, "because")


PAID = [recalled(LEFT, 20.0), recalled(RIGHT, 0.0)]


def policy(tables: InProcessTables | None = None, seed: int = 1) -> TabularPolicy:
    hierarchy = Hierarchy("walker", "walkers", tables or InProcessTables())
    return TabularPolicy(hierarchy, Thompson(), 0.1, np.random.default_rng(seed))


def chances(given: Sequence[Recalled], tables: InProcessTables | None = None) -> dict[str, float]:
    return {a.action: a.probability for a in policy(tables).choose(SPOT, BOTH, given).alternatives}


def teach(tables: InProcessTables, action: Action, earned: float, state: Spot = SPOT) -> None:
    learner = QLearner(Hierarchy("walker", "walkers", tables), {a.name: a for a in BOTH})
    tables.learn(learner.lesson(experience(state, action, earned)))


def taught(*rewards: tuple[Action, float], state: Spot = SPOT) -> InProcessTables:
    tables = InProcessTables()
    for action, earned in rewards:
        teach(tables, action, earned, state)
    return tables
