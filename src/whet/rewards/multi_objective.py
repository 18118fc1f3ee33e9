"""The profile "multi-objective": coverage, bugs, speed, cost, quality and reuse, weighed against each other.

A failed task and the coverage goal come on top with weight 1. Speed and cost are ratios that are safe for zeros.
"""

from typing import Final

from whet.core.records import Measures
from whet.rewards.profiles import Profile
from whet.rewards.terms import Bounds, Ingredients, Term, change, counted, ratio, when

_COVERAGE_GOAL_PERCENT: Final = 90.0


def _coverage_gain(measures: Measures) -> Ingredients:
    gained = change(measures.coverage_before, measures.coverage_after)
    return {"coverage": None if gained is None else gained * 10.0}


def _bugs_found(measures: Measures) -> Ingredients:
    found = measures.bugs_found
    return {
        "bugs": None if found is None else counted(sum(found.values()), 5),
        "critical bugs": None if found is None else counted(found.get("critical", 0), 20),
    }


def _execution_speed(measures: Measures) -> Ingredients:
    return {"time": _versus_expected(measures.expected_seconds, measures.actual_seconds)}


def _cost_efficiency(measures: Measures) -> Ingredients:
    return {"cost": _versus_expected(measures.expected_cost, measures.actual_cost)}


def _versus_expected(expected: float | None, actual: float | None) -> float | None:
    times_better = ratio(expected, actual)
    return None if times_better is None else Bounds(-50.0, 50.0).clamp((times_better - 1.0) * 50.0)


def _quality_improvement(measures: Measures) -> Ingredients:
    gained = change(measures.quality_before, measures.quality_after)
    return {"quality": None if gained is None else gained * 2.0}


def _pattern_reusability(measures: Measures) -> Ingredients:
    if measures.pattern_reused is False:
        return {"pattern reused": 0.0}
    if measures.pattern_reused is None or measures.pattern_success is None:
        return {"success of a reused pattern": None}
    return {"pattern reused": 30.0 if measures.pattern_success else -10.0}


def _task_failed(measures: Measures) -> Ingredients:
    return {"task failed": when(measures.task_failed, -50.0)}


def _coverage_goal(measures: Measures) -> Ingredients:
    after = measures.coverage_after
    reached = None if after is None else after >= _COVERAGE_GOAL_PERCENT
    return {f"coverage of {_COVERAGE_GOAL_PERCENT:g} % or more": when(reached, 20.0)}


MULTI_OBJECTIVE: Final = Profile(
    name="multi-objective",
    terms=(
        Term("coverage_gain", 0.30, Bounds(-100.0, 100.0), _coverage_gain),
        Term("bugs_found", 0.25, Bounds(0.0, 100.0), _bugs_found),
        Term("execution_speed", 0.15, Bounds(-50.0, 50.0), _execution_speed),
        Term("cost_efficiency", 0.10, Bounds(-50.0, 50.0), _cost_efficiency),
        Term("quality_improvement", 0.10, Bounds(-50.0, 50.0), _quality_improvement),
        Term("pattern_reusability", 0.10, Bounds(-10.0, 30.0), _pattern_reusability),
        Term("task_failed", 1.0, Bounds(-50.0, 0.0), _task_failed),
        Term("coverage_goal", 1.0, Bounds(0.0, 20.0), _coverage_goal),
    ),
)
