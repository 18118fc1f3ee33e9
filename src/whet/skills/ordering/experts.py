"""The experts: ways to order one run's tests. Each gives a score per test, the highest first.

What is best depends on the goal. In a whole run everything runs in the end, and a second spent too early is lost for
all that comes after it. Within a budget what comes late does not run at all, and the likeliest must come first. The
learned experts are the same knowledge ordered for either goal; they differ in how much an expected second counts.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from whet.skills.ordering.columns import Column, Columns, Flags, Places
from whet.skills.ordering.hazard import Hazard


class Goal(StrEnum):
    WHOLE_RUN = "whole run"
    BUDGET = "budget"


# How much a second counts, as a power; in the name of the expert.
LIKELIEST = "likeliest"
_LIKELIEST = {LIKELIEST: 0.0, "likeliest^.03": 0.03, "likeliest^.3": 0.3, "likeliest^1": 1.0}
_LIKELIEST_HALF = {"likeliest half^.03": 0.03, "likeliest half^.3": 0.3, "likeliest half^1": 1.0}
_PER_SECOND = "failures per second"
_THAT_FIT, _FIT_POWER = "likeliest that fit", 0.3
# Who orders while selections leave tests out. Rules of thumb never look again at what passed; where a second counts by
# a power alone, a long test that fails may never run.
_LOOK_AGAIN = (LIKELIEST, _THAT_FIT)
_LEARNED = {Goal.WHOLE_RUN: (*_LIKELIEST_HALF, _PER_SECOND), Goal.BUDGET: (*_LIKELIEST, _THAT_FIT)}
IN_COMPANY = "co-failures"
HEURISTICS = ("recently failed", "decayed failures", "decayed failures per second", "failure rate", IN_COMPANY)
NEAR = ("near the change",)
_RULE_OF_THUMB = 0.002
_PLAIN = 0.8  # of the trust at the start: while few runs have failed, a draw among the others would be a gamble


def priors(goal: Goal) -> dict[str, float]:
    rules = dict.fromkeys((*HEURISTICS, *NEAR), _RULE_OF_THUMB)
    left, learned = 1 - sum(rules.values()), _LEARNED[goal]
    if LIKELIEST not in learned:
        return {**dict.fromkeys(learned, left / len(learned)), **rules}
    others = dict.fromkeys(learned, left * (1 - _PLAIN) / (len(learned) - 1))
    return {**others, LIKELIEST: left * _PLAIN, **rules}


_DECAY_SHARE, _LEAST = 0.8, 1e-3
LIKELY, SURE = 0.3, 0.5
# What a test that passed last time keeps of its likelihood where a change is known: after few runs it is mostly the
# weight that every new test starts with, and would put those that the change does not touch before those that it does.
_QUIET = 1e-3
_NEAR_POWER = 0.5  # for what is only near the change: there, many tests are about as likely, and few seconds find out
_FIRST_PART = 0.5  # of the expected time goes to the likeliest
_FORGIVEN_FLAKES = 1.0
# What a selection leaves out is not known to pass. There, nothing falls below how often it begins to fail (as if it
# had begun once in twenty runs more), times the runs since somebody looked; and a little is added for every one.
_ONSETS_BEFORE, _RUNS_BEFORE = 1.0, 20.0
_CURIOSITY = 0.01


class View(NamedTuple):
    """What the experts see of one run's tests before it starts."""

    probability: Column  # of failing, by history and by the change together
    by_history: Column  # alone
    evidence: Column  # how recent the failures are, 0 to 1; or how near the change
    seconds: Column  # expected
    nearness: Column | None  # NaN: not known
    sheets_since_failure: Column
    decayed: Column
    rate: Column
    company: Column  # how often it failed together with those that failed last
    quiet: Flags  # its past counts next to nothing beside a change
    by_change: Flags  # the change says more about it than its past
    selecting: bool  # some were left out lately


def view(columns: Columns, hazard: Hazard, at: Places, sheet: int, nearness: Column | None, company: Column) -> View:
    selecting = bool(columns.passed_over[at].any())
    probability = _by_history(columns, hazard, at, _unseen(columns, at) if selecting else _LEAST)
    evidence, quiet = columns.fast[at], _quiet(columns, at, nearness)
    by_history = probability = np.where(quiet, _QUIET * probability, probability)
    by_change = quiet
    if nearness is not None:
        near = np.nan_to_num(nearness)
        by_change = quiet | (near > by_history)
        probability = 1 - (1 - by_history) * (1 - near)
        evidence = np.maximum(evidence, near)
    failed_sheet, met = columns.failed_sheet[at], columns.met[at]
    since = np.where(failed_sheet < 0, np.where(met == 0, 0.0, np.inf), sheet - failed_sheet)
    rate = (columns.failures[at] + 1) / (met + 2)
    seconds, decayed = expected_seconds(columns, at), columns.slow[at]
    return View(
        probability, by_history, evidence, seconds, nearness, since, decayed, rate, company, quiet, by_change, selecting
    )


def _quiet(columns: Columns, at: Places, nearness: Column | None) -> Flags:
    """Passed when it last ran, never on equal code where it failed, and it is known how near the change since is."""
    if nearness is None:
        return np.zeros(len(at), dtype=bool)
    quiet: Flags = (columns.streak[at] < 0) & (columns.flakes[at] == 0) & ~np.isnan(nearness)
    return quiet


def _unseen(columns: Columns, at: Places) -> Column:
    """What may have happened to each since it ran last. A test that fails now and then is likelier than one that never
    did, however long ago either was looked at; among tests that never fail, the one that waited longest. A failure that
    went on for long is over once the test passed: it began but once, and how often one begins is what comes again."""
    rate = (columns.onsets[at] + _ONSETS_BEFORE) / (columns.runs[at] + _RUNS_BEFORE)
    waited = columns.passed_over[at]
    chance: Column = rate * (1 + waited) + _CURIOSITY * waited
    return chance


def _by_history(columns: Columns, hazard: Hazard, at: Places, least: Column | float) -> Column:
    """Between what tests like it do and what it did lately; less where its failures came and went on equal code."""
    model = hazard.probabilities(columns, at)
    decayed = np.minimum(1.0, columns.slow[at] + least)
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


def awake(goal: Goal, seen: View) -> dict[str, bool]:
    if goal is Goal.BUDGET and seen.selecting:
        return {name: name in _LOOK_AGAIN for name in priors(goal)}
    return {name: name not in NEAR or seen.nearness is not None for name in priors(goal)}


def without_seconds(name: str, seen: View) -> Column:
    """The score, if all tests took the same time."""
    return score(name, seen._replace(seconds=np.ones(len(seen.seconds))))


def score(name: str, seen: View) -> Column:
    if name in _LIKELIEST:
        return _likeliest(seen, _LIKELIEST[name])
    if name in _LIKELIEST_HALF:
        return _likeliest_half(seen, _LIKELIEST_HALF[name])
    match name:
        case "likeliest that fit":
            return _likeliest_that_fit(seen)
        case "failures per second":
            return _log_likely(seen) - _length(seen)
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


def _log_likely(seen: View) -> Column:
    logs: Column = np.log(np.maximum(seen.probability, 1e-12))
    return logs


def _length(seen: View) -> Column:
    logs: Column = np.log(seen.seconds)
    return logs - float(logs.mean())


def _likeliest(seen: View, power: float) -> Column:
    """Among the likely and the near ones a second counts with this power, among the others not at all."""
    powers = np.where(seen.by_change, max(power, _NEAR_POWER), np.where(seen.evidence >= LIKELY, power, 0.0))
    value: Column = _log_likely(seen) - powers * _length(seen)
    return value


def _likeliest_half(seen: View, power: float) -> Column:
    """The likeliest as far as they fit into half of the expected time; behind them, by failures per second."""
    value = _likeliest(seen, power)
    first = _fits(value, seen.seconds, seen.evidence >= SURE)
    # Behind everything that fits; a finite step, larger than any difference of logarithms.
    return np.where(first, value + 1e6, _log_likely(seen) - _length(seen))


def _likeliest_that_fit(seen: View) -> Column:
    """Half of the expected time filled with what gives most for its seconds; within it the likeliest first."""
    value = _likeliest(seen, 0.0)
    worth = value - _FIT_POWER * _length(seen)
    return np.where(_fits(worth, seen.seconds, np.zeros(len(value), dtype=bool)), value + 1e6, worth)


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
