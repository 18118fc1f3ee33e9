"""For how long a value lasts: neighbours in a stream that resemble each other make few independent values of many.

The integrated autocorrelation time, τ = 1 + 2 Σ ρ(h): a mean of n values is worth one of n / τ independent ones. The
sum ends where pairs of ρ are no longer positive (C. Geyer, "Practical Markov chain Monte Carlo", 1992). Values that
stay for weeks are seen by it, which the correlation of next neighbours alone does not tell.
"""

from collections.abc import Callable, Sequence

import numpy as np

_Correlation = Callable[[int], float]


def numbers_last(values: Sequence[float]) -> float:
    """At least 1; 1 for what never varied."""
    if len(set(values)) <= 1:  # asked of the values: their distances from a mean are rounded
        return 1.0
    apart = np.asarray(values, dtype=float) - np.mean(values)
    squares = float(apart @ apart)
    return _unbiased(lambda lag: float(apart[:-lag] @ apart[lag:]) / squares, len(apart))


def names_last(names: Sequence[str]) -> float:
    """The same, by how much oftener two names so far apart are equal than by chance."""
    if len(set(names)) <= 1:
        return 1.0
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    found = np.array([places[name] for name in names])
    chance = float(np.square(np.bincount(found) / len(found)).sum())
    return _unbiased(lambda lag: (float(np.mean(found[:-lag] == found[lag:])) - chance) / (1.0 - chance), len(found))


def _unbiased(correlation: _Correlation, count: int) -> float:
    """Around a mean that was estimated from the same values correlations come out too low, by about τ / n."""
    missing = min(0.5, _summed(correlation, count) / count)
    return _summed(lambda lag: correlation(lag) * (1.0 - missing) + missing * (1.0 - lag / count), count)


def _summed(correlation: _Correlation, count: int) -> float:
    total = -1.0
    for lag in range(0, count // 2 - 1, 2):
        pair = (correlation(lag) if lag else 1.0) + correlation(lag + 1)
        if pair <= 0.0:
            break
        total += 2.0 * pair
    return max(1.0, total)
