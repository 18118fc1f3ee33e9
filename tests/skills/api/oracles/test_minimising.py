"""Making values smaller: whatever was sent, it ends, and what comes out is smaller or simpler."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.oracles.minimising import _simpler

_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


@given(_VALUES)
def test_no_value_is_too_odd_to_be_made_simpler(value: Any) -> None:
    """Nor does it go on for ever: each step is shorter, nearer to nought, or the last but one."""
    for one in _simpler(value):
        if isinstance(value, str):
            assert len(one) < len(value)
        else:
            assert abs(one) < abs(value) or list(_simpler(one)) == [0]


@pytest.mark.parametrize(
    ("value", "simpler"), [(1, []), (2, [0, 1000]), (-7, [0]), (1500, [0]), (2001, [0, 1000]), (-5e6, [0, -2.5e6])]
)
def test_a_number_that_may_count_things_gives_way_to_a_large_one(value: float, simpler: list[float]) -> None:
    """`offset=2` is beyond the end where there is one book; a thousand is so elsewhere, too."""
    assert list(_simpler(value)) == simpler


def test_what_is_not_finite_becomes_zero_at_once() -> None:
    assert list(_simpler(math.inf)) == [0]
    assert list(_simpler(-math.inf)) == [0]
    assert list(_simpler(math.nan)) == []
