"""What is measured while training, row by row, and where TensorBoard finds it."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Self

import numpy as np

from whet.improvement.training_record import Row, TrainingFolder
from whet.policies.deep.learning import DeepLearner, Floats, Steps


class Tally:
    """What happened since the last row."""

    def __init__(self, environments: int) -> None:
        self._returns, self._lengths = np.zeros(environments), np.zeros(environments)
        self._seen: dict[str, list[float]] = defaultdict(list)
        self._observations: Floats | None = None

    def add(self, steps: Steps, told: Mapping[str, float]) -> None:
        self._returns += steps.rewards
        self._lengths += 1
        for place in np.flatnonzero(steps.terminated | steps.truncated):
            self._seen["episode_reward"].append(float(self._returns[place]))
            self._seen["episode_length"].append(float(self._lengths[place]))
            self._returns[place] = self._lengths[place] = 0.0
        for name, value in told.items():
            self._seen[name].append(value)
        self._observations = steps.observations

    def row(self, learner: DeepLearner) -> Row:
        # NaN is a learner's word for what it could not measure, such as variance explained where nothing varied.
        known = {name: [value for value in values if math.isfinite(value)] for name, values in self._seen.items()}
        told = {name: float(np.mean(values)) for name, values in known.items() if values}
        worth = getattr(learner, "worth", None)  # a critic of states, which PPO has and DQN has not
        if worth is not None and self._observations is not None:
            told["value"] = float(worth(self._observations).mean())
        self._seen.clear()
        return {"step": learner.steps, **told}


class Writer:
    """Event files for TensorBoard; what a died process wrote beyond the last save is marked as purged."""

    def __init__(self, folder: TrainingFolder, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder.tensorboard), purge_step=steps + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            for name, value in row.items():
                if name != "step":
                    self._writer.add_scalar(f"train/{name}", value, int(row["step"]))
        self._writer.flush()
