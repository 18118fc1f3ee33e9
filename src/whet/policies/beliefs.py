"""From table entries to beliefs: for each action a normal distribution of its true value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whet.core.ports import Entry
from whet.policies.arithmetic import effective_visits
from whet.policies.hierarchy import Known

Vector = npt.NDArray[np.float64]

# Standard deviation assumed for a value nobody has measured, in reward points. It only has to be of
# the order of the differences between actions; it stops mattering after the first visits.
PRIOR_SPREAD = 10.0
# Pseudo-observations behind the pooled noise; keeps a cell with two equal targets from being certain.
PRIOR_DEGREES = 2.0
# Few visits deserve heavier tails than a normal distribution has: the error is widened by 1 + 2/n, about as much as
# Student's t is at 95 %. Without it one unlucky first visit can bar a good action for good.
SMALL_SAMPLE = 2.0
# A Q-value further than this many standard errors from the mean of all targets says that things have changed.
DRIFT_ERRORS = 3.0
# How far a project or a state as a whole may lie above or below what was learned elsewhere, in reward points.
LEVEL_POINTS = 10.0


@dataclass(frozen=True)
class Beliefs:
    """Means and standard errors, in the order of the actions."""

    means: Vector
    errors: Vector


def believe(known: Sequence[Known], rate: float) -> Beliefs:
    """What is believed of each action's true mean reward.

    Own experience: the mean of all targets while the Q-value, which forgets, agrees with it; the Q-value, with the
    larger error of an exponential average, once things have changed. A borrowed value: itself, as uncertain as a
    guess. Nothing at all: the average of what is known here, and wide enough to be worth a try.
    """
    values = [k.value for k in known if k.value is not None]
    centre = float(np.mean(values)) if values else 0.0
    spread = max(PRIOR_SPREAD, float(np.ptp(values)) if values else 0.0)
    noise = _pooled_noise(known)
    believed = [_own(k.own, noise, rate) if k.own is not None and k.visits else None for k in known]
    guesses = [(centre if k.value is None else k.value, spread) for k in known]
    means, errors = zip(*(own or guess for own, guess in zip(believed, guesses, strict=True)), strict=True)
    return Beliefs(np.array(means), np.array(errors))


def _pooled_noise(known: Sequence[Known]) -> float:
    """Variance of single targets, pooled over the actions of this state; half the prior until measured."""
    squares = sum(k.own.m2 for k in known if k.own is not None)
    degrees = sum(max(k.visits - 1, 0) for k in known)
    prior = (PRIOR_SPREAD / 2) ** 2
    return float((squares + PRIOR_DEGREES * prior) / (degrees + PRIOR_DEGREES))


def _own(entry: Entry, pooled: float, rate: float) -> tuple[float, float]:
    """Mean and standard error of one cell's value."""
    variance = (entry.m2 + PRIOR_DEGREES * pooled) / (entry.visits - 1 + PRIOR_DEGREES)
    width = (1.0 + SMALL_SAMPLE / entry.visits) * np.sqrt(variance)
    recent_error = float(width / np.sqrt(effective_visits(entry.visits, rate)))
    if abs(entry.q_value - entry.mean) > DRIFT_ERRORS * recent_error:
        return entry.q_value, recent_error
    return entry.mean, float(width / np.sqrt(entry.visits))


def together(learned: Beliefs, known: Sequence[Known], rate: float, level_points: float = LEVEL_POINTS) -> Beliefs:
    """Own experience, weighed against what was learned elsewhere, moved to the level that own experience shows here."""
    own, visited = believe(known, rate), np.array([k.visits > 0 for k in known])
    means = learned.means + (_level(learned, own, visited, level_points) if visited.any() else 0.0)
    trust = np.where(visited, learned.errors**2 / (learned.errors**2 + own.errors**2), 0.0)
    errors = np.where(visited, np.sqrt(trust) * own.errors, learned.errors)
    return Beliefs(means + trust * (own.means - means), errors)


def _level(learned: Beliefs, own: Beliefs, visited: Vector, level_points: float) -> float:
    """How much better or worse it is here than where it was learned: the same for every action."""
    weights = visited / (learned.errors**2 + own.errors**2)
    apart = float((weights * (own.means - learned.means)).sum())
    return apart / float(weights.sum() + level_points**-2)
