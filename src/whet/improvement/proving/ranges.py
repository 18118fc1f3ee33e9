"""What a credited reward can be: from what it is made of, and from what was ever seen."""

from collections.abc import Iterable, Mapping, Sequence

from whet.core.records import Experience
from whet.improvement.proving.off_policy import Range
from whet.rewards.credit import TEAM_SHARE
from whet.rewards.profiles import Profile
from whet.rewards.specialists import SCALES
from whet.rewards.terms import Bounds


def plausible_range(
    experiences: Sequence[Experience], profile: Profile, weights: Mapping[str, float], team_share: float = TEAM_SHARE
) -> Range | None:
    """What was ever earned here and as far again on both sides, but no more than is possible at all.

    An assumption, and said where it is used: with all that is possible (every part at its worst at once) it would take
    years of runs to prove anything.
    """
    possible = reward_range(experiences, profile, weights, team_share)
    if possible is None:
        return None
    seen = [each.reward.credited for each in experiences]
    low, high = min(seen), max(seen)
    return Range(max(possible.low, low - (high - low)), min(possible.high, high + (high - low)))


def reward_range(
    experiences: Iterable[Experience], profile: Profile, weights: Mapping[str, float], team_share: float = TEAM_SHARE
) -> Range | None:
    """From the bounds of all parts that were ever measured for this agent; None when none was.

    A credited reward is (1 − s) of one's own, s of the team's mean, less what any action would have earned: at most all
    the good parts.
    """
    names = {part.name for each in experiences for part in each.reward.parts if part.points is not None}
    if not names:
        return None
    own = Bounds(0.0, 0.0)
    for name, bounds, weight in _parts(profile):
        if name in names:
            own = own.plus(bounds.weighted(weights.get(name, weight)))
    low, high = profile.true_range(weights, own=SCALES)
    return Range(
        (1.0 - team_share) * own.low + team_share * low - own.high, (1.0 - team_share) * own.high + team_share * high
    )


def _parts(profile: Profile) -> Iterable[tuple[str, Bounds, float]]:
    yield from ((term.name, term.bounds, term.weight) for term in profile.terms)
    yield from ((scale.name, scale.bounds, 1.0) for scale in SCALES)
