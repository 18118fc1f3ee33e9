"""Any sequence of calls, with numba and with numpy, against a model that is too simple to be wrong."""

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.policies.deep.replay.replay_items import SCHEMA, assert_items, items

from whet.policies.deep.replay import Replay, Sample


class ReplayAndModel(RuleBasedStateMachine):
    """The model: a list of (number, priority), and sums made from the whole of it each time."""

    @initialize(capacity=st.integers(1, 40), alpha=st.sampled_from([0.0, 0.6, 1.0]), seed=st.integers(0, 9))
    def begin(self, capacity: int, alpha: float, seed: int) -> None:
        self.replays = [Replay(SCHEMA, capacity, seed, alpha=alpha, compiled=compiled) for compiled in (True, False)]
        self.capacity, self.alpha, self.beta = capacity, alpha, 0.4
        self.random = np.random.default_rng(seed)
        self.items: list[tuple[int, float]] = []
        self.next, self.added, self.largest = 0, 0, 1.0

    @rule(number=st.integers(0, 40))
    def add(self, number: int) -> None:
        number = min(number, self.capacity)
        numbers = range(self.added, self.added + number)
        expected = []
        for each in numbers:
            self.items[self.next : self.next + 1] = [(each, self.largest)]
            expected.append(self.next)
            self.next = (self.next + 1) % self.capacity
        self.added += number
        for replay in self.replays:
            np.testing.assert_array_equal(replay.add(items(*numbers)), expected)

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def update(self, data: st.DataObject) -> None:
        places = data.draw(st.lists(st.integers(0, len(self.items) - 1), min_size=1, max_size=50))
        sizes = st.floats(-1e6, 1e6, width=32)
        errors = data.draw(st.lists(sizes, min_size=len(places), max_size=len(places)))
        for place, error in zip(places, errors, strict=True):
            priority = abs(error) + 1e-6
            self.items[place] = (self.items[place][0], priority)
            self.largest = max(self.largest, priority)
        for replay in self.replays:
            replay.update(np.array(places), np.array(errors, dtype=np.float32))

    @rule(fraction=st.floats(0.0, 1.0))
    def anneal(self, fraction: float) -> None:
        self.beta = 0.4 + 0.6 * fraction
        for replay in self.replays:
            replay.anneal(fraction)

    @precondition(lambda self: self.items)
    @rule(number=st.integers(1, 30))
    def sample(self, number: int) -> None:
        shares = self.random.random(number)
        self._check_sample([replay.sample(number) for replay in self.replays])
        masses = self._masses()
        ends = np.cumsum(masses)
        targets = shares * ends[-1]
        nearest = np.abs(ends - targets[:, None]).min(axis=1)
        clear = nearest > 1e-9 * ends[-1]  # nearer to an edge, rounding decides
        expected = np.searchsorted(ends, targets, side="right")
        np.testing.assert_array_equal(self.places[clear], expected[clear])

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def sample_without_replacement(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(1, len(self.items)))
        self._check_sample([replay.sample(number, replacement=False) for replay in self.replays])
        assert len(set(self.places)) == number
        self.random.bit_generator.state = self.replays[0]._random.bit_generator.state

    def _check_sample(self, samples: list[Sample]) -> None:
        self.places = samples[0].places
        masses = self._masses()
        chances = len(masses) * masses[self.places] / masses.sum()
        weights = chances**-self.beta
        for sample in samples:
            np.testing.assert_array_equal(sample.places, self.places)
            np.testing.assert_array_equal(sample.weights, samples[0].weights)
            np.testing.assert_allclose(sample.weights, weights / weights.max(), rtol=1e-5)
            assert_items(sample.columns, [self.items[place][0] for place in self.places])

    def _masses(self) -> Any:
        return np.array([priority for _, priority in self.items]) ** self.alpha

    @invariant()
    def both_hold_the_same(self) -> None:
        for replay in getattr(self, "replays", []):
            assert len(replay) == len(self.items)
            np.testing.assert_allclose(replay._tree.total, self._masses().sum(), rtol=1e-12)
            assert replay._tree.total == self.replays[0]._tree.total


ReplayAndModel.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestReplayAndModel = ReplayAndModel.TestCase
