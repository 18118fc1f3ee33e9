"""What outcomes are worth: profiles, agents' own terms, shaping and credit. Pure functions."""

from whet.rewards.catalogue import PROFILES, profile, weight_names
from whet.rewards.credit import TEAM_SHARE, assign
from whet.rewards.profiles import Profile, finite_weights, known_weights
from whet.rewards.reward import reward_of, reweigh, without_luck
from whet.rewards.shaping import shape, shaping_term
from whet.rewards.terms import Bounds, Scale, Term

__all__ = [
    "PROFILES",
    "TEAM_SHARE",
    "Bounds",
    "Profile",
    "Scale",
    "Term",
    "assign",
    "finite_weights",
    "known_weights",
    "profile",
    "reward_of",
    "reweigh",
    "shape",
    "shaping_term",
    "weight_names",
    "without_luck",
]
