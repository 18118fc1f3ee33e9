"""Tiny problems with known answers."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from whet.policies.deep.gymnasium_steps import gymnasium_steps, sizes
from whet.policies.deep.layout import Layout
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config, Linear

Kind = type[gymnasium.Env[Any, Any]]


class Bandit(gymnasium.Env[Any, Any]):
    """Three contexts of four arms, one pull an episode. In the third, its best arm is not allowed."""

    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(4)
    PAYS = np.array([[1.0, 0.2, 0.0, 0.4], [0.0, 0.1, 0.8, 0.5], [0.3, 0.6, 0.2, 0.9]])
    ALLOWED = np.array([[True] * 4, [True] * 4, [True, True, True, False]])
    BEST = (0, 2, 1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._context = int(self.np_random.integers(3))
        return self._context, {"action_mask": self.ALLOWED[self._context]}

    def step(self, action: Any) -> Any:
        assert self.ALLOWED[self._context][action]
        reward = self.PAYS[self._context][action] + 0.3 * self.np_random.normal()
        return self._context, 100.0 * reward, True, False, {}


class Chain(gymnasium.Env[Any, Any]):
    """Three steps, and only the last pays: 10 if the *first* action was 1. The second costs 1 when it is 1."""

    observation_space = spaces.MultiBinary(4)
    action_space = spaces.Discrete(2)
    BEST = (1, 0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._taken: list[int] = []
        return self._shown(), {}

    def step(self, action: Any) -> Any:
        self._taken.append(int(action))
        last = len(self._taken) == 3
        reward = 10.0 * self._taken[0] if last else -1.0 * self._taken[-1] * (len(self._taken) == 2)
        return self._shown(), reward, last, False, {}

    def _shown(self) -> Any:
        """Which step it is, and nothing of what was done."""
        return np.eye(4, dtype=np.int8)[len(self._taken)]


def small(kind: Kind, **chosen: Any) -> Config:
    features, actions = sizes(kind())
    basic: dict[str, Any] = {
        "layout": Layout(tokens=1, width=features),
        "actions": tuple(f"a{number}" for number in range(actions)),
        "hidden": (16,),
        "rollout_steps": 16,
        "minibatch": 64,
        "epochs": 4,
        "learning_rate": Linear(first=0.01),
        "entropy_weight": 0.01,
    }
    return Config(**basic | chosen)


def train(learner: PPO, kind: Kind, rounds: int, seed: int = 1) -> list[dict[str, float]]:
    """What was measured at each improvement."""
    told = (learner.learn(steps) for steps in gymnasium_steps([kind() for _ in range(8)], learner, seed, rounds))
    return [dict(measures) for measures in told if measures]
