"""RETECS-style learners, written from the publication as baselines: Spieker, Gotlieb, Marijan and Mossige,
"Reinforcement learning for automatic test case prioritization and selection in continuous integration", ISSTA 2017.

A test is seen as its duration, the time since it last ran and its last four verdicts; a function of that, learned
from rewards, gives its priority. Two things differ, for fair play: the duration is the one expected from the past,
not the coming one, and the time is counted in cycles.
"""

import numpy as np
import numpy.typing as npt
from benchmarks.ordering_heuristics import NEVER, Memory, Values
from benchmarks.ordering_history import History, Tests
from benchmarks.ordering_replay import Positions, Ran

_VERDICTS, _GROUPS = 4, 3
_PRIORITIES, _EXPLORED = 25, 0.2
_HIDDEN, _KEPT, _BATCH, _MINIBATCH, _LEARNS_EVERY = 12, 10_000, 1_000, 200, 5
_FIRST_PASSES, _PASSES = 200, 10


def _seen(memory: Memory, tests: Tests) -> tuple[Values, Values]:
    """Expected seconds and cycles since the last run; a test that never ran has waited longest."""
    since = memory.cycle - memory.last_run[tests]
    known = since[memory.last_run[tests] > NEVER]
    longest = known.max() if len(known) else 1.0
    return memory.expected_seconds(tests), np.minimum(since, longest)


def _scaled(values: Values) -> Values:
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros(len(values))


class Tableau:
    """Q-values of 25 priorities in each of 144 discrete states, the mean of their rewards; ε-greedy.

    The reward of an execution is the publication's time-ranked one: how many failures the run found, for a passed
    test less those that came after it. With the failure of the test itself as its reward the priority would have no
    part in what is rewarded, and the ranking came out worse here.
    """

    def __init__(self, history: History, seed: int) -> None:
        self._rng, self._memory = np.random.default_rng(seed), Memory(len(history.tests))
        shape = (_GROUPS * _GROUPS * 2**_VERDICTS, _PRIORITIES)
        self._q, self._visits = np.zeros(shape), np.zeros(shape)
        self._states = self._actions = np.array([], dtype=np.intp)

    def order(self, cycle: int, tests: Tests) -> Positions:
        self._memory.cycle = cycle
        self._states = self._discrete(tests)
        chance = self._rng.random((len(tests), _PRIORITIES))
        greedy = np.lexsort((chance, self._q[self._states]), axis=-1)[:, -1]
        explored = self._rng.random(len(tests)) < _EXPLORED
        self._actions = np.where(explored, self._rng.integers(_PRIORITIES, size=len(tests)), greedy)
        return np.lexsort((self._rng.random(len(tests)), -self._actions))

    def _discrete(self, tests: Tests) -> npt.NDArray[np.intp]:
        seconds, since = (np.digitize(_scaled(values), (0.33, 0.66)) for values in _seen(self._memory, tests))
        states: npt.NDArray[np.intp] = (seconds * _GROUPS + since) * 2**_VERDICTS + self._memory.last_four[tests]
        return states

    def learn(self, cycle: int, ran: Ran) -> None:
        rewards = time_ranked(ran.failed)
        for state, action, reward in zip(
            self._states[ran.positions], self._actions[ran.positions], rewards, strict=True
        ):
            self._visits[state, action] += 1
            self._q[state, action] += (reward - self._q[state, action]) / self._visits[state, action]
        self._memory.learn(ran)


def time_ranked(failed_in_order: npt.NDArray[np.bool_]) -> Values:
    """The share of the run's failures found up to here; all of them for a failure itself."""
    failures = int(failed_in_order.sum())
    if not failures:
        return np.zeros(len(failed_in_order))
    return np.where(failed_in_order, 1.0, np.cumsum(failed_in_order) / failures)


class Network:
    """A network with one hidden layer of 12 predicts whether the test fails. Every fifth cycle it learns from a batch
    of 1,000 of the last 10,000 executions, later ones drawn more often.

    It passes over a batch ten times. With one pass, as in the authors' program, it scored far lower on every history
    and had a test that always fails still last after 150 cycles.
    """

    def __init__(self, history: History, seed: int) -> None:
        self._rng, self._memory = np.random.default_rng(seed), Memory(len(history.tests))
        self._net = Perceptron(2 + _VERDICTS, _HIDDEN, self._rng)
        self._x: Values = np.empty((0, 2 + _VERDICTS))
        self._y: Values = np.empty(0)
        self._states, self._cycles = self._x, 0

    def order(self, cycle: int, tests: Tests) -> Positions:
        self._memory.cycle = cycle
        seconds, since = _seen(self._memory, tests)
        verdicts = (self._memory.last_four[tests][:, None] >> np.arange(_VERDICTS)) & 1
        self._states = np.column_stack((seconds / seconds.sum(), _scaled(since), verdicts))
        priority = self._net.predict(self._states) if self._cycles else np.zeros(len(tests))
        return np.lexsort((self._rng.random(len(tests)), -priority))

    def learn(self, cycle: int, ran: Ran) -> None:
        self._x = np.concatenate((self._x, self._states[ran.positions]))[-_KEPT:]
        self._y = np.concatenate((self._y, ran.failed.astype(np.float64)))[-_KEPT:]
        self._memory.learn(ran)
        self._cycles += 1
        if self._cycles == 1 or self._cycles % _LEARNS_EVERY == 0:
            batch = self._drawn()
            for _ in range(_FIRST_PASSES if self._cycles == 1 else _PASSES):
                self._learn_from(batch)

    def _drawn(self) -> Positions:
        weights = np.arange(1, len(self._y) + 1) / (len(self._y) * (len(self._y) + 1) / 2)
        return self._rng.choice(len(self._y), min(_BATCH, len(self._y)), replace=False, p=weights)

    def _learn_from(self, batch: Positions) -> None:
        for begin in range(0, len(batch), _MINIBATCH):
            rows = batch[begin : begin + _MINIBATCH]
            self._net.step(self._x[rows], self._y[rows])


class Perceptron:
    """One hidden layer of rectified units and a logistic output, fitted to 0 and 1 by Adam (Kingma & Ba, 2015)."""

    def __init__(self, inputs: int, hidden: int, rng: np.random.Generator) -> None:
        wide, narrow = (6 / (inputs + hidden)) ** 0.5, (2 / (hidden + 1)) ** 0.5
        self._weights = [
            rng.uniform(-wide, wide, (inputs, hidden)),
            np.zeros(hidden),
            rng.uniform(-narrow, narrow, hidden),
            np.zeros(1),
        ]
        self._moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self._weights]
        self._steps = 0

    def predict(self, x: Values) -> Values:
        return self._forward(x)[1]

    def _forward(self, x: Values) -> tuple[Values, Values]:
        w1, b1, w2, b2 = self._weights
        hidden = np.maximum(x @ w1 + b1, 0.0)
        return hidden, 1 / (1 + np.exp(-np.clip(hidden @ w2 + b2, -30, 30)))

    def step(self, x: Values, y: Values) -> None:
        hidden, p = self._forward(x)
        error = (p - y) / len(y)  # of the cross-entropy, by the output's input
        back = np.outer(error, self._weights[2]) * (hidden > 0)
        self._adam([x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(keepdims=True)])

    def _adam(self, gradients: list[Values], rate: float = 1e-3, b1: float = 0.9, b2: float = 0.999) -> None:
        self._steps += 1
        for place, gradient in enumerate(gradients):
            mean, square = self._moments[place]
            mean, square = b1 * mean + (1 - b1) * gradient, b2 * square + (1 - b2) * gradient**2
            self._moments[place] = mean, square
            unbiased = mean / (1 - b1**self._steps), square / (1 - b2**self._steps)
            self._weights[place] = self._weights[place] - rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
