"""Keys: equal states share one, different states never do."""

import enum

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.keys import Atom, canonical, state_key

# All of Unicode, lone surrogates too: text of the user's files may hold them (os.fsdecode).
texts = st.text(st.characters(), max_size=6)
atoms: st.SearchStrategy[Atom] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, -1.0, 2.0]),
    texts,
    st.sampled_from(["1", "1.0", "True", "None", "null", "", '"', "\\", ",", '["n"]', "i", "b"]),
)
tuples = st.lists(atoms, max_size=5).map(tuple)


def identity(values: tuple[Atom, ...]) -> list[tuple[type, object]]:
    """Two states are one when types and values agree; -0.0 is 0.0."""
    return [(type(value), value) for value in values]


@given(tuples, tuples)
@example((1,), (True,))
@example((1,), (1.0,))
@example((1,), ("1",))
@example((0,), (False,))
@example((None,), ("None",))
@example((None,), ("n",))
@example((), (None,))
@example(("a", "b"), ("ab",))
@example(("a", "b"), ("b", "a"))
@example(("a,b",), ("a", "b"))
@example(('a"],["s","b',), ("a", "b"))
@example((0.1 + 0.2,), (0.3,))
def test_different_states_have_different_text(one: tuple[Atom, ...], other: tuple[Atom, ...]) -> None:
    assume(identity(one) != identity(other))
    assert canonical(one) != canonical(other)
    assert state_key(one) != state_key(other)


def test_two_surrogates_are_not_the_character_they_would_make() -> None:
    assert canonical(("\ud83d\ude00",)) != canonical(("😀",))


@given(tuples)
def test_equal_states_have_equal_keys(values: tuple[Atom, ...]) -> None:
    assert canonical(values) == canonical(list(values))
    assert state_key(values) == state_key(tuple(values))


@given(tuples)
def test_a_key_is_sixty_four_hex_digits(values: tuple[Atom, ...]) -> None:
    key = state_key(values)
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_a_key_never_changes_between_versions() -> None:
    """Stored tables are filed under it."""
    assert (
        canonical(("Spot", 1, True, 0.5, None))
        == '[["s","Spot"],["i","1"],["b","1"],["f","0x1.0000000000000p-1"],["n"]]'
    )
    assert state_key(("a", 1)) == "b2e3cc62101583e11cef174c12cbc335e40b0a31538b0814bf069e1b572bedcb"


def test_minus_nought_is_nought() -> None:
    assert canonical((-0.0,)) == canonical((0.0,))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(RefusedInput, match=r"finite floats.*discrete"):
        state_key((1, bad))


@pytest.mark.parametrize("bad", [(1,), [1], {"a": 1}, b"1", 1j, np.int64(1), np.bool_(True)])
def test_what_is_no_atom_is_refused(bad: object) -> None:
    with pytest.raises(RefusedInput, match="A state may hold"):
        state_key((bad,))  # type: ignore[arg-type]  # what the test is about


class Colour(enum.StrEnum):
    RED = "red"


def test_a_named_text_is_the_text() -> None:
    assert canonical((Colour.RED,)) == canonical(("red",))
