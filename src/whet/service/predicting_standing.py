"""Who decides: the canary for the units assigned to it, else production, else what settings choose."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.core.candidates import Candidate, Stage
from whet.core.ports import Policy, PolicySource
from whet.improvement.rollout.assignment import assigned


class InLine(NamedTuple):
    candidate: Candidate
    policy: Policy


class Standing:
    """A `PolicySource`: who decides, as candidates stood at one moment. Never changed, only exchanged."""

    def __init__(self, base: PolicySource, line: Sequence[InLine]) -> None:
        self._base = base
        self._canaries = {each.candidate.agent: each for each in line if each.candidate.stage is Stage.CANARY}
        self._productions = {each.candidate.agent: each for each in line if each.candidate.stage is Stage.PRODUCTION}

    def policy_for(self, agent: str, unit: str) -> Policy:
        canary = self._canaries.get(agent)
        if canary is not None and assigned(canary.candidate, unit):
            return canary.policy
        production = self._productions.get(agent)
        return self._base.policy_for(agent, unit) if production is None else production.policy
