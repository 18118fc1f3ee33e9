"""Potential-based shaping: F = γ·Φ(s′) − Φ(s).

A. Y. Ng, D. Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999: exactly this form leaves
every optimal policy as it was. An episode's last state has potential 0; otherwise the sum of F over an episode would
depend on where it ended and so on the policy.
"""

import math

from whet.core.errors import RefusedInput
from whet.core.records import Reward
from whet.rewards.reward import within_points


def shaping_term(potential_before: float, potential_after: float, discount: float, done: bool) -> float:
    """γ·Φ(s′) − Φ(s), with Φ of a last state taken as 0."""
    _refuse_unusable(potential_before, potential_after, discount)
    return (0.0 if done else discount * potential_after) - potential_before


def shape(reward: Reward, potential_before: float, potential_after: float, discount: float, done: bool) -> Reward:
    """The reward with the shaping added to its raw value; credited follows until credit is assigned."""
    added = shaping_term(potential_before, potential_after, discount, done)
    shaped = within_points(reward.raw + added, "The shaped reward")
    return reward.model_copy(update={"shaped": shaped, "credited": shaped})


def _refuse_unusable(potential_before: float, potential_after: float, discount: float) -> None:
    if not (math.isfinite(potential_before) and math.isfinite(potential_after)):
        raise RefusedInput(
            f"The potentials are {potential_before} and {potential_after}.",
            "An agent's `potential` must return a finite number for every state.",
        )
    if not 0.0 <= discount <= 1.0:
        raise RefusedInput(f"The discount is {discount}.", "Give a number from 0 to 1.")
