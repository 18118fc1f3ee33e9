"""Beliefs that begin with what other projects taught."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import WhetError
from whet.core.ports import Entry
from whet.policies.hierarchy import Known
from whet.policies.warm_start import Expected, Prior, opened, warmed

PRIOR = Prior(
    agent="a", unit=2.0, sources=("one", "two"),
    actions={"good": Expected(mean=1.0, doubt=0.5, states=4), "bad": Expected(mean=-1.0, doubt=0.5, states=4)},
)  # fmt: skip
numbers = st.floats(-1000, 1000)


def entry(mean: float, visits: int, m2: float = 0.0) -> Entry:
    return Entry(q_value=mean, visits=visits, mean=mean, m2=m2)


def known(name: str, mean: float = 0.0, visits: int = 0) -> Known:
    return Known(name, entry(mean, visits) if visits else None, None, "individual" if visits else "none")


def test_before_any_visit_the_prior_is_believed_in_points() -> None:
    told = warmed(PRIOR, [known("good"), known("bad"), known("never seen")], 0.1)
    assert told.means.tolist() == pytest.approx([2.0, -2.0, 0.0])
    assert told.errors.tolist() == pytest.approx([1.0, 1.0, 2.0])


def test_one_visit_tells_the_level_of_the_state() -> None:
    """Good paid 102: bad, expected two units of 2 points below it, is thought to pay 98."""
    told = warmed(PRIOR, [known("good", 102.0, visits=1), known("bad")], 0.1)
    assert told.means.tolist() == pytest.approx([102.0, 98.0])
    assert told.errors[0] <= 1.0


def test_many_visits_overrule_the_prior() -> None:
    told = warmed(PRIOR, [known("good", 1.0, visits=200), known("bad", 9.0, visits=200)], 0.1)
    assert told.means.tolist() == pytest.approx([1.0, 9.0], abs=0.2)


def test_where_more_is_at_stake_what_is_not_tried_yet_may_differ_more() -> None:
    calm = warmed(PRIOR, [known("good", 2.0, 5), known("bad", -2.0, 5), known("never seen")], 0.1)
    wild = warmed(PRIOR, [known("good", 200.0, 5), known("bad", -200.0, 5), known("never seen")], 0.1)
    assert wild.errors[2] > 30 * calm.errors[2]


@given(numbers, numbers, st.integers(0, 50), st.integers(0, 50), numbers)
def test_what_every_action_earns_more_changes_no_difference(
    good: float, bad: float, often: int, seldom: int, more: float
) -> None:
    here = warmed(PRIOR, [known("good", good, often), known("bad", bad, seldom)], 0.1)
    there = warmed(PRIOR, [known("good", good + more, often), known("bad", bad + more, seldom)], 0.1)
    assert np.diff(here.means) == pytest.approx(np.diff(there.means), rel=1e-6, abs=1e-6)
    assert here.errors == pytest.approx(there.errors, rel=1e-6)
    assert np.isfinite(here.means).all()
    assert (here.errors > 0).all()


def test_a_prior_that_is_not_there_or_of_another_or_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="whet train --agent a --policy warm-start"):
        opened(tmp_path, "a")
    (tmp_path / "prior.json").write_text(PRIOR.model_dump_json())
    assert opened(tmp_path, "a") == PRIOR
    with pytest.raises(WhetError, match="the prior of a"):
        opened(tmp_path, "b")
    (tmp_path / "prior.json").write_text(PRIOR.model_dump_json().replace("0.5", "0.0"))
    with pytest.raises(WhetError, match="no prior"):
        opened(tmp_path, "a")
