"""The reward profiles by name, and the names that weights may use."""

from typing import Final

from whet.core.errors import WhetError
from whet.rewards.composite import COMPOSITE
from whet.rewards.multi_objective import MULTI_OBJECTIVE
from whet.rewards.profiles import Profile
from whet.rewards.specialists import SCALES

PROFILES: Final = {each.name: each for each in (COMPOSITE, MULTI_OBJECTIVE)}


def profile(name: str) -> Profile:
    if name not in PROFILES:
        raise WhetError(f"There is no reward profile {name!r}.", f"Choose one of: {', '.join(sorted(PROFILES))}.")
    return PROFILES[name]


def weight_names(of: Profile) -> tuple[str, ...]:
    """What a weight may name under this profile: its own parts, then the agents' terms."""
    return (*of.weights, *(scale.name for scale in SCALES))
