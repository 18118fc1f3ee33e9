"""How likely a test is to fail, from its own past and what became of tests with a past like it.

A proportional hazard: the rate of its kind (how many runs since it failed last or was new, how often or how long it
failed) × a factor for how long it runs compared with the others × a factor of its own (its failures over those
expected of its kind). Learned from failing runs alone: in a green run every order is equally good, and counting those
would drown the few that matter. Everything starts from a power law, which holds until much was seen.
"""

import numpy as np

from whet.skills.ordering.columns import Column, Columns, Flags, Places

_AGES = np.array([1, 2, 3, 5, 9, 17, 33, 65, 129, 257])
_TYPICAL_AGE = np.array([0, 1, 2, 4, 7, 12, 24, 48, 96, 180, 400.0])
_REPEATS = np.array([2, 4])  # failed once, up to three times, more often
_KINDS_NEVER = len(_TYPICAL_AGE)
_REPEAT_FACTORS = np.array([0.8, 1.0, 1.2])
NEW_RATE, FAILED_RATE, POWER = 0.3, 0.6, 0.8
PRIOR_RUNS = 60.0  # the power law weighs as much as this many tests of a kind
OWN_PRIOR = 1.0  # and a test's own factor starts with one failure of one expected
LENGTHS = 5
_LENGTH_PRIOR = 2.0
_FEWEST = 5  # with fewer tests in a run, short and long say little


def _first_rates() -> Column:
    law = (1.0 + _TYPICAL_AGE) ** -POWER
    failed = (FAILED_RATE * law)[:, None] * _REPEAT_FACTORS
    return np.concatenate([NEW_RATE * law, failed.ravel()])


class Hazard:
    def __init__(self) -> None:
        rates = _first_rates()
        self.failed, self.ran = rates * PRIOR_RUNS, np.full(len(rates), PRIOR_RUNS)
        self.length_failed, self.length_expected = np.full(LENGTHS, _LENGTH_PRIOR), np.full(LENGTHS, _LENGTH_PRIOR)

    def probabilities(self, columns: Columns, at: Places) -> Column:
        """Comparable within one run; at most one."""
        own = (columns.surprise[at] + OWN_PRIOR) / (columns.expected[at] + OWN_PRIOR)
        length = (self.length_failed / self.length_expected)[_lengths(columns, at)]
        likely: Column = np.minimum(1.0, self._rates(columns, at) * own * length)
        return likely

    def learn(self, columns: Columns, at: Places, failed: Flags) -> None:
        """From a run with a failure, before the columns know of it."""
        kinds, rates = _kinds(columns, at), self._rates(columns, at)
        np.add.at(self.failed, kinds, failed)
        np.add.at(self.ran, kinds, 1.0)
        np.add.at(columns.surprise, at, failed)
        np.add.at(columns.expected, at, rates)
        if len(at) >= _FEWEST:
            # One run counts once, however many of its tests one cause made fail.
            lengths, share = _lengths(columns, at), 1.0 / failed.sum()
            np.add.at(self.length_failed, lengths, failed * share)
            np.add.at(self.length_expected, lengths, rates / rates.sum())

    def _rates(self, columns: Columns, at: Places) -> Column:
        kinds = _kinds(columns, at)
        rates: Column = self.failed[kinds] / self.ran[kinds]
        return rates


def _kinds(columns: Columns, at: Places) -> Places:
    runs, failures, streak = columns.runs[at], columns.failures[at], columns.streak[at]
    never = np.searchsorted(_AGES, columns.met[at], side="right")
    since = np.searchsorted(_AGES, runs - columns.failed_run[at], side="right")
    repeats = np.searchsorted(_REPEATS, np.where(streak > 0, streak, failures), side="right")
    return np.where(failures == 0, never, _KINDS_NEVER + since * len(_REPEAT_FACTORS) + repeats)


def _lengths(columns: Columns, at: Places) -> Places:
    """Which fifth of this run's tests it is in, by its mean duration; tests without one lie in the middle."""
    mean = columns.mean_seconds[at].copy()
    timed = columns.timed[at] > 0
    if timed.any():
        mean[~timed] = float(np.median(mean[timed]))
    rank = np.empty(len(at))
    rank[np.argsort(mean, kind="stable")] = np.arange(len(at))
    return np.minimum((rank + 0.5) / len(at) * LENGTHS, LENGTHS - 1).astype(np.intp)
