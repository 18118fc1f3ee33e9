"""Puts a fleet together from settings."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from whet.agents.catalogue import AGENTS, COMMANDER, FOR_SERVICES, SPECIALISTS, AnyAgent, agent_named
from whet.agents.commander import Commander
from whet.bootstrap.candidates import Doubt, rolled_out
from whet.bootstrap.drifting import changes
from whet.bootstrap.following import Following
from whet.bootstrap.remembering import opened_memory
from whet.bootstrap.site import Site
from whet.bootstrap.visiting import VisitOrdering
from whet.core.errors import WhetError
from whet.core.events import Event
from whet.core.ports import Store
from whet.core.records import new_id
from whet.core.services import NoService, ServiceUnderTest
from whet.fleet.gate import Gate
from whet.fleet.loop import Fleet, Valuing
from whet.fleet.recalling import Recalling
from whet.fleet.teaching import Schooling, Teacher
from whet.policies.exploration import Schedule, schedule
from whet.policies.hierarchy import Weights
from whet.policies.learner import Rates
from whet.policies.shelf import NAMES, Shelf
from whet.rewards import profile
from whet.settings.model import Settings
from whet.tools.budget import Budget
from whet.tools.process import default_memory_mb
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

# When the machine does not tell how much memory it has.
FALLBACK_MEMORY_MB = 4096.0
# Where `whet train` puts what it trained, below the project's state.
MODELS = "models"
# As many past rewards as any ε schedule still feels.
REMEMBERED_REWARDS = 2000


def fleet(site: Site, store: Store, seed: int, warn: Callable[[str], None]) -> Fleet:
    """`warn` is told when the world has changed, and when a candidate that should decide cannot."""
    settings = site.settings
    _check_policies(settings)
    crew = chosen_crew(settings)
    found = changes(store)
    for drift in found.drifts:
        if drift.agent in found.reopened:
            warn(f"{drift.sentence} What was learned before is doubted again.")
    chosen = _ready(shelf(settings, store, seed, site.state_dir / MODELS, found.reopened), crew)
    commander = COMMANDER if len(crew) == len(SPECIALISTS) else Commander([agent.name for agent in crew])
    return Fleet(
        commander=commander,
        crew=crew,
        store=store,
        policies=rolled_out(site, store, chosen, seed, warn, found.reopened),
        teacher=Teacher(store, AGENTS, schooling(settings)),
        valuing=valuing(settings),
        gate=Gate(settings.confidence.review_below, settings.confidence.review_hiding_below),
        memory=recalling(site, store),
    )


def recalling(site: Site, store: Store) -> Recalling | None:
    """None when nothing shall be remembered. Findings are compared even where decisions count with nothing."""
    memory = opened_memory(site, store)
    if memory is None:
        return None
    per_action = site.settings.memory.recall
    follow = Following(site, memory) if site.settings.memory.follow else None
    return Recalling(store, memory.project, lambda: memory.recall, lambda: memory.embedder, per_action, follow)


def workplace(site: Site, store: Store, suite: Suite, seed: int, emit: Callable[[Event], None]) -> Workplace:
    settings = site.settings
    order = VisitOrdering(site, store)
    memory_mb = float(settings.limits.memory_mb or default_memory_mb() or FALLBACK_MEMORY_MB)
    return Workplace(
        project=site.project,
        python=site.python,
        suite=suite,
        history=store.history,
        budget=Budget(settings.minutes * 60.0),
        run_id=new_id(),
        code_version=site.project.code_version(),
        seed=seed,
        memory_mb=memory_mb,
        state_dir=site.state_dir,
        known_as=site.name,
        action_seconds=settings.limits.timeout_seconds,
        emit=emit,
        rank=order.rank,
        remember=order.remember,
        service=service(site, store, seed, memory_mb),
    )


def service(site: Site, store: Store, seed: int, memory_mb: float) -> ServiceUnderTest:
    """What tests services takes a while to import, and most projects have none."""
    if not _has_service(site.settings):
        return NoService()
    from whet.bootstrap.serving import ProjectService

    return ProjectService(site, store.knowledge, seed, memory_mb)


def new_seed(settings: Settings) -> int:
    return secrets.randbelow(2**31) if settings.seed is None else settings.seed


def chosen_crew(settings: Settings) -> Sequence[AnyAgent]:
    if settings.agents is None:
        return [agent for agent in SPECIALISTS if _has_service(settings) or agent.name not in FOR_SERVICES]
    known = {agent.name: agent for agent in SPECIALISTS}
    for name in settings.agents:
        if name not in known:
            raise WhetError(f"Settings name an agent {name!r}.", f"The agents are: {', '.join(known)}.")
    if not settings.agents:
        raise WhetError("Settings name no agent at all.", f"Choose among: {', '.join(known)}; or leave `agents` out.")
    return [agent for agent in SPECIALISTS if agent.name in settings.agents]


def _has_service(settings: Settings) -> bool:
    """Half of what is needed will do: the agents then say what is missing."""
    return settings.api.document is not None or settings.api.start is not None


def _check_policies(settings: Settings) -> None:
    """A misspelt name must not be found out half-way through a run, or never."""
    for name, policy in settings.policies.items():
        agent = agent_named(name)
        allowed = (*NAMES, *(action.name for action in agent.actions))
        if policy not in allowed:
            raise WhetError(f"{name} cannot use the policy {policy!r}.", f"Choose one of: {', '.join(allowed)}.")


def valuing(settings: Settings) -> Valuing:
    rewards = settings.rewards
    return Valuing(profile(rewards.profile), rewards.weights, rewards.team_share, settings.q_learning.discount_factor)


def schooling(settings: Settings) -> Schooling:
    q, shared = settings.q_learning, settings.hierarchical_learning
    rates = Rates(
        learning=q.learning_rate,
        discount=q.discount_factor,
        category=shared.category_rate if shared.enabled else 0.0,
        fleet=shared.fleet_rate if shared.enabled else 0.0,
        average_first=q.first_visits == "average",
    )
    return Schooling(
        enabled=settings.learning,
        rates=rates,
        weights=_weights(settings),
        replay_batch=settings.experience_replay.batch_size if settings.experience_replay.enabled else 0,
        transfer=settings.transfer_learning.enabled,
        min_confidence=settings.transfer_learning.min_confidence,
        transfer_factor=settings.transfer_learning.decay_factor,
    )


def _ready(policies: Shelf, crew: Sequence[AnyAgent]) -> Shelf:
    """A policy that was not trained, or whose extra is missing, must not be found out half-way through a run."""
    for agent in (*crew, COMMANDER):
        policies.policy_for(agent.name, "")
    return policies


def shelf(
    settings: Settings, store: Store, seed: int, models: Path, reopened: Mapping[str, Doubt] | None = None
) -> Shelf:
    return Shelf(
        tables=store.tables,
        categories={agent.name: agent.category for agent in AGENTS.values()},
        actions={agent.name: agent.actions for agent in AGENTS.values()},
        chosen=settings.policies,
        default=settings.q_learning.exploration,
        schedules={name: _schedule(name, settings, store) for name in AGENTS if _uses_epsilon(name, settings)},
        weights=_weights(settings),
        rate=settings.q_learning.learning_rate,
        seed=seed,
        states={agent.name: agent.state_type for agent in AGENTS.values()},
        models=models,
        reopened=reopened or {},
    )


def _weights(settings: Settings) -> Weights:
    shared = settings.hierarchical_learning
    if not shared.enabled:
        return Weights(shared.individual_weight, 0.0, 0.0)
    return Weights(shared.individual_weight, shared.category_weight, shared.fleet_weight)


def _uses_epsilon(agent: str, settings: Settings) -> bool:
    chosen = settings.policies.get(agent, "tabular")
    return (settings.q_learning.exploration if chosen == "tabular" else chosen) == "epsilon-greedy"


def _schedule(agent: str, settings: Settings, store: Store) -> Schedule:
    """ε as the agent's past rewards have made it; it holds for this run."""
    q = settings.q_learning
    made = schedule(
        q.epsilon_strategy, q.initial_epsilon, q.min_epsilon, q.epsilon_decay, q.target_reward, q.reward_window
    )
    for experience in reversed(store.experiences.recent(agent, REMEMBERED_REWARDS)):
        made.observe(experience.reward.credited)
    return made
