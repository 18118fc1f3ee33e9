"""From table entries to beliefs: for each action a normal distribution of its true value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whet.policies.arithmetic import effective_visits
from whet.policies.hierarchy import Known

Vector = npt.NDArray[np.float64]

# Standard deviation assumed for a value nobody has measured, in reward points. It only has to be of
# the order of the differences between actions; it stops mattering after the first visits.
PRIOR_SPREAD = 10.0
# Pseudo-observations behind the pooled noise; keeps a cell with two equal targets from being certain.
PRIOR_DEGREES = 2.0


@dataclass(frozen=True)
class Beliefs:
    """Means and standard errors, in the order of the actions."""

    means: Vector
    errors: Vector


def believe(known: Sequence[Known], rate: float) -> Beliefs:
    """What is believed of each action's true mean reward.

    Own experience: the Q-value, with the standard error of an exponential average.
    A borrowed value: itself, as uncertain as a guess. Nothing at all: the average of
    what is known here, and wide enough to be worth a try.
    """
    values = [k.value for k in known if k.value is not None]
    centre = float(np.mean(values)) if values else 0.0
    spread = max(PRIOR_SPREAD, float(np.ptp(values)) if values else 0.0)
    noise = _pooled_noise(known)
    means = [centre if k.value is None else k.value for k in known]
    errors = [_standard_error(k, noise, rate) if k.visits else spread for k in known]
    return Beliefs(np.array(means), np.array(errors))


def _pooled_noise(known: Sequence[Known]) -> float:
    """Variance of single targets, pooled over the actions of this state; half the prior until measured."""
    squares = sum(k.own.m2 for k in known if k.own is not None)
    degrees = sum(max(k.visits - 1, 0) for k in known)
    prior = (PRIOR_SPREAD / 2) ** 2
    return float((squares + PRIOR_DEGREES * prior) / (degrees + PRIOR_DEGREES))


def _standard_error(known: Known, pooled: float, rate: float) -> float:
    m2 = 0.0 if known.own is None else known.own.m2
    variance = (m2 + PRIOR_DEGREES * pooled) / (max(known.visits - 1, 0) + PRIOR_DEGREES)
    return float(np.sqrt(variance / effective_visits(known.visits, rate)))
