"""The profile "composite": effectiveness, efficiency, prevention, satisfaction, and penalties.

Time and cost ratios are safe for zeros, coverage is in percent (1 % is one point), and every part is held within
its bounds, from which the profile's true range is derived.
"""

from typing import Final

from whet.core.records import Measures
from whet.rewards.profiles import Profile
from whet.rewards.terms import Bounds, Ingredients, Term, change, counted, ratio, tally, when

_BUG_POINTS: Final = {"critical": 20, "high": 10, "medium": 5, "low": 2}
_INCIDENT_POINTS: Final = {"critical": 30, "high": 20, "medium": 10, "low": 5}


def _effectiveness(measures: Measures) -> Ingredients:
    return {
        "bugs": tally(measures.bugs_found, _BUG_POINTS),
        "coverage": change(measures.coverage_before, measures.coverage_after),
        "edge cases": counted(measures.edge_cases_found, 5),
        "regression": when(measures.regression_detected, 15.0),
    }


def _efficiency(measures: Measures) -> Ingredients:
    return {
        "time": _saving(measures.expected_seconds, measures.actual_seconds),
        "cost": _saving(measures.expected_cost, measures.actual_cost),
    }


def _saving(expected: float | None, actual: float | None) -> float | None:
    """Up to 10 points for being faster or cheaper; being slower or dearer costs nothing here."""
    times_better = ratio(expected, actual)
    return None if times_better is None else Bounds(0.0, 10.0).clamp((times_better - 1.0) * 10.0)


def _prevention(measures: Measures) -> Ingredients:
    return {
        "incidents prevented": tally(measures.incidents_prevented, _INCIDENT_POINTS),
        "false positives": counted(measures.false_positives, -5),
    }


def _satisfaction(measures: Measures) -> Ingredients:
    return {
        "rating": None if measures.user_rating is None else measures.user_rating * 2.0,
        "clarity": None if measures.clarity_score is None else measures.clarity_score * 3.0,
        "self-healed": when(measures.self_healed, 2.0),
    }


def _penalties(measures: Measures) -> Ingredients:
    return {
        "flaky": when(measures.is_flaky, -20.0),
        "tests blocked": counted(measures.tests_blocked, -5),
        "resources": when(_over_limit(measures), -10.0),
        "manual fix": when(measures.required_manual_fix, -15.0),
    }


def _over_limit(measures: Measures) -> bool | None:
    excess = change(measures.resource_limit, measures.resource_usage)
    return None if excess is None else excess > 0.0


COMPOSITE: Final = Profile(
    name="composite",
    terms=(
        # Losing all coverage costs 100 points: a loss must not look like a standstill, so there is no floor at 0.
        Term("effectiveness", 0.4, Bounds(-100.0, 50.0), _effectiveness),
        Term("efficiency", 0.2, Bounds(0.0, 20.0), _efficiency),
        Term("prevention", 0.3, Bounds(-10.0, 30.0), _prevention),
        Term("satisfaction", 0.1, Bounds(0.0, 10.0), _satisfaction),
        Term("penalties", 1.0, Bounds(-50.0, 0.0), _penalties),
    ),
)
