"""How low a mean can be, for numbers with a floor: proven by betting against it.

If the mean is at most m, no bet on "it is more" makes money on average: a wealth that begins at 1 and is multiplied
with 1 + λ (x − m) for each number x reaches 1/α with a probability of at most α, however often one looks (J. Ville
1939; as a bound: I. Waudby-Smith & A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024).
Nothing is assumed about the shape: rare large losses are what the floor is for. The bets are fixed fractions side by
side, so that the order of the numbers does not matter.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whet.improvement.intervals import Matrix

# Fractions of the largest bet that cannot lose everything. Few, since each costs a share of the wealth.
_FRACTIONS: npt.NDArray[np.float64] = np.geomspace(0.02, 0.98, 8)
_TOGETHER = 16
_HALVINGS = 24  # to a ten-millionth of the range


class Stake(NamedTuple):
    """Numbers whose mean is asked for, one per independent unit, and what none of them can fall below."""

    values: Matrix
    floor: float


def lower_bound(stakes: Sequence[Stake], alpha: float) -> float:
    """The mean is at least this with a confidence of 1 − α, at all looks at once.

    Several stakes are several cautious readings of the same units: whichever turns out best counts, and that several
    were tried is paid for, since their wealth is averaged.
    """
    low = min(stake.floor for stake in stakes)
    high = max(float(stake.values.mean()) for stake in stakes)
    if proven(stakes, high, alpha):  # values that never vary, at a height they cannot fall below
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if proven(stakes, middle, alpha) else (low, middle)
    return low


def proven(stakes: Sequence[Stake], mean: float, alpha: float) -> bool:
    """Whether the bets against "the mean is at most this" have won enough."""
    logs = np.concatenate([_log_wealth(stake, mean) for stake in stakes])
    largest = float(logs.max())
    if math.isinf(largest):
        return largest > 0.0
    return largest + math.log(float(np.exp(logs - largest).mean())) >= -math.log(alpha)


def _log_wealth(stake: Stake, mean: float) -> Matrix:
    if mean <= stake.floor:
        return np.full(len(_FRACTIONS), math.inf)  # what none can fall below, their mean cannot either
    gains = (stake.values - mean) / (mean - stake.floor)
    factors = 1.0 + _FRACTIONS[:, None] * gains[None, :]
    # Logarithms cost most of the time; products of a few factors are far from what a float can hold.
    return np.asarray(np.log(np.multiply.reduceat(factors, range(0, len(gains), _TOGETHER), axis=1)).sum(axis=1))
