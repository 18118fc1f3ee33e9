"""Deciding with what was learned, in numpy: no torch to import, and one decision takes less than 100 µs."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np

from whet.core.errors import RefusedInput
from whet.policies.deep.artefacts import Array
from whet.policies.deep.dqn_artefact import weights_in
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.forward import Forward
from whet.policies.deep.layout import CheckOne, Layout
from whet.policies.deep.learning import Flags, Floats
from whet.policies.deep.ppo_artefact import Layers, layers_in
from whet.policies.deep.ppo_config import Config as PPOConfig


class Actor:
    """A saved DQN that only acts. Its actions are those of the network it was saved from."""

    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        self.config = config
        self._check, self._forward = CheckOne(config.layout, len(config.actions)), Forward(config, weights)
        self._scale = np.float32(1.0 / config.reward_scale)

    @classmethod
    def open(cls, folder: Path, expected: Layout | None = None) -> Self:
        """`expected` is the layout of the encoder that will be used; a policy made for another one is refused."""
        config, weights = weights_in(folder)
        if expected is not None:
            expected.refuse_another(config.layout, f"The policy in {folder}")
        return cls(config, weights)

    def values_by_head(self, observation: Floats, mask: Flags) -> Floats:
        """Heads × actions, in rewards, of one row."""
        self._check(observation, mask)
        values = self._forward(observation)
        values *= self._scale
        return _finite(values)

    def best(self, observation: Floats, mask: Flags) -> int:
        """The allowed action that is worth most. All heads together: the quicker question."""
        self._check(observation, mask)
        values = _finite(self._forward.summed(observation))
        values[~mask] = -np.inf
        return int(values.argmax())


class PPOActor:
    """A saved PPO that only acts."""

    def __init__(self, config: PPOConfig, layers: Layers, version: str = "") -> None:
        self.config, self.version = config, version
        self._check = CheckOne(config.layout, len(config.actions))
        # Inputs × outputs, the layout in which a row times a matrix is quickest.
        self._layers = [(np.ascontiguousarray(matrix.T), offsets) for matrix, offsets in layers]

    @classmethod
    def open(cls, folder: Path, expected: Layout | None = None) -> Self:
        config, layers, digest = layers_in(folder)
        if expected is not None:
            expected.refuse_another(config.layout, f"The policy in {folder}")
        return cls(config, layers, digest[:12])

    def preferences(self, observation: Floats, mask: Flags) -> Floats:
        """Of each action, allowed or not: logarithms of probabilities, up to a number that all have in common."""
        self._check(observation, mask)
        numbers = observation
        for matrix, offsets in self._layers[:-1]:
            numbers = numbers.dot(matrix)
            numbers += offsets
            np.tanh(numbers, out=numbers)
        matrix, offsets = self._layers[-1]
        return _finite(numbers.dot(matrix) + offsets)

    def best(self, observation: Floats, mask: Flags) -> int:
        """The allowed action that is taken most often."""
        preferences = self.preferences(observation, mask)
        preferences[~mask] = -np.inf
        return int(preferences.argmax())


def _finite(values: Floats) -> Floats:
    if not math.isfinite(np.add.reduce(values, axis=None)):
        raise RefusedInput("The network's values for this state are not finite.", "Train it again.")
    return values
