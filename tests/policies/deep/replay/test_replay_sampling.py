"""What is drawn how often, with which weights, and what is overwritten."""

import itertools
import tracemalloc

import numpy as np
import pytest
from tests.policies.deep.replay.replay_items import SCHEMA, assert_items, filled, items

from whet.policies.deep.replay import Replay

both = pytest.mark.parametrize("compiled", [True, False])
# The largest χ² that 1 in 10,000 honest samplers exceeds, by degrees of freedom
CHI2_LIMIT = {5: 25.74, 39: 80.43}


def _chi2(counts: np.ndarray, expected: np.ndarray) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


@both
def test_frequencies_match_priorities(compiled: bool) -> None:
    replay = filled(40, seed=11, compiled=compiled)
    errors = np.linspace(-4.0, 6.0, 40)
    replay.update(np.arange(40), errors)
    draws = 200_000
    counts = np.bincount(replay.sample(draws).places, minlength=40)
    masses = (np.abs(errors) + 1e-6) ** 0.6
    assert _chi2(counts, draws * masses / masses.sum()) < CHI2_LIMIT[39]


@both
def test_without_replacement_pairs_come_as_often_as_drawing_one_after_the_other(compiled: bool) -> None:
    replay = filled(3, seed=5, alpha=1.0, compiled=compiled)
    masses = np.array([1.0, 2.0, 7.0])
    replay.update(np.arange(3), masses - 1e-6)
    pairs = list(itertools.permutations(range(3), 2))
    drawn = [tuple(replay.sample(2, replacement=False).places) for _ in range(6000)]
    expected = [masses[a] / 10 * masses[b] / (10 - masses[a]) for a, b in pairs]
    assert _chi2(np.array([drawn.count(pair) for pair in pairs]), 6000 * np.array(expected)) < CHI2_LIMIT[5]


@both
def test_without_replacement_everything_held_can_be_drawn_however_uneven(compiled: bool) -> None:
    replay = filled(200, 300, compiled=compiled)
    replay.update(np.arange(200), np.logspace(-30, 30, 200))
    sample = replay.sample(200, replacement=False)
    assert sorted(sample.places) == list(range(200))
    assert_items(sample.columns, sample.places)
    again = replay.sample(5000)
    assert set(again.places) <= set(range(140, 200)), "the priorities were not put back"


@both
def test_weights_by_hand(compiled: bool) -> None:
    replay = filled(3, alpha=0.5, beta=0.5, compiled=compiled)
    replay.update(np.arange(3), np.array([1.0, 4.0, 16.0]) - 1e-6)
    # α ½: masses 1, 2, 4 of 7. (3 · 1/7)^−½ = 1.5275 is the largest weight; over it: 1, 2^−½, 4^−½.
    expected = {0: 1.0, 1: 0.70710678, 2: 0.5}
    sample = replay.sample(3, replacement=False)
    assert sample.weights.dtype == np.float32
    np.testing.assert_allclose(sample.weights, [expected[place] for place in sample.places], rtol=1e-6)
    replay.anneal(1.0)
    sample = replay.sample(3, replacement=False)
    np.testing.assert_allclose(sample.weights, [0.5**place for place in sample.places], rtol=1e-6)


def test_beta_rises_from_its_start_to_one() -> None:
    replay = filled(1)
    betas = []
    for fraction in (0.0, 0.25, 0.5, 1.0):
        replay.anneal(fraction)
        betas.append(replay.beta)
    assert betas == pytest.approx([0.4, 0.55, 0.7, 1.0])


def test_the_defaults_are_those_of_the_paper() -> None:
    replay = filled(1)
    assert replay.beta == 0.4
    assert Replay(SCHEMA).capacity == 1_000_000


@both
def test_the_oldest_are_overwritten(compiled: bool) -> None:
    replay = Replay(SCHEMA, 5, compiled=compiled)
    np.testing.assert_array_equal(replay.add(items(0, 1, 2)), [0, 1, 2])
    np.testing.assert_array_equal(replay.add(items(3, 4, 5, 6)), [3, 4, 0, 1])
    assert len(replay) == 5
    sample = replay.sample(5, replacement=False)
    assert_items(sample.columns, np.array([5, 6, 2, 3, 4])[sample.places])


@both
def test_new_items_get_the_largest_priority_seen_so_far(compiled: bool) -> None:
    replay = filled(2, 4, alpha=1.0, beta=1.0, compiled=compiled)
    replay.update(np.array([0, 1]), np.array([9.0, 3.0]))
    replay.update(np.array([0]), np.array([1.0]))
    replay.add(items(2))
    sample = replay.sample(3, replacement=False)
    weights = dict(zip(sample.places.tolist(), sample.weights, strict=True))
    assert weights == pytest.approx({0: 1.0, 1: 1 / 3, 2: 1 / 9}, rel=1e-5)


@both
def test_a_sample_is_a_copy(compiled: bool) -> None:
    replay = filled(4, compiled=compiled)
    for column in replay.sample(4, replacement=False).columns.values():
        column.fill(0)
    sample = replay.sample(4, replacement=False)
    assert_items(sample.columns, sample.places)


def test_seeds_decide() -> None:
    first, same, other = (filled(1000, seed=seed) for seed in (3, 3, 4))
    drawn = first.sample(50).places
    np.testing.assert_array_equal(same.sample(50).places, drawn)
    assert (other.sample(50).places != drawn).any()


def test_memory_grows_with_the_capacity_alone() -> None:
    def taken(capacity: int) -> tuple[float, float]:
        tracemalloc.start()
        replay = Replay(SCHEMA, capacity)
        empty, _ = tracemalloc.get_traced_memory()
        for first in range(0, 2 * capacity, 1000):
            replay.add(items(*range(first, first + 1000)))
        full, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return empty / capacity, (full - empty) / capacity

    (small, grown), (large, larger_grown) = taken(16_000), taken(64_000)
    assert large == pytest.approx(small, rel=0.02)
    assert grown < 1
    assert larger_grown < 1
