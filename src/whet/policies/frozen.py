"""A candidate decides: with the tables and the network of its files alone, which never change.

    policy = opened_policy("tables", registry.open(digest).folder, agent, "candidate-12", digest, rate, rng)

That makes it the same function of the state wherever it is asked: in a rollout, and beforehand on decisions that were
logged. What the project shows meanwhile reaches the next candidate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whet.core.agent import Agent
from whet.core.candidates import ModelKind
from whet.core.memories import Recalled
from whet.core.ports import Choice, Policy
from whet.core.records import Action, State
from whet.policies import snapshot
from whet.policies.beliefs import Beliefs, Vector
from whet.policies.confidence import calibration_of
from whet.policies.deep.extra import ACTING, require
from whet.policies.hierarchy import Hierarchy, Weights
from whet.policies.posterior import best_probabilities
from whet.policies.tabular import Exploration, TabularPolicy

LEARNER = "learner"
# Of what is believed, for a candidate. Whoever still learns explores as much as its errors say; a candidate cannot use
# what it would find, and leaves most of that to the next one. On the worlds used for tuning an error of a half was
# better than a whole one at any amount of experience, and a quarter or none gained hardly more (docs/candidates.md).
SHARPER = 0.5


class Sharpened:
    """Each action as often as it would be likely to be the best, were it known with a smaller error."""

    name = "sharpened"

    def probabilities(self, beliefs: Beliefs) -> Vector:
        return best_probabilities(Beliefs(beliefs.means, SHARPER * beliefs.errors))


@dataclass(frozen=True)
class Frozen:
    """A policy under the name of its candidate; what it answers was made from this artefact and nothing else: what was
    proven beforehand is what decides, so memories that came later do not count."""

    policy: Policy
    name: str
    artefact: str

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        chosen = self.policy.choose(state, allowed)
        return chosen.model_copy(update={"version": f"{self.name}-{self.artefact[:12]}"})


def opened_policy(
    kind: ModelKind,
    folder: Path,
    agent: Agent[Any, Any, Any],
    name: str,
    artefact: str,
    rate: float,
    rng: np.random.Generator,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    exploration: Exploration | None = None,
) -> Frozen:
    """From the files of a candidate, checked by whoever keeps them. `artefact` is what they are known by."""
    drawing = exploration or Sharpened()
    hierarchy = Hierarchy(agent.name, agent.category, snapshot.opened(folder, agent.name), weights)
    if kind == "tables":
        tabular = TabularPolicy(hierarchy, drawing, rate, rng, calibration_of("thompson"))
        return Frozen(tabular, name, artefact)
    require(f"{name}, which is a {kind} policy,", ACTING)
    from whet.policies.deep.deciding import DeepPolicy
    from whet.policies.deep.encoding import Encoder
    from whet.policies.deep.opinions import opened

    encoder = Encoder(agent.state_type)
    opinion = opened(kind, folder / LEARNER, encoder.layout)
    return Frozen(DeepPolicy(opinion, encoder, hierarchy, rate, rng, exploration=drawing), name, artefact)
