"""A/B comparisons of simulated runs, looked at 24 times: whet.improvement.proving.sequences, and a t-test beside it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whet.improvement.intervals import Matrix
from whet.improvement.proving.fixed import fixed_test
from whet.improvement.proving.sequences import Comparison, compare

UNITS, LOOKS, STEPS = 1200, 24, 10
_AT = [UNITS * (look + 1) // LOOKS for look in range(LOOKS)]
Arms = tuple[Matrix, Matrix]
Draw = Callable[[np.random.Generator], Arms]


class Peeked(NamedTuple):
    """Shares of the experiments in which a difference was found at any look."""

    always_valid: float
    t_test: float


def plain(rng: np.random.Generator) -> Arms:
    return rng.standard_normal(UNITS), rng.standard_normal(UNITS)


def better(rng: np.random.Generator) -> Arms:
    """Cohen's d = 0.2."""
    return rng.standard_normal(UNITS) + 0.2, rng.standard_normal(UNITS)


def clustered(rng: np.random.Generator) -> Arms:
    """Up to ten steps in a run, alike by half; a run is the mean of its steps."""
    return _runs(rng), _runs(rng)


def _runs(rng: np.random.Generator) -> Matrix:
    steps = rng.integers(1, STEPS + 1, size=UNITS)
    noise = np.sqrt(0.5) * rng.standard_normal((UNITS, STEPS))
    there = np.arange(STEPS) < steps[:, None]
    return np.asarray(np.sqrt(0.5) * rng.standard_normal(UNITS) + (noise * there).sum(axis=1) / steps)


def heavy(rng: np.random.Generator) -> Arms:
    """Student's t with 3 degrees of freedom."""
    return rng.standard_t(3, UNITS), rng.standard_t(3, UNITS)


def rare(rng: np.random.Generator) -> Arms:
    """One run in a hundred loses ten points."""
    first, second = rng.standard_normal((2, UNITS)) - 10.0 * (rng.random((2, UNITS)) < 0.01)
    return first, second


def binary(rng: np.random.Generator) -> Arms:
    first, second = (rng.random((2, UNITS)) < 0.9).astype(np.float64)
    return first, second


Method = Callable[[Matrix, Matrix], Comparison]


def peeked(draw: Draw, experiments: int, seed: int, method: Method = compare, *, only_better: bool = False) -> Peeked:
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(experiments):
        candidate, production = draw(rng)
        found += _ever(candidate, production, method, only_better)
    return Peeked(*(float(each) for each in found / experiments))


def _ever(candidate: Matrix, production: Matrix, method: Method, only_better: bool) -> tuple[bool, bool]:
    wanted = ("better",) if only_better else ("better", "worse")
    valid = any(method(candidate[:at], production[:at]).decided in wanted for at in _AT)
    naive = any((fixed_test(candidate[:at], production[:at]).p or 1.0) < 0.05 for at in _AT)
    return valid, naive
