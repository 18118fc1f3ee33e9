"""What every deep learner can do, so that one loop trains any of them on any environment.

Observations are rows of float32; where a state has several groups of features, a row holds them one after the other.
A mask says which actions are allowed; at least one is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Acts(NamedTuple):
    """One per observation."""

    actions: Whole
    probabilities: Floats  # with which each was drawn


class Steps(NamedTuple):
    """What one step of several environments showed, a row each."""

    observations: Floats
    masks: Flags
    actions: Whole
    probabilities: Floats
    rewards: Floats
    next_observations: Floats
    next_masks: Flags
    terminated: Flags  # nothing follows
    truncated: Flags  # something would follow, but the episode was cut


class DeepLearner(Protocol):
    """Deterministic by its seed, on one machine: saved and opened again, it goes on to the same result."""

    steps: int  # of environments, that it was told of

    def act(self, observations: Floats, masks: Flags) -> Acts:
        """Exploring."""

    def learn(self, steps: Steps) -> Mapping[str, float]:
        """Takes in what happened and improves when it is time; what was measured while improving, by name."""

    def values(self, observations: Floats, masks: Flags) -> Floats:
        """What each action is worth to it (DQN) or how much it prefers it (PPO); −inf: not allowed."""

    def save(self, folder: Path) -> None:
        """Everything, without pickle. A save that was interrupted is refused when opened, by name."""

    @classmethod
    def open(cls, folder: Path) -> Self: ...
