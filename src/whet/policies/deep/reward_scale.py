"""Rewards brought to a common size, so that one learning rate fits every problem.

They are divided by the standard deviation of the discounted sum of past rewards, which is about the size of what the
critic has to say (Engstrom et al., 2020, section 3, "reward scaling"). The mean stays: without it a task in which
living longer pays would turn into another one.
"""

import math

import numpy as np

from whet.core.records import Record
from whet.policies.deep.gae import Doubles, Flags

_LARGEST = 10.0  # a single surprise does not outweigh all else
_SMALLEST_VARIANCE = 1e-8  # of what does not vary: such rewards are cut to ±10, and teach nothing


class RewardScale(Record):
    """What has been seen of discounted sums; `sums` are those under way, one an environment."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0  # of the distances from the mean
    sums: tuple[float, ...] = ()

    def seen(self, rewards_t: Doubles, ended_t: Flags, discount: float) -> "RewardScale":
        """After another rollout, T × N. An environment more or fewer, and all begin at zero again."""
        sums_t = np.empty_like(rewards_t)
        running = np.array(self.sums) if len(self.sums) == rewards_t.shape[1] else np.zeros(rewards_t.shape[1])
        for t, rewards in enumerate(rewards_t):
            running = sums_t[t] = discount * running + rewards
            running = running * ~ended_t[t]
        return self._merged(sums_t).model_copy(update={"sums": tuple(running.tolist())})

    @property
    def deviation(self) -> float:
        return math.sqrt(self.squares / max(1, self.count) + _SMALLEST_VARIANCE)

    def scaled(self, rewards: Doubles) -> Doubles:
        return np.asarray(np.clip(rewards / self.deviation, -_LARGEST, _LARGEST))

    def _merged(self, values: Doubles) -> "RewardScale":
        """Mean and squares of two sets from those of each (Chan et al., 1979)."""
        count = self.count + values.size
        apart = float(values.mean()) - self.mean
        squares = float(np.square(values - values.mean()).sum()) + apart**2 * self.count * values.size / count
        mean = self.mean + apart * values.size / count
        return RewardScale(count=count, mean=mean, squares=self.squares + squares)
