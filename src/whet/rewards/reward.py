"""From a valuation to a reward, and the same reward under other weights."""

import math
from collections.abc import Iterable, Mapping

from pydantic import TypeAdapter, ValidationError

from whet.core.errors import RefusedInput
from whet.core.records import Part, Points, Reward, Valuation
from whet.rewards.profiles import Profile, finite_weights

_POINTS: TypeAdapter[float] = TypeAdapter(Points)


def reward_of(profile: Profile, valuation: Valuation, weights: Mapping[str, float] | None = None) -> Reward:
    """The raw reward: the weighted parts of the profile and the agent's own. Not yet shaped or shared.

    `weights` may also name terms of other agents; they change nothing here.
    """
    own = tuple(_reweighed(part, finite_weights(weights)) for part in valuation.own)
    parts = profile.parts(valuation.measures, weights) + own
    raw = within_points(sum_of(parts), f"The reward under profile {profile.name}")
    return Reward(profile=profile.name, parts=parts, raw=raw, shaped=raw, credited=raw)


def without_luck(reward: Reward, profile: Profile, valuation: Valuation, weights: Mapping[str, float]) -> Reward:
    """The same reward, credited only with what the decision itself brought.

    A difference reward (Wolpert & Tumer 2001): what any action would have earned in the same place says nothing about
    the action, and as noise it can hide for hundreds of decisions which action is better.
    """
    if valuation.anyway is None:
        return reward
    luck = reward_of(profile, valuation.anyway, weights).raw
    return reward.model_copy(update={"credited": within_points(reward.credited - luck, "The credited reward")})


def reweigh(reward: Reward, weights: Mapping[str, float]) -> Reward:
    """What a past reward would have been under other weights.

    The shaping it got stays. Credit depends on the whole run, so `credited` is its shaped value until it is
    assigned again.
    """
    given = finite_weights(weights)
    parts = tuple(_reweighed(part, given) for part in reward.parts)
    raw = within_points(sum_of(parts), f"The reward under profile {reward.profile}")
    shaped = within_points(raw + (reward.shaped - reward.raw), "The shaped reward")
    return reward.model_copy(update={"parts": parts, "raw": raw, "shaped": shaped, "credited": shaped})


def sum_of(parts: Iterable[Part]) -> float:
    # fsum is exact, so that the order of the parts cannot change a reward.
    return math.fsum(part.weighted() for part in parts)


def within_points(value: float, what: str) -> float:
    """`value`, refused when it cannot be a reward: not finite, or out of range."""
    try:
        return _POINTS.validate_python(value, strict=True)
    except ValidationError as error:
        raise RefusedInput(
            f"{what} is {value}.", "It must be a number from -10000 to 10000; check the weights and the agent's terms."
        ) from error


def _reweighed(part: Part, weights: Mapping[str, float]) -> Part:
    if part.name not in weights:
        return part
    return part.model_copy(update={"weight": weights[part.name]})
