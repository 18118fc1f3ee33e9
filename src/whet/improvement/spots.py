"""The states of a world, with what every action is truly worth there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whet.agents.catalogue import AnyAgent, agent_named
from whet.core.records import Action, Reward, State
from whet.improvement.intervals import Matrix
from whet.improvement.world import World
from whet.policies.hierarchy import Place
from whet.rewards.profiles import Profile
from whet.rewards.reward import reward_of, without_luck

# A decision is right when the true mean reward of its action is within 5 % of the best.
TOLERANCE = 0.05


@dataclass(frozen=True)
class Spot:
    """One state of a world: what each recorded outcome is credited with and earned, and each action's true mean of
    that."""

    state: State
    place: Place
    allowed: tuple[Action, ...]
    default: str
    credits: Mapping[str, Matrix]
    raws: Mapping[str, Matrix]
    means: Mapping[str, float]

    @property
    def best(self) -> float:
        return max(self.means.values())

    def right(self, action: str) -> bool:
        return self.means[action] >= self.best - TOLERANCE * abs(self.best)

    def playable(self, action: str) -> str:
        """A static choice where it is not allowed falls back to the safe default."""
        return action if action in self.means else self.default


def spots(world: World, profile: Profile, weights: Mapping[str, float]) -> list[Spot]:
    """The world's outcomes, valued by the rewards in force."""
    agent = agent_named(world.agent)
    seen: dict[tuple[str, frozenset[str]], list[int]] = {}
    states = world.states()
    for position, state in enumerate(states):
        seen.setdefault((state.key(), frozenset(world.contexts[position].outcomes)), []).append(position)
    return [_spot(world, agent, alike, states[alike[0]], profile, weights) for alike in seen.values()]


def _spot(
    world: World, agent: AnyAgent, alike: Sequence[int], state: State, profile: Profile, weights: Mapping[str, float]
) -> Spot:
    """Contexts that look the same to the agent, with the same actions allowed, are one spot: there, an action's true
    mean is over all of them."""
    rewards: dict[str, list[Reward]] = {}
    for name in world.contexts[alike[0]].outcomes:
        action = agent.action(name)
        recorded = [o for position in alike for o in world.contexts[position].outcomes[name]]
        valued = [agent.value(state, action, world.outcome(outcome)) for outcome in recorded]
        rewards[name] = [without_luck(reward_of(profile, v, weights), profile, v, weights) for v in valued]
    raws = {name: np.array([r.raw for r in found]) for name, found in rewards.items()}
    return Spot(
        state=state,
        place=Place.of(state),
        allowed=tuple(agent.action(name) for name in rewards),
        default=agent.safe_default(state).name,
        credits={name: np.array([r.credited for r in found]) for name, found in rewards.items()},
        raws=raws,
        means={name: float(np.mean(raw)) for name, raw in raws.items()},
    )
