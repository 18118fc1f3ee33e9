"""What a trained network thinks of the actions, before the project has shown anything of its own. No torch needed."""

from pathlib import Path
from typing import Protocol

import numpy as np

from whet.policies.beliefs import Beliefs
from whet.policies.deep import artefacts
from whet.policies.deep.acting import Actor, PPOActor
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats

# How far the differences between actions on a project that was not trained on may be from what was learned elsewhere,
# in reward points. On the worlds used for tuning, each left out in turn, their root mean square is 5, with a few of 20:
# with an error of 5 one in five lives never tried what was best, with 8 none, and more made the start slower.
UNSEEN_POINTS = 8.0
# A preference is no reward. An action that is e times as likely counts as better by this many points.
PREFERENCE_POINTS = 2.0
_LEAST_PREFERENCE = -4.0


class Opinion(Protocol):
    """`values` says whether its means are expected rewards, or only say what is preferred to what."""

    name: str
    values: bool
    actions: tuple[str, ...]
    version: str

    def beliefs(self, observation: Floats, mask: Flags) -> Beliefs:
        """One mean and one standard error per action; what it says of actions that are not allowed means nothing."""


class ValuedByHeads:
    """DQN: the mean of the ensemble's heads; where they disagree, and because the project is another, it may be off."""

    name, values = "dqn", True

    def __init__(self, folder: Path, expected: Layout) -> None:
        self._actor = Actor.open(folder, expected)
        self.actions = self._actor.config.actions
        self.version = artefacts.read(folder, "dqn").manifest.sha256[:12]

    def beliefs(self, observation: Floats, mask: Flags) -> Beliefs:
        heads = self._actor.values_by_head(observation, mask).astype(np.float64)
        disagreement = heads.var(axis=0, ddof=1) if len(heads) > 1 else np.zeros(heads.shape[1])
        return Beliefs(heads.mean(axis=0), np.sqrt(disagreement + UNSEEN_POINTS**2))


class Preferred:
    """PPO: how much more often than others an action would be taken."""

    name, values = "ppo", False

    def __init__(self, folder: Path, expected: Layout) -> None:
        self._actor = PPOActor.open(folder, expected)
        self.actions, self.version = self._actor.config.actions, self._actor.version

    def beliefs(self, observation: Floats, mask: Flags) -> Beliefs:
        told = self._actor.preferences(observation, mask).astype(np.float64)
        behind = np.maximum(told - told[mask].max(), _LEAST_PREFERENCE)
        return Beliefs(PREFERENCE_POINTS * behind, np.full(len(told), UNSEEN_POINTS))


def layout_in(name: str, folder: Path) -> Layout:
    """What it was trained to see; with room for memories, or without."""
    actor = Actor.open(folder) if name == "dqn" else PPOActor.open(folder)
    return actor.config.layout


def opened(name: str, folder: Path, expected: Layout) -> Opinion:
    return ValuedByHeads(folder, expected) if name == "dqn" else Preferred(folder, expected)
