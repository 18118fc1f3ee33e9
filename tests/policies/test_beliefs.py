"""Beliefs: what is known in the middle, what is not known wide."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.policy_worlds import entry

from whet.core.ports import Entry
from whet.policies.beliefs import PRIOR_SPREAD, believe
from whet.policies.hierarchy import Known


def own(q_value: float, visits: int, m2: float = 0.0) -> Known:
    return Known("a", entry(q_value, visits, m2), None, "individual")


def lent(value: float | None) -> Known:
    return Known("a", None, value, "none" if value is None else "category")


def test_nothing_known_is_centred_at_nought_and_wide() -> None:
    beliefs = believe([lent(None), lent(None)], 0.1)
    assert (list(beliefs.means), list(beliefs.errors)) == ([0.0, 0.0], [PRIOR_SPREAD, PRIOR_SPREAD])


def test_an_unknown_action_is_thought_average_and_worth_a_try() -> None:
    beliefs = believe([own(10.0, 50), own(40.0, 50), lent(None)], 0.1)
    assert list(beliefs.means) == [10.0, 40.0, 25.0]
    # as wide as the known values lie apart, when that is more than the prior
    assert beliefs.errors[2] == 30.0


def test_a_borrowed_value_is_its_own_mean_but_only_a_guess() -> None:
    beliefs = believe([lent(7.0)], 0.1)
    assert (beliefs.means[0], beliefs.errors[0]) == (7.0, PRIOR_SPREAD)


def test_a_standard_error_worked_by_hand() -> None:
    # five targets with m2 = 16. Pooled: (16 + 2 · 25) / (4 + 2) = 11; own: (16 + 2 · 11) / (4 + 2) = 19/3; over 5;
    # widened for the small sample by 1 + 2/5
    beliefs = believe([own(10.0, 5, 16.0)], 0.1)
    assert beliefs.errors[0] == pytest.approx(1.4 * math.sqrt(19 / 3 / 5))


def test_noise_is_pooled_over_the_actions_of_a_state() -> None:
    calm = believe([own(1.0, 2), own(1.0, 30, 29 * 1.0)], 0.1).errors[0]
    wild = believe([own(1.0, 2), own(1.0, 30, 29 * 400.0)], 0.1).errors[0]
    assert wild > 5 * calm


def drifted(q_value: float, mean: float) -> Known:
    """100,000 targets of variance 1."""
    return Known("a", Entry(q_value=q_value, visits=100_000, mean=mean, m2=99_999.0), None, "individual")


def test_the_long_mean_is_believed_while_the_recent_one_agrees() -> None:
    # at rate 0.1 the recent value is worth 19 targets: within 3 · sqrt(1/19) = 0.688 it agrees
    beliefs = believe([drifted(1.6, 1.0)], 0.1)
    assert (beliefs.means[0], beliefs.errors[0]) == (1.0, pytest.approx(math.sqrt(1 / 100_000), rel=1e-3))


def test_the_recent_value_is_believed_once_things_have_changed() -> None:
    beliefs = believe([drifted(1.7, 1.0)], 0.1)
    assert (beliefs.means[0], beliefs.errors[0]) == (1.7, pytest.approx(math.sqrt(1 / 19), rel=1e-3))


@given(st.integers(1, 200))
def test_one_more_equal_target_never_makes_less_sure(visits: int) -> None:
    assert believe([own(1.0, visits + 1)], 0.1).errors[0] < believe([own(1.0, visits)], 0.1).errors[0]


@given(
    st.lists(
        st.one_of(
            st.builds(own, st.floats(-1e5, 1e5), st.integers(1, 1000), st.floats(0, 1e9)),
            st.builds(lent, st.none() | st.floats(-1e5, 1e5)),
        ),
        min_size=1,
        max_size=8,
    ),
    st.floats(0.01, 1.0),
)
def test_every_action_has_a_finite_mean_and_some_doubt(known: list[Known], rate: float) -> None:
    beliefs = believe(known, rate)
    assert len(beliefs.means) == len(beliefs.errors) == len(known)
    assert all(math.isfinite(m) for m in beliefs.means)
    assert all(math.isfinite(e) and e > 0.0 for e in beliefs.errors)


def test_an_entry_without_visits_is_no_experience() -> None:
    waiting = Known("a", Entry(q_value=99.0, visits=0, mean=0.0, m2=0.0), None, "none")
    beliefs = believe([waiting, own(10.0, 5)], 0.1)
    assert (beliefs.means[0], beliefs.errors[0]) == (10.0, PRIOR_SPREAD)
