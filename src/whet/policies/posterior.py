"""Probabilities under normal beliefs: of being the best, and of being good enough."""

from functools import cache

import numpy as np

from whet.policies.beliefs import Beliefs, Vector

# Points per action in units of its standard error; the union over all actions resolves every scale.
_OFFSETS = np.linspace(-6.0, 6.0, 61)
_TINY = 1e-9
_JOINT_DRAWS = 512


def normal_cdf(x: Vector) -> Vector:
    """Φ by Abramowitz & Stegun 7.1.26; absolute error below 1.5e-7."""
    z = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = 1.0 - poly * np.exp(-z * z)
    return np.asarray(0.5 * (1.0 + np.sign(x) * erf))


def best_probabilities(beliefs: Beliefs) -> Vector:
    """P(action i has the largest draw): ∫ f_i(x) Π_{j≠i} F_j(x) dx, numerically. Sums to one.

    This is the probability with which Thompson sampling takes each action.
    """
    means, errors = beliefs.means, np.maximum(beliefs.errors, _TINY)
    grid = np.unique((means[:, None] + errors[:, None] * _OFFSETS).ravel())
    cdf = normal_cdf((grid[None, :] - means[:, None]) / errors[:, None])
    mass = np.diff(cdf, axis=1)
    middle = (cdf[:, 1:] + cdf[:, :-1]) / 2.0
    others = np.stack([np.prod(np.delete(middle, i, axis=0), axis=0) for i in range(len(means))])
    probabilities = np.maximum((mass * others).sum(axis=1), _TINY)
    return np.asarray(probabilities / probabilities.sum())


def good_enough_probabilities(beliefs: Beliefs, tolerance: float = 0.05) -> Vector:
    """P(action i is within `tolerance` of the best), over joint draws of all actions' values."""
    draws = beliefs.means + beliefs.errors * _standard_draws(len(beliefs.means))
    best = draws.max(axis=1, keepdims=True)
    return np.asarray((draws >= best - tolerance * np.abs(best)).mean(axis=0))


@cache
def _standard_draws(actions: int) -> Vector:
    """The same numbers each time: equal beliefs give equal confidence."""
    return np.random.default_rng(20250115).standard_normal((_JOINT_DRAWS, actions))
