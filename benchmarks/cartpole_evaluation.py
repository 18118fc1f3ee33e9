"""CartPole-v1, judged alike for every learner: mean return of greedy episodes, all of them played at once.

Imports nothing of Whet, so that a peer's own environment can use it.
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

NAME, SOLVED = "CartPole-v1", 475.0
Observations = npt.NDArray[np.float32]
Greedy = Callable[[Observations], npt.NDArray[Any]]


def environment() -> gymnasium.Env[Any, Any]:
    return gymnasium.make(NAME)


def mean_return(greedy: Greedy, episodes: int, seed: int) -> float:
    """The seeds of the episodes are equal for equal `seed`, whoever plays."""
    worlds = [environment() for _ in range(episodes)]
    observations = [world.reset(seed=10_000 + 1_000 * seed + i)[0] for i, world in enumerate(worlds)]
    returns, playing = np.zeros(episodes), list(range(episodes))
    while playing:
        actions = greedy(np.stack([observations[i] for i in playing]).astype(np.float32))
        for i, action in zip(tuple(playing), actions, strict=True):
            observations[i], reward, terminated, truncated, _ = worlds[i].step(int(action))
            returns[i] += float(reward)
            if terminated or truncated:
                playing.remove(i)
    return float(returns.mean())
