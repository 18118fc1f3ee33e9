"""How good an order of tests was, once its verdicts are known. Pure functions of columns in the order of execution.

n executions, m of them failing, T seconds in all. Without a failure, or without an execution, there is nothing to
measure and the answer is NaN: every order would be as good as any other.

APFD: Rothermel et al., "Prioritizing test cases for regression testing", 2001. APFDc: Elbaum et al., "Incorporating
varying test costs and fault severities into test case prioritization", 2001. NAPFD: Qu et al., "Combinatorial
interaction regression testing", 2007, with the walk of Spieker et al., "Reinforcement learning for automatic test
case prioritization and selection in continuous integration", 2017.
"""

import math
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Seconds = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
# Sums of durations that should just fit differ from the budget by rounding alone.
_ROUNDING_SECONDS = 1e-9


def runs_within(seconds_in_order: Seconds, budget_seconds: float) -> Flags:
    """Which executions run: one that does not fit any more is passed over, and the walk goes on behind it."""
    used, runs = 0.0, np.zeros(len(seconds_in_order), dtype=np.bool_)
    for place, seconds in enumerate(seconds_in_order.tolist()):
        if used + seconds <= budget_seconds + _ROUNDING_SECONDS:
            used += seconds
            runs[place] = True
    return runs


def runs_within_share(seconds_in_order: Seconds, budget_share: float) -> Flags:
    """The same with the budget as a share of T; the whole of it runs everything."""
    if budget_share >= 1.0:
        return np.ones(len(seconds_in_order), dtype=np.bool_)
    return runs_within(seconds_in_order, budget_share * total_seconds(seconds_in_order))


def napfd(seconds_in_order: Seconds, failed_in_order: Flags, budget_share: float) -> float:
    """p − Σ ranks of the failures that ran ÷ (m n) + p ÷ (2 n), where p is the share of failures that ran and ranks
    count only what ran."""
    m, n = int(failed_in_order.sum()), len(failed_in_order)
    if not m:
        return math.nan
    ranks = np.flatnonzero(failed_in_order[runs_within_share(seconds_in_order, budget_share)]) + 1
    p = len(ranks) / m
    return p - int(ranks.sum()) / (m * n) + p / (2 * n)


def recall(seconds_in_order: Seconds, failed_in_order: Flags, budget_share: float) -> float:
    """The share of failures that ran within the budget."""
    m = int(failed_in_order.sum())
    if not m:
        return math.nan
    return int(failed_in_order[runs_within_share(seconds_in_order, budget_share)].sum()) / m


def apfd(failed_in_order: Flags) -> float:
    """1 − Σ ranks of failures ÷ (m n) + 1 ÷ (2 n)."""
    return napfd(np.zeros(len(failed_in_order)), failed_in_order, 1.0)


def apfdc(seconds_in_order: Seconds, failed_in_order: Flags) -> float:
    """Σ over failures of (seconds from its start to the end − half its own) ÷ (T m); where T is 0, APFD."""
    m, whole = int(failed_in_order.sum()), total_seconds(seconds_in_order)
    if not m or not whole:
        return apfd(failed_in_order)
    to_the_end = whole - (_ended_seconds(seconds_in_order) - seconds_in_order)
    return math.fsum((to_the_end - seconds_in_order / 2)[failed_in_order]) / (whole * m)


def failure_rank_share(failed_in_order: Flags, which: int = 1) -> float:
    """The rank of the first (second, …) failure ÷ n; NaN when there are fewer. −1: the last."""
    place = _place(failed_in_order, which)
    return math.nan if place is None else (place + 1) / len(failed_in_order)


def failure_time_share(seconds_in_order: Seconds, failed_in_order: Flags, which: int = 1) -> float:
    """Seconds until the first (second, …) failure has ended ÷ T; where T is 0, its rank ÷ n."""
    place, whole = _place(failed_in_order, which), total_seconds(seconds_in_order)
    if place is None or not whole:
        return failure_rank_share(failed_in_order, which)
    return float(_ended_seconds(seconds_in_order)[place]) / whole


def total_seconds(seconds: Seconds) -> float:
    """T, the same in whatever order it is added up."""
    return math.fsum(seconds.tolist())


def best_order(seconds: Seconds, failed: Flags) -> npt.NDArray[np.intp]:
    """Positions of the order no other is better than by any of these measures: failures first, the short ones first."""
    return np.lexsort((seconds, ~failed))


def _ended_seconds(seconds_in_order: Seconds) -> Seconds:
    return np.fromiter(accumulate(seconds_in_order.tolist()), np.float64, len(seconds_in_order))


def _place(failed_in_order: Flags, which: int) -> int | None:
    places = np.flatnonzero(failed_in_order)
    if not 1 <= abs(which) <= len(places):
        return None
    return int(places[which - 1 if which > 0 else which])
