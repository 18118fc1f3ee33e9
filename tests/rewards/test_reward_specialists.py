"""The agents' own terms: hand-worked numbers, penalties that cost, bounds that hold and are reached."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.records import Measures, Part, Valuation
from whet.rewards import Scale, profile, reward_of, specialists


def points(parts: Sequence[Part]) -> list[float | None]:
    return [part.points for part in parts]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            specialists.execution(
                parallelization_efficiency=0.8, resource_utilization=0.5, time_savings=0.25, failed_scheduling=2
            ),
            [8.0, 2.5, 0.75, -10.0],
        ),
        (specialists.execution(time_savings=-0.5), [None, None, -1.5, None]),
        (specialists.trust(missed_failures=3, unconfirmed_failures=2), [-30.0, -10.0]),
        (specialists.trust(missed_failures=11, unconfirmed_failures=11), [-100.0, -50.0]),
        # F1 = 2·6 / (2·6 + 2 + 2) = 0.75
        (specialists.flaky_truth(true_positives=6, false_positives=2, false_negatives=2), [75.0, -40.0, -10.0]),
        (specialists.flaky_truth(true_positives=0, false_positives=1, false_negatives=0), [0.0, 0.0, -5.0]),
        (specialists.flaky_truth(true_positives=0, false_positives=0, false_negatives=0), [None, 0.0, 0.0]),
        (specialists.flaky_truth(true_positives=3, false_positives=1), [None, None, None]),
        (specialists.flaky_evidence(confirmed_new=2, evidence_gained=0.4), [20.0, 8.0]),
        (specialists.flaky_evidence(confirmed_new=7), [60.0, None]),
        (specialists.generation(edge_cases_covered=3, tests_generated=7, optimal_test_count=10), [15.0, -6.0]),
        (specialists.generation(edge_cases_covered=3, tests_generated=13, optimal_test_count=10), [15.0, -6.0]),
        (specialists.generation(tests_generated=13), [None, None]),
        (specialists.coverage(gaps_that_matter=4), [8.0]),
        (specialists.coverage(gaps_that_matter=40), [40.0]),
        (specialists.risk(early_share=0.5), [15.0]),
        (specialists.risk(), [None]),
        # 3 findings in 2 minutes: 1.5 per minute; 150 s of 120 s: a quarter too long
        (specialists.command(new_findings=3, used_seconds=120, budget_seconds=600), [3.0, 0.0]),
        (specialists.command(new_findings=0, used_seconds=150, budget_seconds=120), [0.0, -5.0]),
        (specialists.command(new_findings=3, used_seconds=0, budget_seconds=0), [None, 0.0]),
        (specialists.command(new_findings=3, used_seconds=1, budget_seconds=0), [40.0, -20.0]),
        (specialists.command(new_findings=3), [None, None]),
        (specialists.contracts(operations_new=4, known_settled=3, requests=250, seconds=90), [4.0, 3.0, -2.5, -3.0]),
        (specialists.contracts(operations_new=40, known_settled=0, requests=9000, seconds=9000), [30.0, 0.0, -20, -20]),
        (specialists.contracts(), [None, None, None, None]),
        (specialists.data(valid=40, accepted=30, behaviours=12, requests=60), [15.0, 8.0]),
        (specialists.data(valid=0, accepted=0, behaviours=0, requests=0), [None, None]),
        (specialists.data(), [None, None]),
    ],
)
def test_hand_worked(parts: tuple[Part, ...], expected: list[float | None]) -> None:
    assert points(parts) == [value if value is None else pytest.approx(value) for value in expected]
    assert all(part.because for part in parts)


def test_a_penalty_costs() -> None:
    """Some sources subtract a negative factor and so reward failure."""
    quiet = specialists.execution(failed_scheduling=0)
    failing = specialists.execution(failed_scheduling=3)
    worth = [reward_of(profile("composite"), Valuation(measures=Measures(), own=own)).raw for own in (quiet, failing)]
    assert worth == [0.0, -15.0]


def test_names_are_unique_and_differ_from_the_profiles_parts() -> None:
    names = [scale.name for scale in specialists.SCALES]
    assert len(set(names)) == len(names)
    for name in ("composite", "multi-objective"):
        assert not set(names) & set(profile(name).weights)


@pytest.mark.parametrize("scale", specialists.SCALES, ids=lambda scale: scale.name)
@settings(deadline=None, max_examples=40)
@given(amount=st.floats(allow_nan=False) | st.integers(-(10**400), 10**400))
def test_no_amount_leaves_the_bounds(scale: Scale, amount: float) -> None:
    part = scale.part(amount)
    assert part.points is not None
    assert scale.bounds.low <= part.points <= scale.bounds.high


@pytest.mark.parametrize("scale", specialists.SCALES, ids=lambda scale: scale.name)
def test_both_bounds_are_reached(scale: Scale) -> None:
    assert {scale.part(math.inf).points, scale.part(-math.inf).points} == {scale.bounds.low, scale.bounds.high}


def test_nan_is_refused() -> None:
    with pytest.raises(RefusedInput, match="parallelization got NaN"):
        specialists.execution(parallelization_efficiency=math.nan)


def test_ranges_include_an_agents_terms() -> None:
    low, high = profile("composite").true_range(own=specialists.EXECUTION)
    # (-93..34) + (0..10) + (0..5) + (-3..3) + (-50..0)
    assert (low, high) == pytest.approx((-146.0, 52.0))
    assert profile("composite").true_range({"parallelization": 2.0}, specialists.EXECUTION)[1] == pytest.approx(62.0)
