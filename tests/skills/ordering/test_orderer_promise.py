"""The promise: how much of an order must run, against numbers worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import unhurried

from whet.skills.ordering.promise import FEWEST_FAILING_RUNS, REFERENCE_RISK, Promise

SHARES = st.floats(0.001, 1.0)
RISKS = st.floats(0.0, 1.0)


def seen(count: int) -> Promise:
    """Failing runs that needed 1 %, 2 %, … of the order."""
    return Promise([(i + 1) / 100 for i in range(count)])


def test_nineteen_failing_runs_are_needed_for_five_percent() -> None:
    assert FEWEST_FAILING_RUNS == 19
    assert seen(18).share_for(0.05) is None
    assert seen(18).risk_of(1.0) == pytest.approx(1 / 19)
    assert seen(19).share_for(0.05) == 0.19  # the largest of them
    assert seen(19).risk_of(0.19) == pytest.approx(0.05)


@pytest.mark.parametrize(("risk", "share"), [(0.01, 0.99), (0.05, 0.95), (0.5, 0.5), (0.995, 0.01)])
def test_the_share_covers_all_but_as_many_as_may_be_missed(risk: float, share: float) -> None:
    assert seen(99).share_for(risk) == share  # k of m may be missed where (k + 1) / (m + 1) ≤ risk


@pytest.mark.parametrize("count", [0, 1, 30])
def test_everything_may_be_missed_at_a_risk_of_one(count: int) -> None:
    assert seen(count).share_for(1.0) == 0.0


@pytest.mark.parametrize(("share", "risk"), [(1.0, 0.01), (0.99, 0.01), (0.985, 0.02), (0.5, 0.5), (0.0, 1.0)])
def test_the_risk_counts_what_would_have_been_missed_and_one_more(share: float, risk: float) -> None:
    assert seen(99).risk_of(share) == pytest.approx(risk)


def test_a_miss_makes_it_more_cautious() -> None:
    promise = seen(19)
    promise.learn(0.2)
    assert promise.held_risk == pytest.approx(0.05 + 0.01 * (0.05 - 1))
    assert promise.risk_of(1.0) == pytest.approx(1 / 21 * 0.05 / 0.0405)
    assert promise.share_for(0.05) is None  # 0.0405 × 21 < 1


def test_a_hit_makes_it_a_little_less_cautious_but_never_promises_more_than_was_seen() -> None:
    promise = seen(19)
    promise.learn(0.19)
    assert promise.held_risk == pytest.approx(0.05 + 0.01 * 0.05)
    assert promise.risk_of(1.0) == pytest.approx(1 / 21)


def test_it_recovers_from_misses_when_runs_are_like_the_ones_before_again() -> None:
    promise = Promise([0.1] * 100)
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):  # each beyond all before
        promise.learn(share)
    for _ in range(1000):
        promise.learn(0.1)
    assert promise.share_for(REFERENCE_RISK) == 0.1


def test_only_the_newest_three_hundred_count() -> None:
    promise = Promise([1.0] * 300)
    for _ in range(300):
        promise.learn(0.1)
    assert promise.shares == [0.1] * 300


def test_one_who_misses_whenever_something_is_left_out_is_answered_with_caution() -> None:
    promise, missed, runs, needed = Promise([0.001] * 300), 0, 2000, 0.001
    for _ in range(runs):
        if promise.share_for(REFERENCE_RISK) is not None:
            needed *= 1.001  # more than was ever needed
            missed += 1
            promise.learn(needed)
        else:
            promise.learn(0.001)
    assert missed <= REFERENCE_RISK * runs + 6


@unhurried
@given(st.lists(st.tuples(st.sampled_from(["beyond", "within", "any"]), SHARES), max_size=300), st.integers(0, 60))
def test_in_the_long_run_misses_are_as_rare_as_promised_whatever_comes(
    runs: list[tuple[str, float]], before: int
) -> None:
    promise, missed = Promise([0.001] * before), 0
    for how, share in runs:
        enough = promise.share_for(REFERENCE_RISK)
        beyond = max(promise.shares, default=0.0) * 1.01
        needed = {"beyond": beyond, "within": 0.0, "any": share}[how]
        missed += enough is not None and needed > enough
        promise.learn(needed)
    # Held at 5 % by steps of 0.01 that a miss takes back 19 times as fast: 5 + 1 misses ahead at most.
    assert missed <= REFERENCE_RISK * len(runs) + 6 + 1e-9


@unhurried
@given(st.lists(SHARES, max_size=60), st.floats(0.0, 0.1), RISKS)
def test_what_is_chosen_for_a_risk_has_at_most_that_risk(shares: list[float], held: float, risk: float) -> None:
    promise = Promise(shares, held)
    share = promise.share_for(risk)
    if share is not None:
        assert promise.risk_of(share) <= risk * (1 + 1e-12)


@unhurried
@given(st.lists(SHARES, max_size=60), st.floats(0.0, 0.1), RISKS, RISKS)
def test_running_more_never_risks_more(shares: list[float], held: float, one: float, other: float) -> None:
    promise = Promise(shares, held)
    less, more = promise.risk_of(min(one, other)), promise.risk_of(max(one, other))
    assert 0 < more <= less <= 1
