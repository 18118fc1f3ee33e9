"""What `whet train` was asked for, made ready: what is learned, by whom, and where it is put."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from whet.agents.catalogue import AnyAgent, agent_named
from whet.bootstrap.assembly import MODELS, new_seed, valuing
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.improvement.cases import Case, is_case_file, read_cases
from whet.improvement.cases_running import Live, Runner
from whet.improvement.training import Subject, subject_of
from whet.improvement.training_cases import digest, subject_of_cases, told, trained_on
from whet.improvement.training_learners import Policy
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import Scenes, of_history, of_worlds
from whet.improvement.world import World, load, load_all, shipped

WORLD, HISTORY, CASES = "world", "history", "cases"


class Asked(NamedTuple):
    agent: str | None
    source: str
    service: str | None
    policy: Policy | None
    steps: int
    out: Path | None


class Ready(NamedTuple):
    subject: Subject
    order: Order
    folder: TrainingFolder


@contextmanager
def prepared(site: Site, asked: Asked) -> Iterator[Ready]:
    """While it is open, whatever cases are executed against is connected."""
    if asked.source not in (WORLD, HISTORY) and is_case_file(Path(asked.source)):
        with _cases(site, asked) as ready:
            yield ready
        return
    if asked.agent is None:
        raise WhetError("Whose policy is to be trained?", "Name an agent: --agent test-executor")
    if asked.service is not None:
        raise WhetError("Only test cases are executed against a service.", "Leave out --service, or give --from FILE.")
    scenes = scenes_from(site, agent_named(asked.agent), asked.source)
    order, folder = _order(site, asked, scenes.agent, asked.policy or "dqn", scenes.sources, scenes.digest)
    yield Ready(subject_of(scenes, order), order, folder)


@contextmanager
def _cases(site: Site, asked: Asked) -> Iterator[Ready]:
    if asked.agent is not None or asked.policy == "dqn":
        raise WhetError("Test cases are learned by PPO, for no agent.", "Leave out --agent and --policy.")
    cases = read_cases(Path(asked.source))
    if asked.service is None:
        chosen, runner = trained_on(cases, None)
        yield _ready_for_cases(site, asked, chosen, runner)
        return
    with Live(asked.service) as live:
        chosen, runner = trained_on(cases, live)
        yield _ready_for_cases(site, asked, chosen, runner)


def _ready_for_cases(site: Site, asked: Asked, chosen: Sequence[Case], runner: Runner) -> Ready:
    order, folder = _order(site, asked, CASES, "ppo", (told(chosen),), digest(chosen))
    return Ready(subject_of_cases(chosen, runner, order), order, folder)


def scenes_from(site: Site, agent: AnyAgent, source: str) -> Scenes:
    if source == HISTORY:
        return _measured_here(site, agent)
    worlds = training_worlds(site, agent) if source == WORLD else [_of(agent, load(Path(source)))]
    how = valuing(site.settings)
    return of_worlds(worlds, how.profile, how.weights)


def training_worlds(site: Site, agent: AnyAgent) -> Sequence[World]:
    """Those recorded in this project, and of those that come with Whet the ones that count for no proof."""
    known = [world for world in shipped() if world.used_for_tuning]
    known += load_all(sorted((site.state_dir / "worlds").glob("*.json")))
    found = [world for world in known if world.agent == agent.name]
    if not found:
        raise WhetError(
            f"There is no world of {agent.name} to train on.",
            f"Record one: whet record --agent {agent.name}; or train on its visits: --from history",
        )
    return found


def _of(agent: AnyAgent, world: World) -> World:
    if world.agent != agent.name:
        raise WhetError(f"{world.name} is a world of {world.agent}.", f"Give one of {agent.name}, or another --agent.")
    return world


def _measured_here(site: Site, agent: AnyAgent) -> Scenes:
    if not site.visited:
        return of_history(agent, ())
    with site.store() as store:
        return of_history(agent, reversed(store.experiences.recent(agent.name, store.experiences.count(agent.name))))


def _order(
    site: Site, asked: Asked, agent: str, policy: Policy, sources: Sequence[str], contents: str
) -> tuple[Order, TrainingFolder]:
    """The seed of a training that goes on is the one it began with, unless another one is asked for."""
    folder = TrainingFolder(asked.out or (site.state_dir / MODELS / agent / policy).absolute())
    settings = site.settings
    seed = folder.order().seed if folder.begun and settings.seed is None else new_seed(settings)
    order = Order(
        agent=agent,
        policy=policy,
        seed=seed,
        steps=asked.steps,
        discount=settings.q_learning.discount_factor,
        source=asked.source,
        sources=tuple(sources),
        digest=contents,
    )
    return order, folder
