"""How many visits learning takes, at the pace at which a project was visited lately."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whet.core.records import Experience
from whet.improvement.intake.trigger import Rule
from whet.improvement.rollout.plan import Plan


class Pace(NamedTuple):
    """Of one agent."""

    decisions: float  # in a visit
    training: int  # visits until enough new experiences wait
    step: int  # visits that the first step of a rollout takes

    @property
    def sentence(self) -> str:
        return (
            f"{self.decisions:.1f} decisions a visit: about {self.training:,} visits until enough wait to train with, "
            f"and about {self.step:,} for a candidate's first step"
        )


def paces(
    lived: Sequence[Experience], waiting: Mapping[str, int], rule: Rule, holdout: float, plan: Plan
) -> dict[str, Pace]:
    """By agent. `lived` is what the last visits left, of all agents."""
    visits = len({each.run_id for each in lived})
    each_visit = {agent: count / visits for agent, count in Counter(each.agent for each in lived).items()}
    return {
        agent: Pace(
            decisions,
            math.ceil(max(0, rule.fewest - waiting.get(agent, 0)) / (decisions * (1.0 - holdout))),
            math.ceil(max(plan.fewest_units, plan.fewest_decisions / decisions) / plan.shares[0]),
        )
        for agent, decisions in sorted(each_visit.items())
    }
