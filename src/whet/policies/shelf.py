"""Which policy each agent uses: a line of settings, resolved here and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from whet.core.errors import WhetError
from whet.core.ports import Policy, QTables
from whet.core.records import Action
from whet.policies.exploration import Schedule
from whet.policies.hierarchy import Hierarchy, Weights
from whet.policies.static import FixedPolicy, RandomPolicy
from whet.policies.tabular import EpsilonGreedy, TabularPolicy, Thompson

NAMES = ("thompson", "epsilon-greedy", "random")


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
    _made: dict[str, Policy] = field(default_factory=dict)

    def policy_for(self, agent: str, unit: str) -> Policy:
        if agent not in self._made:
            self._made[agent] = self._make(agent)
        return self._made[agent]

    def _make(self, agent: str) -> Policy:
        name = self.chosen.get(agent, self.default)
        rng = np.random.default_rng([self.seed, *agent.encode()])
        hierarchy = Hierarchy(agent, self.categories[agent], self.tables, self.weights)
        match name:
            case "thompson":
                return TabularPolicy(hierarchy, Thompson(), self.rate, rng)
            case "epsilon-greedy":
                return TabularPolicy(hierarchy, EpsilonGreedy(self.schedules[agent]), self.rate, rng)
            case "random":
                return RandomPolicy(rng)
        if any(action.name == name for action in self.actions[agent]):
            return FixedPolicy(name)
        allowed = ", ".join((*NAMES, *(a.name for a in self.actions[agent])))
        raise WhetError(f"{agent} cannot use the policy {name!r}.", f"Choose one of: {allowed}.")
