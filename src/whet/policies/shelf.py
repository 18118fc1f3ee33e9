"""Which policy each agent uses: a line of settings, resolved here and nowhere else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from whet.core.errors import WhetError
from whet.core.ports import Policy, QTables
from whet.core.records import Action, State
from whet.policies import warm_start
from whet.policies.deep.extra import ACTING, require
from whet.policies.exploration import Schedule
from whet.policies.hierarchy import Hierarchy, Weights
from whet.policies.static import FixedPolicy, RandomPolicy
from whet.policies.tabular import EpsilonGreedy, Exploration, TabularPolicy, Thompson
from whet.policies.warm_start import WarmStart

DEEP = ("dqn", "ppo")
# `tabular` is the tables with whatever exploration the settings of Q-learning name.
NAMES = ("tabular", "thompson", "epsilon-greedy", warm_start.NAME, *DEEP, "random")


@dataclass
class Shelf:
    """Policies made on demand and kept for the run, so that random numbers go on where they stopped."""

    tables: QTables
    categories: Mapping[str, str]
    actions: Mapping[str, tuple[Action, ...]]
    chosen: Mapping[str, str]
    default: str
    schedules: Mapping[str, Schedule]
    weights: Weights
    rate: float
    seed: int
    states: Mapping[str, type[State]] = field(default_factory=dict)
    models: Path = Path(".whet/models")
    # By agent: what doubts its exploration more than it would itself, such as after the world has changed.
    reopened: Mapping[str, Callable[[Exploration], Exploration]] = field(default_factory=dict)
    _made: dict[str, Policy] = field(default_factory=dict)

    def policy_for(self, agent: str, unit: str) -> Policy:
        if agent not in self._made:
            self._made[agent] = self._make(agent)
        return self._made[agent]

    def _make(self, agent: str) -> Policy:
        chosen = self.chosen.get(agent, self.default)
        name = self.default if chosen == "tabular" else chosen
        rng = np.random.default_rng([self.seed, *agent.encode()])
        hierarchy = Hierarchy(agent, self.categories[agent], self.tables, self.weights)
        match name:
            case "thompson" | "tabular":  # the latter where it is the default itself
                return TabularPolicy(hierarchy, self._exploring(agent, Thompson()), self.rate, rng)
            case "epsilon-greedy":
                exploration = self._exploring(agent, EpsilonGreedy(self.schedules[agent]))
                return TabularPolicy(hierarchy, exploration, self.rate, rng)
            case warm_start.NAME:
                prior = warm_start.opened(self.models / agent / name, agent)
                return WarmStart(prior, hierarchy, self.rate, rng)
            case "dqn" | "ppo":
                return self._deep(agent, name, hierarchy, rng)
            case "random":
                return RandomPolicy(rng)
        if any(action.name == name for action in self.actions[agent]):
            return FixedPolicy(name)
        allowed = ", ".join((*NAMES, *(a.name for a in self.actions[agent])))
        raise WhetError(f"{agent} cannot use the policy {name!r}.", f"Choose one of: {allowed}.")

    def _exploring(self, agent: str, exploration: Exploration) -> Exploration:
        return self.reopened[agent](exploration) if agent in self.reopened else exploration

    def _deep(self, agent: str, name: str, hierarchy: Hierarchy, rng: np.random.Generator) -> Policy:
        """Found out before anything runs: without what it was trained to, a deep policy decides nothing."""
        require(f"The policy {name!r}, which settings choose for {agent},", ACTING)
        from whet.policies.deep.deciding import DeepPolicy
        from whet.policies.deep.encoding import Encoder
        from whet.policies.deep.opinions import layout_in, opened

        folder = self.models / agent / name / "learner"
        if not folder.exists():
            raise WhetError(
                f"{agent} is to use the policy {name!r}, which was not trained for this project.",
                f"Train it: whet train --agent {agent} --policy {name}",
            )
        trained = layout_in(name, folder)
        encoder = Encoder(self.states[agent], trained.memories, trained.memory_width)
        return DeepPolicy(opened(name, folder, encoder.layout), encoder, hierarchy, self.rate, rng)
