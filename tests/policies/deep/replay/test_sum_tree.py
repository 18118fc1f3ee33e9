"""The tree alone: its sums, its search, and that numba and numpy agree to the last bit."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.policies.deep.replay.tree import SumTree, loops

COMPILED, PLAIN = loops(True), loops(False)
MASSES = st.one_of(st.just(0.0), st.floats(1e-4, 1e23), st.floats(0.5, 2.0))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("capacity", [1, 15, 16, 17, 256, 257, 5000])
def test_every_place_is_found_in_its_own_interval(capacity: int, compiled: bool) -> None:
    tree = SumTree(capacity, loops(compiled))
    masses = (1 + np.arange(capacity) % 7).astype(np.float64)  # small whole numbers: the sums are exact
    tree.put(np.arange(capacity), masses)
    ends = np.cumsum(masses)
    assert tree.total == ends[-1]
    np.testing.assert_array_equal(tree.find(ends - masses), np.arange(capacity))
    np.testing.assert_array_equal(tree.find(ends - 0.25), np.arange(capacity))


@pytest.mark.parametrize("compiled", [True, False])
def test_a_target_past_the_end_falls_into_the_last_place_with_mass(compiled: bool) -> None:
    tree = SumTree(1000, loops(compiled))
    tree.put(np.array([3, 700]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(tree.find(np.array([0.0, 1.0, 3.0, 4.0])), [3, 700, 700, 700])


@pytest.mark.parametrize("compiled", [True, False])
def test_no_error_builds_up(compiled: bool) -> None:
    tree = SumTree(300, loops(compiled))
    tree.put(np.arange(300), 0.1)
    before = tree.total
    for _ in range(100):
        tree.put(np.array([7, 280]), np.array([1e15, 1e14]))
        tree.put(np.array([7, 280]), 0.1)
    assert tree.total == before


@settings(max_examples=150, deadline=None)
@given(data=st.data(), capacity=st.integers(1, 700))
def test_numba_and_numpy_agree_to_the_last_bit(data: st.DataObject, capacity: int) -> None:
    compiled, plain = SumTree(capacity, COMPILED), SumTree(capacity, PLAIN)
    for _ in range(data.draw(st.integers(1, 4))):
        places = np.array(data.draw(st.lists(st.integers(0, capacity - 1), max_size=60)), dtype=np.int64)
        masses = np.array(data.draw(st.lists(MASSES, min_size=len(places), max_size=len(places))), dtype=np.float64)
        compiled.put(places, masses)
        plain.put(places, masses)
    assert compiled.total == plain.total
    if plain.total:
        shares = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)))
        found = plain.find(shares * plain.total)
        np.testing.assert_array_equal(compiled.find(shares * compiled.total), found)
        assert (plain.masses(found) > 0).all()


def test_rows_begin_with_a_cache_line() -> None:
    tree = SumTree(1000, PLAIN)
    assert [array.ctypes.data % 128 for array in (tree._masses, tree._ends)] == [0, 0]


def test_numba_is_not_imported_before_it_is_needed() -> None:
    program = "import sys, whet, whet.policies.deep.replay; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_numba_numpy_does_it_and_who_insists_is_told() -> None:
    program = """
import sys
sys.modules["numba"] = None  # as if it were not installed
from whet.core.errors import MissingTool
from whet.policies.deep.replay.tree import PLAIN, loops
assert loops(None) is PLAIN
try:
    loops(True)
except MissingTool as error:
    assert "whet[deep]" in str(error)
else:
    sys.exit("it should have been refused")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
