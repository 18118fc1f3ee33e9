"""Who decides in a visit: candidates from the registry where the rollout put them, else what settings choose."""

from collections.abc import Callable, Mapping

import numpy as np

from whet.agents.catalogue import agent_named
from whet.bootstrap.site import Site, file_key
from whet.core.candidates import Candidate
from whet.core.ports import Policy, PolicySource, Store
from whet.core.registries import Registry
from whet.policies.tabular import Exploration

KEY = "registry.key"
# Makes an exploration that doubts what was learned more than it would by itself.
Doubt = Callable[[Exploration], Exploration]


def rolled_out(
    site: Site,
    store: Store,
    base: PolicySource,
    seed: int,
    warn: Callable[[str], None],
    reopened: Mapping[str, Doubt] | None = None,
) -> PolicySource:
    """Without any candidate this is `base`, and nothing is opened."""
    if not store.candidates.all():
        return base
    from whet.improvement.rollout.source import RolledOut

    explicit = frozenset(site.settings.policies)
    return RolledOut(base, store.candidates, opener(site, registry(site), seed, reopened), warn, explicit)


def registry(site: Site) -> Registry:
    from whet.registry.opening import opened

    key = site.settings.audit_key
    secret = file_key(site.state_dir / KEY) if key is None else key.get_secret_value().encode()
    return opened(site.settings.learn.registry, site.state_dir, secret, site.name)


def opener(
    site: Site, kept: Registry, seed: int = 0, reopened: Mapping[str, Doubt] | None = None
) -> Callable[[Candidate], Policy]:
    from whet.policies.frozen import Sharpened, opened_policy

    def open_one(candidate: Candidate) -> Policy:
        doubt = (reopened or {}).get(candidate.agent, _none)
        return opened_policy(
            candidate.kind,
            kept.open(candidate.artefact).folder,
            agent_named(candidate.agent),
            f"candidate-{candidate.number}",
            candidate.artefact,
            site.settings.q_learning.learning_rate,
            np.random.default_rng([seed, candidate.number]),
            exploration=doubt(Sharpened()),
        )

    return open_one


def _none(exploration: Exploration) -> Exploration:
    return exploration
