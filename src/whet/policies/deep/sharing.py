"""Agents of a category learn from each other's experiences, as far as these are what they would have met themselves.

    shared = Shared(capacity=10_000, seed=1)
    shared.lend("executor", steps)                      # what happened, with the probabilities of its actions
    borrowed = shared.borrow("analyzer", 64, policy, trust.of(("executor",)))
    learner.learn(borrowed.steps)

Two corrections stand between lender and borrower. *Off policy*: the lender's policy drew the action; the ratio π(a|s)
/ μ(a|s) of the borrower's own probability to the one stored with the experience says how often it counts, and is
capped, since a rare action would otherwise count for all (Ionides, 2008; Munos et al., 2016). *Trust*: no ratio helps
where the same action pays differently; a lender is trusted as far as it predicts what the borrower itself lives
through.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whet.core.errors import RefusedInput
from whet.policies.deep.learning import DeepLearner, Flags, Floats, Steps, Whole

Weights = npt.NDArray[np.float64]
Policy = Callable[[Floats, Flags], Floats]  # probabilities, B × actions, of observations and masks
LARGEST_RATIO = 2.0
_OWN, _MEAN = "(own)", "(mean)"


class Borrowed(NamedTuple):
    """Drawn with their weights as chances, so that every learner can take them as they are."""

    steps: Steps
    lenders: tuple[str, ...]  # one per step
    effective_size: float  # of the whole pool there was to draw from, in experiences of the borrower's own


class Shared:
    """The last `capacity` steps of each agent. Deterministic by its seed."""

    def __init__(self, capacity: int, seed: int, largest_ratio: float = LARGEST_RATIO) -> None:
        self.capacity, self.largest_ratio = capacity, largest_ratio
        self.random = np.random.default_rng(seed)
        self._lent: dict[str, Steps] = {}

    def lend(self, agent: str, steps: Steps) -> None:
        _refuse_unlikely(steps.probabilities)
        known = self._lent.get(agent)
        joined = steps if known is None else joined_steps([known, steps])
        self._lent[agent] = rows_of(joined, np.arange(len(joined.actions))[-self.capacity :])

    def borrow(self, agent: str, count: int, policy: Policy, trust: Mapping[str, float]) -> Borrowed | None:
        """Steps of others: `count` are drawn by their ratios, and each is kept with the trust in its lender.

        None when nobody has anything it could use. A lender that `trust` does not name is not asked.
        """
        lenders = {name: steps for name, steps in self._lent.items() if name != agent and trust.get(name, 0.0) > 0.0}
        if not lenders:
            return None
        pool = joined_steps(list(lenders.values()))
        owners = np.repeat(list(lenders), [len(steps.actions) for steps in lenders.values()])
        believed = np.array([trust[str(name)] for name in owners])
        ratios = self._ratios(pool, policy)
        drawn = self.random.choice(len(ratios), size=count, p=ratios / ratios.sum()) if ratios.any() else np.arange(0)
        kept = drawn[self.random.random(len(drawn)) < believed[drawn]]
        if not len(kept):
            return None
        return Borrowed(
            rows_of(pool, kept), tuple(str(name) for name in owners[kept]), effective_sample_size(ratios * believed)
        )

    def _ratios(self, pool: Steps, policy: Policy) -> Weights:
        mine = policy(pool.observations, pool.masks)[np.arange(len(pool.actions)), pool.actions]
        return importance(mine, pool.probabilities, self.largest_ratio)


def importance(receiving: Floats, behaviour: Floats, largest: float = LARGEST_RATIO) -> Weights:
    """min(π / μ, largest), one per experience."""
    _refuse_unlikely(behaviour)
    return np.minimum(receiving.astype(np.float64) / behaviour.astype(np.float64), largest)


def effective_sample_size(weights: Weights) -> float:
    """(Σw)² / Σw² (Kish, 1965): how many equally weighted experiences these are as good as."""
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


class Trust:
    """How far each lender is believed, by how well it foretells the rewards of the borrower.

    The *skill* of a prediction is 1 − its mean square error / that of the mean reward: 0 is no better than not looking
    at the state. A lender is believed by its skill, and still less in proportion when the borrower has more of its own.
    """

    def __init__(self, memory: float = 0.98, doubt: int = 16) -> None:
        self.memory, self.doubt, self.seen = memory, doubt, 0
        self._errors: dict[str, float] = {}
        self._mean = 0.0

    def observe(self, rewards: Floats, own: Floats, others: Mapping[str, Floats]) -> None:
        """After experiences of the borrower: the rewards, and what it and each lender had expected *before*."""
        for row, reward in enumerate(rewards.astype(np.float64)):
            share = max(1.0 / (self.seen + 1), 1.0 - self.memory)  # averages first, then forgets
            for name, told in {_MEAN: self._mean, _OWN: own[row], **{n: o[row] for n, o in others.items()}}.items():
                before = self._errors.get(name, 0.0)
                self._errors[name] = before + share * ((reward - float(told)) ** 2 - before)
            self._mean += share * (reward - self._mean)
            self.seen += 1

    @property
    def mean(self) -> float:
        return self._mean

    def skill(self, name: str) -> float:
        missed = self._errors[_MEAN]
        return 1.0 - self._errors[name] / missed if missed else 0.0

    def __getitem__(self, lender: str) -> float:
        """Nothing is believed of one whose predictions were not compared, or not often enough."""
        if self.seen < self.doubt or lender not in self._errors:
            return 0.0
        theirs, own = max(0.0, self.skill(lender)), self.skill(_OWN)
        return theirs * theirs / own if own > theirs else theirs

    def of(self, lenders: tuple[str, ...]) -> dict[str, float]:
        return {name: self[name] for name in lenders}


def greedy_policy(learner: DeepLearner, epsilon: float) -> Policy:
    """What a learner of values does that explores with `epsilon`."""

    def policy(observations: Floats, masks: Flags) -> Floats:
        best = learner.values(observations, masks).argmax(axis=1)
        spread = epsilon * masks / masks.sum(axis=1, keepdims=True)
        spread[np.arange(len(best)), best] += 1.0 - epsilon
        return np.asarray(spread, dtype=np.float32)

    return policy


def expected(learner: DeepLearner, observations: Floats, masks: Flags, actions: Whole) -> Floats:
    """What a learner of values thinks these actions are worth."""
    return np.asarray(learner.values(observations, masks)[np.arange(len(actions)), actions])


def joined_steps(parts: list[Steps]) -> Steps:
    return Steps._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def rows_of(steps: Steps, rows: Whole) -> Steps:
    return Steps._make(column[rows] for column in steps)


def _refuse_unlikely(probabilities: Floats) -> None:
    if not (np.isfinite(probabilities).all() and (probabilities > 0.0).all() and (probabilities <= 1.0).all()):
        raise RefusedInput(
            "An experience cannot be shared without the probability with which its action was drawn.",
            "Store a probability above 0 and at most 1 with every step.",
        )
