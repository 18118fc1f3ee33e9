"""After a drift what was learned is doubted again, and less and less as decisions show what holds now."""

from dataclasses import dataclass

import numpy as np

from whet.core.errors import RefusedInput
from whet.improvement.drift_record import Drift
from whet.policies.beliefs import PRIOR_SPREAD, Beliefs, Vector
from whet.policies.tabular import Exploration

# After so many decisions half of the doubt is left.
HALF_LIFE = 25
# The share of random actions with which every ε schedule starts, too.
FIRST_EPSILON = 0.2
_FORGOTTEN = 0.01  # a hundredth of the doubt is none


@dataclass(frozen=True)
class Reopening:
    """`spread` is in points of reward and adds to the standard error of every action's value; with `epsilon` any
    action is taken. Both 0: nothing is reopened."""

    spread: float
    epsilon: float
    why: str = ""

    def __post_init__(self) -> None:
        if not (0.0 <= self.spread < float("inf") and 0.0 <= self.epsilon <= 1.0):
            raise RefusedInput(
                f"Exploration cannot be reopened by {self.spread} points and {self.epsilon} random actions.",
                "Give points from 0 and a share from 0 to 1.",
            )


CLOSED = Reopening(0.0, 0.0)


def reopening(drift: Drift, decisions: int) -> Reopening:
    """So many decisions after a drift. Rewards that moved are doubted by as much as they moved; what states that moved
    do to rewards nobody knows, so they are doubted like something new."""
    left = 0.5 ** (decisions / HALF_LIFE)
    if left < _FORGOTTEN:
        return CLOSED
    points = max(abs(drift.size), PRIOR_SPREAD / 2) if drift.kind == "rewards" else PRIOR_SPREAD
    return Reopening(points * left, FIRST_EPSILON * left, drift.sentence)


class Reopened:
    """An exploration that doubts more than it would by itself. What it says is still what is drawn from."""

    def __init__(self, inner: Exploration, by: Reopening) -> None:
        self.inner, self.by = inner, by
        self.name = inner.name

    def probabilities(self, beliefs: Beliefs) -> Vector:
        wider = Beliefs(beliefs.means, np.hypot(beliefs.errors, self.by.spread))
        drawn = self.inner.probabilities(wider)
        return np.asarray((1.0 - self.by.epsilon) * drawn + self.by.epsilon / len(drawn))
