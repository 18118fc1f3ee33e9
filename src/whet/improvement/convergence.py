"""Has an agent's learning settled? S2's four criteria over its last ten learning statistics, and its advice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

WINDOW: Final = 10
# A mean of fewer known values than this says nothing about the ten.
_FEWEST_KNOWN: Final = 5
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Limits:
    """What counts as settled; the table [tool.whet.convergence]."""

    q_value_change: float = 0.01
    reward_deviation: float = 5.0
    success: float = 0.85
    exploration: float = 0.05


class Criterion(NamedTuple):
    """`met` is None when what it needs is not known."""

    name: str
    value: float | None
    met: bool | None
    sentence: str


class Convergence(NamedTuple):
    agent: str
    converged: bool
    criteria: tuple[Criterion, ...]  # none while there is too little data
    advice: str


def convergence(agent: str, rows: Sequence[Row], limits: Limits | None = None) -> Convergence:
    """Of the agent's learning statistics, oldest first, as `store.runs.learning(agent)` gives them."""
    if len(rows) < WINDOW:
        told = f"Not enough data: {len(rows)} of {WINDOW} runs. Continue learning."
        return Convergence(agent, False, (), told)
    criteria = _criteria(rows[-WINDOW:], limits or Limits())
    return Convergence(agent, all(each.met for each in criteria), criteria, _advice(criteria))


def _criteria(rows: Sequence[Row], limits: Limits) -> tuple[Criterion, ...]:
    return (
        _below("value change", _mean(rows, "avg_q_value_change"), limits.q_value_change),
        _below("reward deviation", _deviation(rows), limits.reward_deviation),
        _above("success", _mean(rows, "success_rate"), limits.success),
        _below("exploration", _mean(rows, "exploration_rate"), limits.exploration),
    )


def _below(name: str, value: float | None, limit: float) -> Criterion:
    return _criterion(name, value, None if value is None else value < limit, f"below {limit:g}")


def _above(name: str, value: float | None, limit: float) -> Criterion:
    return _criterion(name, value, None if value is None else value > limit, f"above {limit:g}")


def _criterion(name: str, value: float | None, met: bool | None, wanted: str) -> Criterion:
    if value is None:
        return Criterion(name, None, None, f"{name} is not known; it must be {wanted}")
    return Criterion(name, value, met, f"{name} is {value:.3g}; {'it is' if met else 'it must be'} {wanted}")


def _advice(criteria: Sequence[Criterion]) -> str:
    """In S2's order; what is unknown comes before what is nearly there."""
    change, deviation, success, exploration = criteria
    if all(each.met for each in criteria):
        return "Learning has converged. Ready for production."
    if success.met is False:
        return "Performance does not meet its target. Review the reward weights."
    if exploration.met is False:
        return "Still exploring. Let epsilon fall faster, or wait."
    if deviation.met is False:
        return "Rewards vary a lot. Check that the machine and the suite are stable."
    unknown = [each.name for each in criteria if each.met is None]
    if unknown:
        return f"Continue learning: {' and '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not known yet."
    return f"Continue learning; convergence is near: {change.sentence}."


def _mean(rows: Sequence[Row], name: str) -> float | None:
    """Weighted by the decisions of each run: a run with one of them says less than one with three."""
    known = [(value, _weight(row)) for row in rows if (value := _number(row, name)) is not None]
    weight = sum(each for _, each in known)
    if len(known) < _FEWEST_KNOWN or not weight:
        return None
    return math.fsum(value * each for value, each in known) / weight


def _deviation(rows: Sequence[Row]) -> float | None:
    """The standard deviation of all rewards in the ten runs, put together from each run's own and the runs' means.

    S2 averages the deviations within runs; most runs have one decision of an agent, and so none within.
    """
    counts = [_weight(row) for row in rows]
    means = [_number(row, "avg_episode_reward") for row in rows]
    within = [
        0.0 if count == 1 else _number(row, "std_episode_reward") for row, count in zip(rows, counts, strict=True)
    ]
    known = [
        (count, mean, own)
        for count, mean, own in zip(counts, means, within, strict=True)
        if mean is not None and own is not None and count
    ]
    total = sum(count for count, _, _ in known)
    if len(known) < _FEWEST_KNOWN or total < 2:
        return None
    centre = math.fsum(count * mean for count, mean, _ in known) / total
    squares = math.fsum((count - 1) * own**2 + count * (mean - centre) ** 2 for count, mean, own in known)
    return math.sqrt(squares / (total - 1))


def _weight(row: Row) -> int:
    return int(_number(row, "episodes_completed") or 0)


def _number(row: Row, name: str) -> float | None:
    """None also for what is no finite number: rows come from a store that others can write to."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e300 < value < 1e300:
        return None
    return float(value)
