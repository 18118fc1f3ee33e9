"""Making values smaller: whatever was sent, it ends, and what comes out is smaller or simpler."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.oracles.minimising import _smaller

_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


@given(_VALUES)
def test_no_value_is_too_odd_to_be_made_smaller(value: Any) -> None:
    for one in _smaller(value):
        assert len(one) < len(value) if isinstance(value, str) else abs(one) < abs(value)


def test_what_is_not_finite_becomes_zero_at_once() -> None:
    assert list(_smaller(math.inf)) == [0]
    assert list(_smaller(-math.inf)) == [0]
    assert list(_smaller(math.nan)) == []
