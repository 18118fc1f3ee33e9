"""Is stated confidence what it says? By tenths: the mean confidence, the share that was right, and what chance does.

Decisions are no independent sample. Whether an action is right in a state is one fact, however often it is decided on:
a thousand decisions on one state test confidence a few times, not a thousand. So beside each error stands the one that
a perfectly calibrated policy would show by chance, with one fact for each state and action.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import Field

from whet.core.records import Record
from whet.improvement.intervals import Matrix

Whole = npt.NDArray[np.int64]
BINS = 10


class Reliability(Record):
    """Decisions whose stated confidence lay in one tenth: how many, their mean confidence, the share that was right."""

    decisions: int
    independent: float = Field(description="how many decisions on facts of their own would tell as much (Kish, 1965)")
    confidence: float
    right: float


def reliability(confidence: Matrix, right: Matrix, facts: Whole | None = None) -> tuple[Reliability, ...]:
    """By tenth of stated confidence; an empty one has nothing to say, and is left out.

    `facts` says which decisions are right or wrong together; None: each is a fact of its own.
    """
    tenths = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    alone = np.arange(len(confidence)) if facts is None else facts
    there = [tenths == each for each in range(BINS)]
    return tuple(_in_one_tenth(confidence[at], right[at], alone[at]) for at in there if at.any())


def _in_one_tenth(confidence: Matrix, right: Matrix, facts: Whole) -> Reliability:
    times = np.unique(facts, return_counts=True)[1].astype(np.float64)
    return Reliability(
        decisions=len(confidence),
        independent=float(times.sum() ** 2 / (times**2).sum()),
        confidence=float(confidence.mean()),
        right=float(right.mean()),
    )


def calibration_error(confidence: Matrix, right: Matrix) -> float:
    """Expected calibration error: mean gap between stated confidence and share of right decisions, by tenth."""
    return expected_error(reliability(confidence, right))


def expected_error(told: Sequence[Reliability]) -> float:
    total = sum(each.decisions for each in told)
    return sum(each.decisions * abs(each.confidence - each.right) for each in told) / total


def chance_error(told: Sequence[Reliability]) -> float:
    """The error to expect of a policy whose confidence is exactly right, on as many facts."""
    total = sum(each.decisions for each in told)
    return sum(each.decisions * _mean_deviation(each.confidence, round(each.independent)) for each in told) / total


def _mean_deviation(chance: float, times: int) -> float:
    """E|share − chance| of that many independent tries, by de Moivre (Diaconis & Zabell, 1991)."""
    inside = min(max(chance, 1e-9), 1.0 - 1e-9)
    above = math.floor(times * inside) + 1
    ways = math.lgamma(times + 1) - math.lgamma(above + 1) - math.lgamma(times - above + 1)
    odds = above * math.log(inside) + (times - above + 1) * math.log1p(-inside)
    return 2.0 * above / times * math.exp(ways + odds)


def pooled(several: Sequence[Sequence[Reliability]]) -> tuple[Reliability, ...]:
    """What several worlds say together: a policy that is too sure here and too modest there is well calibrated."""
    found: dict[int, list[Reliability]] = {}
    for each in (each for told in several for each in told):
        found.setdefault(min(int(each.confidence * BINS), BINS - 1), []).append(each)
    return tuple(_merged(found[place]) for place in sorted(found))


def _merged(alike: Sequence[Reliability]) -> Reliability:
    counts = np.array([each.decisions for each in alike], dtype=np.float64)
    alone = np.array([each.independent for each in alike])
    return Reliability(
        decisions=int(counts.sum()),
        independent=float(counts.sum() ** 2 / (counts**2 / alone).sum()),
        confidence=float(np.average([each.confidence for each in alike], weights=counts)),
        right=float(np.average([each.right for each in alike], weights=counts)),
    )
