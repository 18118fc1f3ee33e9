"""Which memories are right? Each way to take them is a guess about this place, and the guesses are weighed by how well
they foretold what was then seen: Bayesian model averaging (Hoeting et al., 1999), from what the tables hold.

- nothing: what is remembered is of another world;
- like: states like this one paid so, and this one pays alike, on a level of its own;
- same: this very state paid so, and still does. Whether it does is one question for all states of a project.

A guess that was wrong about what was tried is soon worth nothing, one that was right is soon believed about the rest.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from whet.policies.beliefs import Beliefs, Vector
from whet.policies.confidence import Flags

# How far states differ in what they pay whatever is done, in reward points; it only has to be large.
LEVEL_POINTS = 20.0
# Guesses that are so much less likely than the best are no longer asked.
LEAST_WEIGHT = 1e-4


class View(NamedTuple):
    """One guess: its weight, how well it foretold what was seen (a logarithm), what is believed if it is right, which
    actions were never tried then, and whether memories count in it."""

    weight: float
    evidence: float
    beliefs: Beliefs
    untried: Flags
    reminded: bool = True


class Seen(NamedTuple):
    """Of each action, the mean of what it paid here and the variance of that mean; NaN where it was not tried."""

    means: Vector
    variances: Vector


def log_evidence(seen: Seen, told: Beliefs, level: float = 0.0) -> float:
    """How likely what was seen was by what was told, which may be off by a level that all actions share."""
    tried = ~np.isnan(seen.means)
    apart = (seen.means - told.means)[tried]
    variances = seen.variances[tried] + told.errors[tried] ** 2
    weights, shared = 1.0 / variances, level**2
    common = 1.0 + shared * weights.sum()
    distance = (weights * apart**2).sum() - shared * (weights * apart).sum() ** 2 / common
    return float(-0.5 * (distance + np.log(variances).sum() + np.log(common)))


def posterior(views: Sequence[View]) -> list[View]:
    """Their weights were odds beforehand; with the evidence they are probabilities."""
    odds = np.log([view.weight for view in views]) + np.array([view.evidence for view in views])
    weights = np.exp(odds - odds.max())
    weights = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    told = zip(views, weights / weights.sum(), strict=True)
    return [view._replace(weight=float(weight)) for view, weight in told if weight]


def mixed(views: Sequence[View], of: Callable[[View], Vector]) -> Vector:
    """Each view's numbers by its weight."""
    return np.asarray(sum(view.weight * of(view) for view in views))


def averaged(views: Sequence[View]) -> Beliefs:
    """Means and errors of all views together."""
    if len(views) == 1:
        return views[0].beliefs
    means = mixed(views, lambda view: view.beliefs.means)
    squares = mixed(views, lambda view: view.beliefs.errors**2 + (view.beliefs.means - means) ** 2)
    return Beliefs(means, np.sqrt(squares))
