"""The derived ranges are true: nothing leaves them, and both ends are reached."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.records import Measures, Valuation
from whet.rewards import PROFILES, Bounds, profile, reward_of

numbers = st.floats(0, 1e300)
percents = st.floats(0, 100)
counts = st.integers(0, 10**400)
severities = st.dictionaries(st.sampled_from(["critical", "high", "medium", "low"]), counts)

FIELDS = {
    "coverage_before": percents,
    "coverage_after": percents,
    "bugs_found": severities,
    "edge_cases_found": counts,
    "regression_detected": st.booleans(),
    "expected_seconds": numbers,
    "actual_seconds": numbers,
    "expected_cost": numbers,
    "actual_cost": numbers,
    "quality_before": percents,
    "quality_after": percents,
    "pattern_reused": st.booleans(),
    "pattern_success": st.booleans(),
    "incidents_prevented": severities,
    "false_positives": counts,
    "user_rating": st.floats(1, 5),
    "clarity_score": st.floats(0, 1),
    "self_healed": st.booleans(),
    "is_flaky": st.booleans(),
    "tests_blocked": counts,
    "resource_usage": numbers,
    "resource_limit": numbers,
    "required_manual_fix": st.booleans(),
    "task_failed": st.booleans(),
}
measured = st.fixed_dictionaries({name: st.none() | values for name, values in FIELDS.items()})
weights = st.floats(0, 10)

WORST = {
    "coverage_before": 100.0,
    "coverage_after": 0.0,
    "expected_seconds": 0.0,
    "actual_seconds": 1.0,
    "expected_cost": 0.0,
    "actual_cost": 1.0,
    "quality_before": 50.0,
    "quality_after": 0.0,
    "pattern_reused": True,
    "pattern_success": False,
    "false_positives": 2,
    "is_flaky": True,
    "tests_blocked": 1,
    "resource_usage": 2.0,
    "resource_limit": 1.0,
    "required_manual_fix": True,
    "task_failed": True,
}
BEST = {
    "coverage_before": 80.0,
    "coverage_after": 90.0,
    "bugs_found": {"critical": 4},
    "expected_seconds": 1.0,
    "actual_seconds": 0.0,
    "expected_cost": 2.0,
    "actual_cost": 1.0,
    "quality_before": 50.0,
    "quality_after": 75.0,
    "pattern_reused": True,
    "pattern_success": True,
    "incidents_prevented": {"critical": 1},
    "user_rating": 5.0,
}


def test_every_measure_is_drawn() -> None:
    assert FIELDS.keys() == Measures.model_fields.keys()


@pytest.mark.parametrize("name", PROFILES)
@settings(deadline=None, max_examples=150)
@given(values=measured, data=st.data())
def test_no_outcome_leaves_the_range(name: str, values: dict[str, object], data: st.DataObject) -> None:
    chosen = profile(name)
    given_weights = data.draw(st.dictionaries(st.sampled_from(sorted(chosen.weights)), weights))
    reward = reward_of(chosen, Valuation(measures=Measures.model_validate(values)), given_weights)
    low, high = chosen.true_range(given_weights)
    assert low - 1e-9 <= reward.raw <= high + 1e-9
    bounds = {term.name: term.bounds for term in chosen.terms}
    for part in reward.parts:
        assert part.points is None or bounds[part.name].low <= part.points <= bounds[part.name].high


@pytest.mark.parametrize("name", PROFILES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_both_ends_are_reached_under_any_weights(name: str, data: st.DataObject) -> None:
    chosen = profile(name)
    given_weights = data.draw(st.dictionaries(st.sampled_from(sorted(chosen.weights)), weights))
    worst = reward_of(chosen, Valuation(measures=Measures.model_validate(WORST)), given_weights).raw
    best = reward_of(chosen, Valuation(measures=Measures.model_validate(BEST)), given_weights).raw
    assert (worst, best) == pytest.approx(chosen.true_range(given_weights))


def test_the_ranges_of_the_shipped_weights() -> None:
    # composite: 0.4·(-100..50) + 0.2·(0..20) + 0.3·(-10..30) + 0.1·(0..10) + (-50..0)
    assert profile("composite").true_range() == pytest.approx((-93.0, 34.0))
    # multi-objective: 0.3·±100 + 0.25·(0..100) + (0.15+0.1+0.1)·±50 + 0.1·(-10..30) + (-50..0) + (0..20)
    assert profile("multi-objective").true_range() == pytest.approx((-98.5, 95.5))


def test_bounds_must_include_what_an_unknown_part_counts() -> None:
    with pytest.raises(RefusedInput, match="leave out 0"):
        Bounds(1.0, 2.0)
