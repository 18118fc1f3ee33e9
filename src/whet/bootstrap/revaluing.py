"""What other rules would have made of past outcomes. Changes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from whet.agents.catalogue import AGENTS
from whet.core.records import Experience
from whet.fleet.loop import Valuing
from whet.rewards import Profile, reward_of


class Rules(NamedTuple):
    profile: Profile
    weights: Mapping[str, float]


class Revalued(NamedTuple):
    """One past outcome under both rules."""

    decision: str
    agent: str
    action: str
    now: float
    then: float


class Compared(NamedTuple):
    """One action of one agent, on average."""

    agent: str
    action: str
    outcomes: int
    now: float
    then: float


def rules_of(valuing: Valuing) -> Rules:
    return Rules(valuing.profile, valuing.weights)


def revalued(lived: Iterable[Experience], now: Rules, then: Rules) -> list[Revalued]:
    """What another version of Whet recorded in a form that is not known here is left out."""
    known = (_revalued(experience, now, then) for experience in lived)
    return [each for each in known if each is not None]


def compared(rows: Sequence[Revalued]) -> list[Compared]:
    grouped: dict[tuple[str, str], list[Revalued]] = {}
    for row in rows:
        grouped.setdefault((row.agent, row.action), []).append(row)
    return [
        Compared(
            agent, action, len(found), sum(r.now for r in found) / len(found), sum(r.then for r in found) / len(found)
        )
        for (agent, action), found in sorted(grouped.items())
    ]


def best_changes(means: Sequence[Compared]) -> list[tuple[str, str, str]]:
    """Agents whose best past action would be another: the agent, the best now, the best then."""
    found = []
    for agent in sorted({mean.agent for mean in means}):
        own = [mean for mean in means if mean.agent == agent]
        now, then = max(own, key=lambda mean: mean.now).action, max(own, key=lambda mean: mean.then).action
        if now != then:
            found.append((agent, now, then))
    return found


def _revalued(experience: Experience, now: Rules, then: Rules) -> Revalued | None:
    """From the stored state and outcome, so that both numbers are made by the same code."""
    agent = AGENTS.get(experience.agent)
    if agent is None:
        return None
    try:
        state = agent.state_type.model_validate(experience.state)
        outcome = agent.outcome_type.model_validate(experience.outcome)
    except ValidationError:
        return None
    action = agent.action(experience.decision.action)
    valuation = agent.value(state, action, outcome)
    before, after = (reward_of(rules.profile, valuation, rules.weights).raw for rules in (now, then))
    return Revalued(experience.decision.id, experience.agent, action.name, before, after)
