"""The experts: ways to order one run's tests. Each gives a score per test, the highest first.

The learned ones take the likeliest tests first, as far as they fit into half of the expected time, and put what does
not fit behind, by failures per second. They differ in how much an expected second counts among the likely ones.
"""

from typing import NamedTuple

import numpy as np

from whet.skills.ordering.columns import Column, Columns, Flags, Places
from whet.skills.ordering.hazard import Hazard

# How much a second counts, as a power; in the name of the expert.
LIKELIEST = "learned"
SECONDS_POWERS = {LIKELIEST: 0.0, "learned^.03": 0.03, "learned^.3": 0.3, "learned^1": 1.0}
HEURISTICS = ("recently failed", "decayed failures", "decayed failures per second", "failure rate", "co-failures")
NEAR = ("near the change",)
PRIORS = {**dict.fromkeys(SECONDS_POWERS, 0.247), **dict.fromkeys((*HEURISTICS, *NEAR), 0.002)}

_DECAY_SHARE, _LEAST = 0.8, 1e-3
LIKELY, SURE = 0.3, 0.5
_NEAR_POWER = 0.5  # for what is only near the change: there, many tests are about as likely, and few seconds find out
_FIRST_PART = 0.5  # of the expected time goes to the likeliest
_FORGIVEN_FLAKES = 1.0
# What a selection leaves out is not known to pass: each time, its chance is taken to be a little higher.
_CURIOSITY_STEP, _CURIOSITY = 0.02, 0.2


class View(NamedTuple):
    """What the experts see of one run's tests before it starts."""

    probability: Column  # of failing, by history and by the change together
    evidence: Column  # how recent the failures are, 0 to 1; or how near the change
    seconds: Column  # expected
    nearness: Column | None  # NaN: not known
    sheets_since_failure: Column
    decayed: Column
    rate: Column
    company: Column  # how often it failed together with those that failed last
    by_change: Flags  # the change says more about it than its past
    selecting: bool  # some were left out lately: what comes late does not run at all


def view(columns: Columns, hazard: Hazard, at: Places, sheet: int, nearness: Column | None, company: Column) -> View:
    probability = _by_history(columns, hazard, at)
    evidence, by_change = columns.fast[at], np.zeros(len(at), dtype=bool)
    unknown = np.minimum(_CURIOSITY, _CURIOSITY_STEP * columns.passed_over[at])
    probability = 1 - (1 - probability) * (1 - unknown)
    if nearness is not None:
        near = np.nan_to_num(nearness)
        by_change = near > probability
        probability = 1 - (1 - probability) * (1 - near)
        evidence = np.maximum(evidence, near)
    failed_sheet, runs = columns.failed_sheet[at], columns.runs[at]
    since = np.where(failed_sheet < 0, np.where(runs == 0, 0.0, np.inf), sheet - failed_sheet)
    rate = (columns.failures[at] + 1) / (runs + 2)
    seconds, selecting = expected_seconds(columns, at), bool(unknown.any())
    return View(probability, evidence, seconds, nearness, since, columns.slow[at], rate, company, by_change, selecting)


def _by_history(columns: Columns, hazard: Hazard, at: Places) -> Column:
    """Between what tests like it do and what it did lately; less where its failures came and went on equal code."""
    model = hazard.probabilities(columns, at)
    decayed = np.minimum(1.0, columns.slow[at] + _LEAST)
    failures = columns.failures[at]  # a failure that came and went is two changes, and one failure not to trust
    trusted = 1 - np.minimum(columns.flakes[at], failures) / (failures + _FORGIVEN_FLAKES)
    together: Column = model ** (1 - _DECAY_SHARE) * decayed**_DECAY_SHARE * trusted
    return together


def expected_seconds(columns: Columns, at: Places) -> Column:
    """By recent runs; by failing ones when it is likely to fail. The mean of all where it was never timed."""
    typical = columns.typical_seconds() or 1.0
    seconds = np.where(columns.timed[at] > 0, columns.recent_seconds[at], typical)
    failing = columns.failing_seconds[at]
    likely = (failing >= 0) & (columns.fast[at] >= SURE)
    return np.maximum(np.where(likely, failing, seconds), max(1e-3 * typical, 1e-9))


def awake(seen: View) -> dict[str, bool]:
    return {name: name not in NEAR or seen.nearness is not None for name in PRIORS}


def score(name: str, seen: View) -> Column:
    if name in SECONDS_POWERS:
        return _learned(seen, SECONDS_POWERS[name])
    match name:
        case "recently failed":
            return -seen.sheets_since_failure
        case "decayed failures":
            return seen.decayed
        case "decayed failures per second":
            return (seen.decayed + _LEAST) / seen.seconds
        case "failure rate":
            return seen.rate
        case "co-failures":
            return seen.company
        case "near the change" if seen.nearness is not None:
            return np.nan_to_num(seen.nearness) / seen.seconds
    raise ValueError(f"no expert is called {name!r}")


def _learned(seen: View, power: float) -> Column:
    logs = np.log(np.maximum(seen.probability, 1e-12))
    length = np.log(seen.seconds) - float(np.log(seen.seconds).mean())
    powers = np.where(seen.by_change, max(power, _NEAR_POWER), np.where(seen.evidence >= LIKELY, power, 0.0))
    value = logs - powers * length
    if seen.selecting:
        return value
    first = _fits(value, seen.seconds, seen.evidence >= SURE)
    # Behind everything that fits; a finite step, larger than any difference of logarithms.
    return np.where(first, value + 1e6, logs - length)


def _fits(value: Column, seconds: Column, sure: Flags) -> Flags:
    """What is sure comes first at any length; the rest while there is room."""
    room = _FIRST_PART * float(seconds.sum())
    fits = np.zeros(len(value), dtype=bool)
    lengths = seconds.tolist()
    for place in np.argsort(-value, kind="stable").tolist():
        if lengths[place] <= room:
            room -= lengths[place]
            fits[place] = True
    return fits | sure
