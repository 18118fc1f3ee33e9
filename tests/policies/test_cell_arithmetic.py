"""One cell's arithmetic, against numbers worked by hand and against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.policy_worlds import entry

from whet.core.ports import Cell, Entry, Move, Scope
from whet.policies.arithmetic import effective_visits, moved

CELL = Cell(Scope.INDIVIDUAL, "walker", "state", "left")
targets = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40)


def step(rate: float, *, averaged: bool) -> Move:
    return Move(cell=CELL, rate=rate, averaged=averaged)


def follow(sequence: list[float], move: Move) -> Entry:
    current: Entry | None = None
    for target in sequence:
        current = moved(current, move, target)
    assert current is not None
    return current


def test_a_constant_rate_moves_a_tenth_of_the_way() -> None:
    assert moved(entry(20.0, visits=3), step(0.1, averaged=False), 50.0).q_value == pytest.approx(23.0)


def test_a_constant_rate_starts_from_zero() -> None:
    # 0 → 1.0 → 1.9 → 2.71 for three targets of 10
    assert follow([10.0, 10.0, 10.0], step(0.1, averaged=False)).q_value == pytest.approx(2.71)


def test_first_visits_average_then_the_rate_takes_over() -> None:
    half = step(0.4, averaged=True)
    assert follow([10.0], half).q_value == pytest.approx(10.0)
    assert follow([10.0, 20.0], half).q_value == pytest.approx(15.0)
    # third visit: 1/3 < 0.4, so 15 + 0.4 · (40 − 15) = 25
    assert follow([10.0, 20.0, 40.0], half).q_value == pytest.approx(25.0)


def test_the_first_averaged_visit_replaces_a_borrowed_value() -> None:
    after = moved(entry(99.0, visits=0), step(0.1, averaged=True), -4.0)
    assert (after.q_value, after.visits, after.mean, after.m2) == (-4.0, 1, -4.0, 0.0)


def test_a_constant_rate_keeps_a_borrowed_value_in_mind() -> None:
    assert moved(entry(100.0, visits=0), step(0.1, averaged=False), 0.0).q_value == pytest.approx(90.0)


def test_replay_moves_the_value_and_nothing_else() -> None:
    before = Entry(q_value=10.0, visits=7, mean=4.0, m2=2.5)
    after = moved(before, step(0.05, averaged=False), 30.0, counted=False)
    assert after == Entry(q_value=11.0, visits=7, mean=4.0, m2=2.5)


def test_moving_leaves_the_old_entry_alone() -> None:
    before = entry(10.0, visits=2)
    moved(before, step(0.1, averaged=True), 30.0)
    assert before == entry(10.0, visits=2)


@given(targets, st.booleans())
def test_the_moments_are_those_of_numpy(sequence: list[float], averaged: bool) -> None:
    after = follow(sequence, step(0.1, averaged=averaged))
    assert after.visits == len(sequence)
    assert after.mean == pytest.approx(float(np.mean(sequence)), abs=1e-8)
    if len(sequence) > 1:
        assert after.variance() == pytest.approx(float(np.var(sequence, ddof=1)), rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=10))
def test_the_first_ten_visits_at_a_tenth_are_the_plain_mean(sequence: list[float]) -> None:
    assert follow(sequence, step(0.1, averaged=True)).q_value == pytest.approx(float(np.mean(sequence)), abs=1e-8)


@given(targets, st.floats(0.01, 1.0), st.booleans())
def test_a_value_never_leaves_the_range_of_what_it_saw(sequence: list[float], rate: float, averaged: bool) -> None:
    value = follow(sequence, step(rate, averaged=averaged)).q_value
    assert min(0.0, *sequence) - 1e-6 <= value <= max(0.0, *sequence) + 1e-6


@given(st.floats(-1e6, 1e6), st.integers(2, 60))
def test_equal_targets_have_no_variance(target: float, times: int) -> None:
    assert follow([target] * times, step(0.1, averaged=True)).m2 == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("visits", "rate", "worth"),
    [(0, 0.1, 0.0), (5, 0.1, 5.0), (19, 0.1, 19.0), (1000, 0.1, 19.0), (3, 0.5, 3.0), (9, 0.5, 3.0), (50, 1.0, 1.0)],
)
def test_what_visits_are_worth(visits: int, rate: float, worth: float) -> None:
    assert effective_visits(visits, rate) == pytest.approx(worth)


def test_the_worth_of_many_visits_is_the_variance_of_the_value() -> None:
    """Var(q) = σ² / worth, measured over many independent cells."""
    rng = np.random.default_rng(7)
    values, rate = np.zeros(20_000), 0.2
    for _ in range(60):
        values += rate * (rng.standard_normal(len(values)) - values)
    assert 1.0 / float(values.var()) == pytest.approx(effective_visits(60, rate), rel=0.05)
