"""Deciding with what was learned, in numpy: no torch to import, and one decision takes well below 100 µs."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np

from whet.core.errors import RefusedInput
from whet.policies.deep import layout
from whet.policies.deep.artefacts import Array
from whet.policies.deep.dqn_artefact import weights_in
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.forward import Forward
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats


class Actor:
    """A saved DQN that only acts. Its actions are those of the network it was saved from."""

    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        self.config = config
        self._forward = Forward(config, weights)
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
        layout.check_one(self.config.layout, len(self.config.actions), observation, mask)
        values = self._forward(observation)
        values *= self._scale
        if not math.isfinite(values.sum()):
            raise RefusedInput("The network's values for this state are not finite.", "Train it again.")
        return values

    def best(self, observation: Floats, mask: Flags) -> int:
        """The allowed action that is worth most."""
        values = self.values_by_head(observation, mask).sum(axis=0)
        values[~mask] = -np.inf
        return int(values.argmax())
