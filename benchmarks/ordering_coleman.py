"""COLEMAN-style learners, written from the publication as baselines: Prado Lima and Vergilio, "A multi-armed bandit
approach for test case prioritization in continuous integration environments", TSE 2020.

Every test is an arm of a bandit; the whole suite is ordered by the arms' quality. The reward is the publication's
RNFail: 1 for an arm that failed. Mended: the credit goes to the arm at the rank that found the failure, also when
some ranks of the order did not run.
"""

from collections import deque

import numpy as np
from benchmarks.ordering_heuristics import Values
from benchmarks.ordering_history import History, Tests
from benchmarks.ordering_replay import Positions, Ran

_WINDOW_CYCLES, _WINDOW_EXPLORATION = 100, 0.3
_EXPLORATION = 0.5
_LAST_WEIGHT = 1e-12


class _Bandit:
    def __init__(self, history: History, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._quality = np.zeros(len(history.tests))  # an arm that was never pulled has none yet

    def order(self, cycle: int, tests: Tests) -> Positions:
        return np.lexsort((self._rng.random(len(tests)), -self._quality[tests]))


class Ucb(_Bandit):
    """Upper confidence bound. An arm counts as pulled the less, the later it came: all of them run."""

    def __init__(self, history: History, seed: int) -> None:
        super().__init__(history, seed)
        self._rewards, self._pulls = np.zeros(len(history.tests)), np.zeros(len(history.tests))

    def learn(self, cycle: int, ran: Ran) -> None:
        arms, failed = _arms(ran)
        self._pulls[arms] += np.linspace(1.0, _LAST_WEIGHT, len(arms))
        self._rewards[arms] += failed
        pulled = self._pulls > 0
        bonus = np.sqrt(2 * np.log1p(self._pulls.sum()) / self._pulls[pulled])
        self._quality[pulled] = self._rewards[pulled] / self._pulls[pulled] + _EXPLORATION * bonus


class Frrmab(_Bandit):
    """Fitness-rate-rank: an arm's share of the rewards within a window of cycles, and a bonus for rare ones there."""

    def __init__(self, history: History, seed: int) -> None:
        super().__init__(history, seed)
        self._window: deque[tuple[Tests, Values]] = deque()
        self._rewards, self._pulls = np.zeros(len(history.tests)), np.zeros(len(history.tests))

    def learn(self, cycle: int, ran: Ran) -> None:
        self._window.append(_arms(ran))
        self._count(*self._window[-1], sign=1)
        if len(self._window) > _WINDOW_CYCLES:
            self._count(*self._window.popleft(), sign=-1)
        pulled = self._pulls > 0
        bonus = np.sqrt(2 * np.log1p(self._pulls.sum()) / self._pulls[pulled])
        share = self._rewards[pulled] / max(self._rewards.sum(), 1.0)
        self._quality = np.zeros(len(self._quality))
        self._quality[pulled] = share + _WINDOW_EXPLORATION * bonus

    def _count(self, arms: Tests, failed: Values, sign: int) -> None:
        self._pulls[arms] += sign
        self._rewards[arms] += sign * failed


def _arms(ran: Ran) -> tuple[Tests, Values]:
    """Each test that ran once, in the order of its first execution, with 1 where an execution of it failed."""
    arms, first, which = np.unique(ran.tests, return_index=True, return_inverse=True)
    failed = np.zeros(len(arms))
    np.maximum.at(failed, which, ran.failed.astype(np.float64))
    by_rank = np.argsort(first)
    return arms[by_rank], failed[by_rank]
