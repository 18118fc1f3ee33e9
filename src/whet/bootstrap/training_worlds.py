"""The worlds that a project may learn from."""

from collections.abc import Sequence
from pathlib import Path

from whet.agents.catalogue import AnyAgent
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.improvement.training_scenes import NothingToTrainOn
from whet.improvement.world import World, load, load_all, shipped

WORLD = "world"


def worlds_from(site: Site, agent: AnyAgent, source: str) -> Sequence[World]:
    """`source`: "world", or the name of a file."""
    return training_worlds(site, agent) if source == WORLD else [_of(agent, load(Path(source)))]


def training_worlds(site: Site, agent: AnyAgent) -> Sequence[World]:
    """Those recorded in this project, and of those that come with Whet the ones that count for no proof."""
    found = [world for world in shipped() if world.used_for_tuning and world.agent == agent.name]
    found += recorded_worlds(site, agent.name)
    if not found:
        raise NothingToTrainOn(
            f"There is no world of {agent.name} to train on.",
            f"Record one: whet record --agent {agent.name}; or train on its visits: --from history",
        )
    return found


def recorded_worlds(site: Site, agent: str) -> list[World]:
    """Of this project, by `whet record`."""
    return [world for world in load_all(sorted((site.state_dir / "worlds").glob("*.json"))) if world.agent == agent]


def _of(agent: AnyAgent, world: World) -> World:
    if world.agent != agent.name:
        raise WhetError(f"{world.name} is a world of {world.agent}.", f"Give one of {agent.name}, or another --agent.")
    return world
