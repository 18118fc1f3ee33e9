"""Would the candidate have earned more? From decisions that production took, with the probabilities it took them with.

For each logged decision, with p and e the chances that production and candidate run each action, q̂ a guess of what each
action earns (made from other runs), w = e/p and r what was earned, the candidate's gain is

    Σ_a (e(a) − p(a)) q̂(a) + (w − 1) (r − q̂)

whose mean is the true difference, whatever the guess (doubly robust: M. Dudík, J. Langford, L. Li 2011; here for the
difference, in which everything that the two have in common cancels). Runs are the units: a run's gain is the mean of
its decisions' gains. Where w is larger than a cap, or production never ran the action, the part beyond counts as if it
earned the least there is: too low, never too high. How low the mean gain can be is found by betting (`betting`), which
needs no normal distribution. States are taken as production met them: what a decision changes in later ones does not
count.

Production learns and explores, so that its chances in one state change from run to run, and an action may have none
today that had some yesterday. p is therefore its mean over all decisions in that state: the log as one mixture of
loggers (A. Agarwal et al., "Effective evaluation using logged bandit feedback from multiple loggers", KDD 2017), and
the gain is over what production did there on the whole.
"""

import math
from typing import NamedTuple

import numpy as np

from whet.core.errors import RefusedInput
from whet.core.text import number_of
from whet.improvement.intervals import Matrix
from whet.improvement.proving.betting import Stake, lower_bound
from whet.improvement.proving.guessing import Whole, guesses

FEWEST_EFFECTIVE = 200.0
# A small cap wastes what rare actions say, a large one lets one decision weigh too much; each is one reading.
CAPS = (4.0, 12.0, 40.0)
_ROUNDING = 1e-6


class Logged(NamedTuple):
    """One row per decision; one column of the chances per action. NaN where a number is missing."""

    runs: Whole
    states: Whole
    actions: Whole
    rewards: Matrix
    production: Matrix
    candidate: Matrix


class Range(NamedTuple):
    """What a reward can be."""

    low: float
    high: float


class Evidence(NamedTuple):
    """`lower` is None while nothing can be said, and `why` tells the reason. The bounds hold with `level`, which is
    stricter the more candidates were tried on the same runs."""

    decisions: int
    runs: int
    effective: float | None
    estimate: float | None
    lower: float | None
    upper: float | None
    level: float
    tried: int
    unseen: float | None  # share of the candidate's decisions that say too little: production (nearly) never took them
    why: str


def evidence(
    logged: Logged, reward: Range, tried: int = 1, level: float = 0.95, fewest: float = FEWEST_EFFECTIVE
) -> Evidence:
    """Candidate − production. `tried` counts the candidates judged with these runs, this one included."""
    alpha = spent(tried, 1.0 - level)
    rows, runs = len(logged.rewards), len(np.unique(logged.runs))
    problem = _problem(logged, reward)
    if problem is not None:
        return Evidence(rows, runs, None, None, None, None, 1.0 - alpha, tried, None, problem)
    logged = _mixed(logged)
    ratios = _ratios(logged)
    effective = _effective(logged, ratios)
    guessed = guesses(logged.runs, logged.states, logged.actions, logged.rewards, ratios.shape[1])
    readings = [_gains(logged, reward, ratios, guessed, cap) for cap in _telling(ratios)]
    unseen = float(np.where(ratios > CAPS[-1], logged.candidate, 0.0).sum(axis=1).mean())
    estimate = float(readings[-1].gains.values.mean())
    found = Evidence(rows, runs, effective, estimate, None, None, 1.0 - alpha, tried, unseen, "")
    if effective < fewest:
        worth = number_of(math.floor(effective), "run")
        return found._replace(why=f"the log is worth {worth}, and {fewest:.0f} are needed")
    lower = lower_bound([each.gains for each in readings], alpha)
    upper = -lower_bound([readings[-1].losses], alpha) if unseen == 0.0 else None
    return found._replace(lower=lower, upper=upper)


def spent(tried: int, alpha: float) -> float:
    """The chance of an error that the k-th candidate may have: α / (k (k + 1)) adds up to α over all that ever come."""
    if tried < 1 or not 0.0 < alpha < 1.0:
        raise RefusedInput(
            f"Candidate number {tried} on these runs, at an error of {alpha}.",
            "Count from 1; give a level such as 0.95.",
        )
    return alpha / (tried * (tried + 1))


def _problem(logged: Logged, reward: Range) -> str | None:
    rows = np.arange(len(logged.rewards))
    if not len(rows):
        return "there are no decisions to judge it by"
    if not (np.isfinite(logged.production).all() and np.isfinite(logged.candidate).all()):
        return "some probabilities are missing"
    if not np.isfinite(logged.rewards).all():
        return "some rewards are missing or not finite"
    if not all(_chances(each) for each in (logged.production, logged.candidate)):
        return "some probabilities do not add up to one"
    if (logged.production[rows, logged.actions] <= 0.0).any():
        return "some decisions were taken with a probability of zero"
    if not (math.isfinite(reward.low) and math.isfinite(reward.high) and reward.low < reward.high):
        return "it is not known what a reward can be"
    outside = (logged.rewards < reward.low) | (logged.rewards > reward.high)
    if outside.any():
        return f"a reward of {logged.rewards[outside][0]:.6g} is outside {reward.low:.6g} to {reward.high:.6g}"
    return None


def _chances(each: Matrix) -> bool:
    return bool((each >= 0.0).all() and (np.abs(each.sum(axis=1) - 1.0) < _ROUNDING).all())


def _mixed(logged: Logged) -> Logged:
    """With production's mean chances in each state."""
    _, place = np.unique(logged.states, return_inverse=True)
    count = np.bincount(place)
    means = [np.bincount(place, weights=column) / count for column in logged.production.T]
    return logged._replace(production=np.stack(means, axis=1)[place])


def _ratios(logged: Logged) -> Matrix:
    """e/p by decision and action; infinite where only the candidate would go."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = logged.candidate / logged.production
    return np.where(np.isnan(ratios), 0.0, ratios)


def _effective(logged: Logged, ratios: Matrix) -> float:
    """How many equally weighted runs would say as much (L. Kish 1965)."""
    weights = _by_run(ratios[np.arange(len(ratios)), logged.actions], logged.runs)
    total = float(weights.sum())
    return total * total / float((weights * weights).sum()) if total > 0.0 else 0.0


def _telling(ratios: Matrix) -> tuple[float, ...]:
    """Caps that cap nothing all read the same; one of them is enough."""
    needed = sum(bool((ratios > cap).any()) for cap in CAPS)
    return CAPS[: needed + 1]


class _Reading(NamedTuple):
    gains: Stake
    losses: Stake  # the same, with the other sign


def _gains(logged: Logged, reward: Range, ratios: Matrix, guessed: Matrix, cap: float) -> _Reading:
    """Everything as points above the least reward, which cancels in the difference."""
    width, rows = reward.high - reward.low, np.arange(len(ratios))
    above = np.where(ratios > cap, 0.0, np.clip(guessed - reward.low, 0.0, width))
    excess = np.minimum(ratios, cap) - 1.0
    expected = ((logged.candidate - logged.production) * above).sum(axis=1)
    surprise = logged.rewards - reward.low - above[rows, logged.actions]
    values = expected + excess[rows, logged.actions] * surprise
    extremes = np.stack((excess * -above, excess * (width - above)))  # of the least and the most that r can be
    possible = logged.production > 0.0
    least = expected + np.where(possible, extremes.min(axis=0), math.inf).min(axis=1)
    most = expected + np.where(possible, extremes.max(axis=0), -math.inf).max(axis=1)
    means, floors, ceilings = (_by_run(each, logged.runs) for each in (values, least, most))
    return _Reading(Stake(means, float(floors.min())), Stake(-means, float(-ceilings.max())))


def _by_run(values: Matrix, runs: Whole) -> Matrix:
    """Mean over each run's decisions."""
    _, place = np.unique(runs, return_inverse=True)
    return np.asarray(np.bincount(place, weights=values) / np.bincount(place))
