"""Every formula of both profiles against numbers worked by hand."""

import math

import pytest

from whet.core.errors import RefusedInput, WhetError
from whet.core.records import Measures, Part, Valuation
from whet.rewards import PROFILES, profile, reward_of, reweigh, weight_names, without_luck
from whet.rewards.profiles import known_weights


def points(name: str, measures: Measures) -> dict[str, float | None]:
    return {part.name: part.points for part in profile(name).parts(measures)}


def because(name: str, part: str, measures: Measures) -> str:
    return {each.name: each.because for each in profile(name).parts(measures)}[part]


@pytest.mark.parametrize(
    ("measures", "part", "expected"),
    [
        # 1 critical (20) + 1 low (2) + 3.5 % (3.5) + 2 edge cases (10) = 35.5, and 15 more would pass the cap of 50
        (
            Measures(bugs_found={"critical": 1, "low": 1}, coverage_before=50, coverage_after=53.5, edge_cases_found=2),
            "effectiveness",
            35.5,
        ),
        (
            Measures(bugs_found={"critical": 1, "high": 1, "medium": 1}, regression_detected=True),
            "effectiveness",
            50.0,
        ),
        (Measures(bugs_found={"critical": 3}), "effectiveness", 50.0),
        (Measures(coverage_before=80, coverage_after=70), "effectiveness", -10.0),
        (Measures(regression_detected=True), "effectiveness", 15.0),
        (Measures(regression_detected=False), "effectiveness", 0.0),
        # 10 s instead of 15 s: ratio 1.5, 5 points; cost half: ratio 2, 10 points
        (Measures(expected_seconds=15, actual_seconds=10), "efficiency", 5.0),
        (
            Measures(expected_seconds=15, actual_seconds=10, expected_cost=2, actual_cost=1),
            "efficiency",
            15.0,
        ),
        (Measures(expected_seconds=10, actual_seconds=1), "efficiency", 10.0),
        (Measures(expected_seconds=10, actual_seconds=20), "efficiency", 0.0),
        (Measures(incidents_prevented={"medium": 1, "low": 1}, false_positives=1), "prevention", 10.0),
        (Measures(incidents_prevented={"critical": 1, "high": 1}), "prevention", 30.0),
        (Measures(false_positives=3), "prevention", -10.0),
        (Measures(user_rating=3, clarity_score=0.5, self_healed=True), "satisfaction", 9.5),
        (Measures(user_rating=5, clarity_score=1.0), "satisfaction", 10.0),
        (Measures(is_flaky=True, tests_blocked=1), "penalties", -25.0),
        (Measures(resource_usage=11, resource_limit=10, required_manual_fix=True), "penalties", -25.0),
        (Measures(resource_usage=10, resource_limit=10), "penalties", 0.0),
        (Measures(is_flaky=True, tests_blocked=9), "penalties", -50.0),
    ],
)
def test_composite_parts(measures: Measures, part: str, expected: float) -> None:
    assert points("composite", measures)[part] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measures", "part", "expected"),
    [
        (Measures(coverage_before=80, coverage_after=82.5), "coverage_gain", 25.0),
        (Measures(coverage_before=80, coverage_after=75), "coverage_gain", -50.0),
        (Measures(coverage_before=0, coverage_after=60), "coverage_gain", 100.0),
        # 3 bugs, one of them critical: 3 × 5 + 20
        (Measures(bugs_found={"critical": 1, "low": 2}), "bugs_found", 35.0),
        (Measures(bugs_found={"critical": 5}), "bugs_found", 100.0),
        (Measures(bugs_found={}), "bugs_found", 0.0),
        (Measures(expected_seconds=60, actual_seconds=48), "execution_speed", 12.5),
        (Measures(expected_seconds=60, actual_seconds=120), "execution_speed", -25.0),
        (Measures(expected_seconds=60, actual_seconds=6), "execution_speed", 50.0),
        # quicker than a second: no floor at 1 s that would call 0.5 s slow
        (Measures(expected_seconds=0.5, actual_seconds=0.5), "execution_speed", 0.0),
        (Measures(expected_cost=3, actual_cost=2), "cost_efficiency", 25.0),
        (Measures(quality_before=50, quality_after=60), "quality_improvement", 20.0),
        (Measures(quality_before=90, quality_after=10), "quality_improvement", -50.0),
        (Measures(pattern_reused=True, pattern_success=True), "pattern_reusability", 30.0),
        (Measures(pattern_reused=True, pattern_success=False), "pattern_reusability", -10.0),
        (Measures(pattern_reused=False), "pattern_reusability", 0.0),
        (Measures(task_failed=True), "task_failed", -50.0),
        (Measures(task_failed=False), "task_failed", 0.0),
        (Measures(coverage_after=90), "coverage_goal", 20.0),
        (Measures(coverage_after=89.9), "coverage_goal", 0.0),
    ],
)
def test_multi_objective_parts(measures: Measures, part: str, expected: float) -> None:
    assert points("multi-objective", measures)[part] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("expected", "actual", "speed", "efficiency"),
    [(0.0, 0.0, 0.0, 0.0), (5.0, 0.0, 50.0, 10.0), (0.0, 5.0, -50.0, 0.0), (1e300, 1e-300, 50.0, 10.0)],
)
def test_zero_times_and_costs_divide_nothing(expected: float, actual: float, speed: float, efficiency: float) -> None:
    time = Measures(expected_seconds=expected, actual_seconds=actual)
    cost = Measures(expected_cost=expected, actual_cost=actual)
    assert points("multi-objective", time)["execution_speed"] == speed
    assert points("multi-objective", cost)["cost_efficiency"] == speed
    assert points("composite", time)["efficiency"] == points("composite", cost)["efficiency"] == efficiency


@pytest.mark.parametrize("name", ["composite", "multi-objective"])
def test_what_was_not_measured_is_unknown_and_not_zero(name: str) -> None:
    for part in profile(name).parts(Measures()):
        assert part.points is None
        assert part.because.startswith("not measured: ")


@pytest.mark.parametrize(
    "half",
    [
        Measures(coverage_before=50),
        Measures(expected_seconds=5),
        Measures(actual_cost=5),
        Measures(quality_after=50),
        Measures(pattern_reused=True),
        Measures(pattern_success=True),
        Measures(resource_usage=5),
    ],
)
def test_half_a_comparison_is_unknown(half: Measures) -> None:
    assert set(points("multi-objective", half).values()) == {None}
    assert set(points("composite", half).values()) == {None}


def test_a_part_says_what_it_counted_and_what_it_could_not() -> None:
    told = because("composite", "effectiveness", Measures(bugs_found={"critical": 4}, regression_detected=False))
    assert told == "bugs +80, regression +0, held at +50; not measured: coverage, edge cases"


def test_the_raw_reward_is_the_weighted_sum_with_the_agents_own_parts() -> None:
    measures = Measures(coverage_before=85, coverage_after=90, expected_seconds=60, actual_seconds=48)
    own = (
        Part(name="gaps_that_matter", points=6.0),
        Part(name="early_failures", points=None, because="nothing failed"),
    )
    reward = reward_of(profile("multi-objective"), Valuation(measures=measures, own=own))
    # 0.30·50 + 0.15·12.5 + 20 + 6
    assert reward.raw == reward.shaped == reward.credited == pytest.approx(42.875)
    assert [part.name for part in reward.parts][-2:] == ["gaps_that_matter", "early_failures"]


def test_weights_change_profile_parts_and_own_parts_alike() -> None:
    valuation = Valuation(
        measures=Measures(coverage_before=50, coverage_after=55), own=(Part(name="gaps_that_matter", points=6.0),)
    )
    weights = {"coverage_gain": 0.5, "gaps_that_matter": 2.0, "parallelization": 3.0}
    assert reward_of(profile("multi-objective"), valuation, weights).raw == pytest.approx(0.5 * 50 + 12)


def test_a_past_reward_under_other_weights_is_what_it_would_have_been() -> None:
    valuation = Valuation(measures=Measures(coverage_before=50, coverage_after=55, bugs_found={"high": 2}))
    past = reward_of(profile("multi-objective"), valuation).model_copy(update={"shaped": 20.5})
    weights = {"coverage_gain": 0.5}
    again = reweigh(past, weights)
    assert again.parts == reward_of(profile("multi-objective"), valuation, weights).parts
    assert (past.raw, again.raw) == pytest.approx((17.5, 27.5))
    assert again.shaped == again.credited == pytest.approx(30.5)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, -0.1, 10.5])
def test_unusable_weights_are_refused(weight: float) -> None:
    with pytest.raises(RefusedInput, match=r"reward weight coverage_gain is .* from 0 to 10"):
        reward_of(profile("multi-objective"), Valuation(measures=Measures()), {"coverage_gain": weight})
    with pytest.raises(RefusedInput, match="reward weight"):
        profile("composite").true_range({"penalties": weight})


def test_a_weight_for_a_part_that_does_not_exist_names_the_nearest() -> None:
    allowed = weight_names(profile("multi-objective"))
    assert known_weights({"coverage_gain": 1, "parallelization": 2}, allowed) == {
        "coverage_gain": 1,
        "parallelization": 2,
    }
    with pytest.raises(RefusedInput, match=r"no reward part named 'coverage_gian'. Did you mean coverage_gain\?"):
        known_weights({"coverage_gian": 1}, allowed)


def test_a_sum_that_cannot_be_a_reward_is_refused() -> None:
    own = (Part(name="own", points=9_000), Part(name="more", points=9_000))
    with pytest.raises(RefusedInput, match=r"is 18000\.0.*from -10000 to 10000"):
        reward_of(profile("composite"), Valuation(measures=Measures(), own=own))


def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(WhetError, match=r"no reward profile 'fancy'\. Choose one of: composite, multi-objective"):
        profile("fancy")


def test_what_any_action_would_have_earned_is_not_to_the_credit_of_this_one() -> None:
    # Raw: 3 bugs are 15 points at 0.25 = 3.75, speed (60/30 - 1)·50 = 50 at 0.15 = 7.5. Anyway: 2 bugs = 2.5.
    anyway = Valuation(measures=Measures(bugs_found={"high": 2}))
    measures = Measures(bugs_found={"high": 3}, expected_seconds=60, actual_seconds=30)
    valuation = Valuation(measures=measures, anyway=anyway)
    chosen = PROFILES["multi-objective"]
    reward = without_luck(reward_of(chosen, valuation), chosen, valuation, {})
    assert (reward.raw, reward.shaped, reward.credited) == (11.25, 11.25, 8.75)


def test_without_luck_everything_is_to_its_credit() -> None:
    valuation = Valuation(measures=Measures(bugs_found={"high": 3}))
    chosen = PROFILES["multi-objective"]
    reward = reward_of(chosen, valuation)
    assert without_luck(reward, chosen, valuation, {}) == reward
