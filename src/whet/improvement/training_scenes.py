"""What a learner is trained on: places where decisions were made, and what was measured after each action there."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whet.agents.catalogue import AnyAgent, agent_named
from whet.core.errors import WhetError
from whet.core.records import Action, Experience, State
from whet.improvement.evaluation import Spot, spots
from whet.improvement.world import World
from whet.rewards.profiles import Profile


class NothingToTrainOn(WhetError):
    """Of this agent nothing was recorded or measured yet."""


@dataclass(frozen=True)
class Draw:
    """One measured outcome: what the action was credited with, what it earned, and where that led (None: the end)."""

    credited: float
    raw: float | None = None
    next_scene: int | None = None


@dataclass(frozen=True)
class Scene:
    """An action that was never measured here has no draws, and is not allowed."""

    state: State
    draws: Mapping[str, Sequence[Draw]]


@dataclass(frozen=True)
class Scenes:
    """Everything one agent is trained on. `digest` tells whether it is still the same when training goes on."""

    agent: str
    actions: tuple[Action, ...]
    scenes: tuple[Scene, ...]
    sources: tuple[str, ...]

    @property
    def credits(self) -> list[float]:
        return [draw.credited for scene in self.scenes for draws in scene.draws.values() for draw in draws]

    @property
    def spread(self) -> float:
        """Standard deviation of all credits, the size of what there is to learn; 1 where they do not vary."""
        return float(np.std(self.credits)) or 1.0

    @property
    def digest(self) -> str:
        told = [
            (scene.state.model_dump(mode="json"), [(name, [vars(d) for d in draws]) for name, draws in each])
            for scene in self.scenes
            for each in (sorted(scene.draws.items()),)
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def of_worlds(worlds: Sequence[World], profile: Profile, weights: Mapping[str, float]) -> Scenes:
    """One decision is an episode: a world does not know what would have followed."""
    agents = sorted({world.agent for world in worlds})
    if len(agents) != 1:
        raise WhetError(
            f"Training needs worlds of one agent, not of {', '.join(agents) or 'none'}.", "Record one: whet record"
        )
    there = [spot for world in worlds for spot in spots(world, profile, weights)]
    scenes = tuple(Scene(spot.state, _draws(spot)) for spot in there)
    return Scenes(agents[0], agent_named(agents[0]).actions, scenes, tuple(world.name for world in worlds))


def _draws(spot: Spot) -> dict[str, list[Draw]]:
    return {
        name: [Draw(float(c), float(r)) for c, r in zip(credited, spot.raws[name], strict=True)]
        for name, credited in spot.credits.items()
    }


def of_history(agent: AnyAgent, experiences: Iterable[Experience]) -> Scenes:
    """Only what was measured and earned: the rest teaches nothing, and what was never tried is not allowed."""
    taught = [each for each in experiences if each.teaches]
    if not taught:
        raise NothingToTrainOn(
            f"There is nothing to train {agent.name} on: the store has no experience of it.",
            "Visit the project first: whet run; or train on recorded worlds: whet train --from world",
        )
    by_key: dict[str, list[Experience]] = {}
    for experience in taught:
        by_key.setdefault(experience.state_key, []).append(experience)
    places = {key: number for number, key in enumerate(by_key)}
    scenes = tuple(_scene(agent, alike, places) for alike in by_key.values())
    return Scenes(agent.name, agent.actions, scenes, (f"{len(taught)} experiences",))


def _scene(agent: AnyAgent, alike: Sequence[Experience], places: Mapping[str, int]) -> Scene:
    draws: dict[str, list[Draw]] = {}
    for each in alike:
        led_to = None if each.done or each.next_state_key is None else places.get(each.next_state_key)
        draws.setdefault(each.decision.action, []).append(Draw(each.reward.credited, each.reward.raw, led_to))
    known = {action.name for action in agent.actions}
    measured = {name: found for name, found in draws.items() if name in known}
    return Scene(agent.state_type.model_validate(alike[-1].state), measured)
