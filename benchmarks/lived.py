"""What live tables log while they learn in a recorded world: real experiences, with the outcomes that were recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.ports import Policy
from whet.core.records import Decision, Experience, Reward
from whet.improvement.spots import Spot, spots
from whet.improvement.world import World
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.tabular import TabularPolicy, Thompson
from whet.rewards import profile

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
PROFILE = "multi-objective"


@dataclass
class Living:
    """Thompson sampling over tables that learn from every decision: what decides where nothing else is chosen."""

    world: World
    seed: int
    tables: InProcessTables = field(default_factory=InProcessTables)
    played: list[tuple[int, str]] = field(default_factory=list)  # the place of the state, and the action

    def __post_init__(self) -> None:
        self.agent = agent = agent_named(self.world.agent)
        self.there = spots(self.world, profile(PROFILE), {})
        self.rng = np.random.default_rng([self.seed, *self.world.name.encode()])
        hierarchy = Hierarchy(agent.name, agent.category, self.tables)
        self.policy = TabularPolicy(hierarchy, Thompson(), Rates().learning, self.rng)
        self.learner = QLearner(hierarchy, {action.name: action for action in agent.actions})

    def live(self, decisions: int) -> list[Experience]:
        return [self._turn() for _ in range(decisions)]

    def _turn(self) -> Experience:
        place = int(self.rng.integers(len(self.there)))
        spot = self.there[place]
        choice = self.policy.choose(spot.state, spot.allowed)
        chance = next(each.probability for each in choice.alternatives if each.action == choice.action)
        earned = float(self.rng.choice(spot.credits[choice.action]))
        self.played.append((place, choice.action))
        lived = self._experience(spot, choice.action, choice.version, chance, earned)
        self.tables.learn(self.learner.lesson(lived))
        return lived

    def _experience(self, spot: Spot, action: str, version: str, chance: float, earned: float) -> Experience:
        turn = len(self.played)
        run, at = f"{self.world.project}-{self.seed}-{turn}", BEGIN + timedelta(minutes=turn)
        decision = Decision(
            id=run, run_id=run, agent=self.world.agent, state_key=spot.place.state_key, proposed=action, action=action,
            probability=chance, confidence=None, explored=False, policy=self.policy.name, policy_version=version,
            decided_by="policy", alternatives=(), at=at,
        )  # fmt: skip
        return Experience(
            key=f"{run}:{run}", run_id=run, agent=self.world.agent, category=self.agent.category,
            decision=decision, kind=next(each.kind for each in spot.allowed if each.name == action),
            state=spot.state.model_dump(mode="json"), state_key=spot.place.state_key,
            category_key=spot.place.category_key, fleet_key=spot.place.fleet_key,
            outcome={"duration_seconds": 0.0, "failed": None}, next_state_key=None, done=True, at=at,
            reward=Reward(profile=PROFILE, parts=(), raw=earned, shaped=earned, credited=earned),
        )  # fmt: skip


def worth(policy: Policy, there: Sequence[Spot]) -> tuple[float, float]:
    """What a policy would earn here in the mean, and the share of its decisions that are right: exactly, by the
    probabilities that it tells."""
    told = [(spot, policy.choose(spot.state, spot.allowed).alternatives) for spot in there]
    earned = [sum(a.probability * float(np.mean(spot.credits[a.action])) for a in each) for spot, each in told]
    right = [sum(a.probability for a in each if spot.right(a.action)) for spot, each in told]
    return float(np.mean(earned)), float(np.mean(right))


def earned(life: Living, first: int, last: int) -> tuple[float, float]:
    """The same of decisions that were made: by true means, without the luck of the draws, and every state counts alike
    however often it came up."""
    by_state: dict[int, list[tuple[float, bool]]] = {}
    for place, action in life.played[first:last]:
        spot = life.there[place]
        by_state.setdefault(place, []).append((float(np.mean(spot.credits[action])), spot.right(action)))
    means = np.array([np.mean(seen, axis=0) for seen in by_state.values()])
    return float(means[:, 0].mean()), float(means[:, 1].mean())
