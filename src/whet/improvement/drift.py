"""Has the world changed? What the rewards say, and what the states say.

Both look at runs, not at single decisions: those of one run share its machine, its code and its luck.
"""

from collections.abc import Mapping
from typing import Any

from whet.core.agent import Agent
from whet.core.records import Experience
from whet.improvement.drift_record import Drift
from whet.improvement.reopening import CLOSED, Reopening, reopening
from whet.improvement.reward_drift import RewardDrift
from whet.improvement.state_drift import StateDrift


class DriftWatch:
    """Of every agent. Experiences come in the order in which they happened; from the same ones follows the same.

    >>> watch = DriftWatch(AGENTS)
    >>> for experience in reversed(store.experiences.recent(limit=5000)):
    ...     for drift in watch.observe(experience):
    ...         print(drift.sentence)
    >>> watch.reopening("test-executor")  # how far exploration is open again because of it
    """

    def __init__(self, agents: Mapping[str, Agent[Any, Any, Any]]) -> None:
        self._agents = agents
        self._rewards: dict[str, RewardDrift] = {}
        self._states: dict[str, StateDrift] = {}
        self._since: dict[str, tuple[Drift, int]] = {}

    def observe(self, experience: Experience) -> list[Drift]:
        name = experience.agent
        if name not in self._rewards:
            self._rewards[name] = RewardDrift(name)
            self._states[name] = StateDrift(name, self._agents[name].state_type)
        looks = (self._rewards[name].observe(experience), self._states[name].observe(experience))
        found = [each for each in looks if each is not None]
        self._count(name, found)
        return found

    def reopening(self, agent: str) -> Reopening:
        return reopening(*self._since[agent]) if agent in self._since else CLOSED

    def _count(self, agent: str, found: list[Drift]) -> None:
        if found:
            self._since[agent] = (found[0], 0)
        elif agent in self._since:
            drift, decisions = self._since[agent]
            self._since[agent] = (drift, decisions + 1)
