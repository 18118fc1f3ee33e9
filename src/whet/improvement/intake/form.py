"""Whether an experience is what its agent could have lived, and its reward what the present rules could have given."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from whet.core.agent import Agent
from whet.core.records import Experience, Part
from whet.improvement.intake.retention import AHEAD
from whet.rewards.profiles import Profile
from whet.rewards.specialists import SCALES
from whet.rewards.terms import Bounds

Agents = Mapping[str, Agent[Any, Any, Any]]
# Rewards are sums of a few floats of at most 10,000.
_ROUNDING: Final = 1e-6
_SCALES: Final = {scale.name: scale for scale in SCALES}


def malformed(experience: Experience, agents: Agents) -> str | None:
    """In the order in which one thing builds on another: agent, action, state, outcome."""
    agent, decision = agents.get(experience.agent), experience.decision
    if agent is None:
        return f"There is no agent {experience.agent!r}."
    if decision.action not in {action.name for action in agent.actions}:
        return f"{agent.name} has no action {decision.action!r}."
    if decision.alternatives and decision.action not in {each.action for each in decision.alternatives}:
        return f"{decision.action} was not allowed where it was taken."
    if (decision.agent, decision.run_id) != (experience.agent, experience.run_id):
        return "Its decision is another agent's or another run's."
    return _state_trouble(experience, agent) or _outcome_trouble(experience, agent)


def _state_trouble(experience: Experience, agent: Agent[Any, Any, Any]) -> str | None:
    found = _trouble(agent.state_type, experience.state, "state")
    if found is None and agent.state_type.model_validate(experience.state).key() != experience.state_key:
        return "Its state is not the one that it is filed under."
    return found


def _outcome_trouble(experience: Experience, agent: Agent[Any, Any, Any]) -> str | None:
    found = _trouble(agent.outcome_type, experience.outcome, "outcome")
    if found is None and experience.outcome.get("cut_short"):
        return "The budget cut it short: it says nothing about the action."
    return found


def _trouble(model: type[BaseModel], given: Mapping[str, object], what: str) -> str | None:
    try:
        model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "all of it"
        return f"Its {what} is no {model.__name__}: {where}: {first['msg']}."
    return None


def impossible(experience: Experience, now: datetime) -> str | None:
    """Numbers that no rules could have given."""
    reward, probability = experience.reward, experience.decision.probability
    numbers = {"raw": reward.raw, "shaped": reward.shaped, "credited": reward.credited}
    for name, number in numbers.items():
        if not math.isfinite(number):
            return f"Its {name} reward is {number}."
    if not 0.0 < probability <= 1.0:  # also when it is NaN
        return f"Its action was chosen with probability {probability}, which is not above 0 and at most 1."
    if experience.at - now > AHEAD:
        return f"Its time, {experience.at:%Y-%m-%d %H:%M}, is more than a day ahead of the clock."
    return None


def other_rules(experience: Experience, profile: Profile, weights: Mapping[str, float]) -> str | None:
    reward = experience.reward
    if reward.profile != profile.name:
        return f"It was rewarded by the profile {reward.profile}; now it is {profile.name}."
    present = {**profile.weights, **weights}
    for part in reward.parts:
        weight = present.get(part.name, 1.0)
        if part.weight != weight:
            return f"It was rewarded with weight {part.weight:g} for {part.name}; now it is {weight:g}."
    return None


def out_of_range(experience: Experience, profile: Profile, weights: Mapping[str, float]) -> str | None:
    """Under the present rules. Shaping and the luck that is taken out of the credit move a reward, by less than the
    width of its range."""
    reward = experience.reward
    outside = next((told for part in reward.parts if (told := _outside(part, profile)) is not None), None)
    if outside is not None:
        return outside
    if abs(math.fsum(part.weighted() for part in reward.parts) - reward.raw) > _ROUNDING:
        return f"Its raw reward {reward.raw:g} is not the sum of its parts."
    own = [_SCALES[part.name] for part in reward.parts if part.name in _SCALES]
    low, high = profile.true_range(weights, own)
    if any(part.name not in _SCALES and part.name not in profile.weights for part in reward.parts):
        return None  # an agent from elsewhere brought terms whose bounds only it knows
    width = high - low
    checked = (("raw", reward.raw, 0.0), ("shaped", reward.shaped, width), ("credited", reward.credited, width))
    for name, number, margin in checked:
        if not low - margin - _ROUNDING <= number <= high + margin + _ROUNDING:
            return f"Its {name} reward {number:g} is outside of {low - margin:g} to {high + margin:g}."
    return None


def _outside(part: Part, profile: Profile) -> str | None:
    bounds = _bounds(part.name, profile)
    if part.points is None or bounds is None or bounds.low - _ROUNDING <= part.points <= bounds.high + _ROUNDING:
        return None
    return f"Its reward has {part.points:g} points for {part.name}, which gives {bounds.low:g} to {bounds.high:g}."


def _bounds(name: str, profile: Profile) -> Bounds | None:
    of_profile = next((term.bounds for term in profile.terms if term.name == name), None)
    return of_profile if of_profile is not None or name not in _SCALES else _SCALES[name].bounds
