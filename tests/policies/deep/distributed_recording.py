"""One recording of several environments, and a process that learns from its part of it: python -m … FOLDER."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from whet.core.errors import RefusedInput
from whet.policies.deep.distributed import Processes, joined
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Steps
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config, Linear

ROUNDS, ENVIRONMENTS = 36, 6
CONFIG = Config(
    layout=Layout(tokens=1, width=4), actions=("a", "b"), hidden=(16,), learning_rate=Linear(first=0.01),
    rollout_steps=9, minibatch=13, epochs=4, entropy_weight=0.01,
)  # fmt: skip  # 54 rows in minibatches of 13 and 14: shares of uneven size


def recorded(own: slice) -> list[Steps]:
    """Some of the environments; the recording stands for what they would have shown."""
    random = np.random.default_rng(1)
    steps = []
    for _ in range(ROUNDS):
        shown = random.normal(size=(2, ENVIRONMENTS, 4)).astype(np.float32)
        allowed = np.ones((ENVIRONMENTS, 2), dtype=np.bool_)
        actions, ended = random.integers(0, 2, ENVIRONMENTS), random.random((2, ENVIRONMENTS)) < 0.1
        rewards = (shown[0, :, 0] * actions).astype(np.float32)
        even = np.full(ENVIRONMENTS, 0.5, dtype=np.float32)
        whole = (shown[0], allowed, actions, even, rewards, shown[1], allowed, ended[0], ended[1] & ~ended[0])
        columns: list[Any] = [column[own] for column in whole]
        steps.append(Steps(*columns))
    return steps


def told_of(learner: PPO, measures: Mapping[str, float]) -> dict[str, Any]:
    weights = torch.cat([parameter.flatten() for parameter in learner.updater.network.parameters()])
    counted = [learner.steps, learner.episodes, learner.updates, learner.rollouts]
    return {"weights": weights.tolist(), "counted": counted, "measures": dict(measures)}


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    with joined(patience_seconds=60) as processes:
        learner = PPO(CONFIG, seed=5, processes=processes)
        half = ENVIRONMENTS // processes.size
        learned = [
            learner.learn(steps) for steps in recorded(slice(processes.rank * half, (processes.rank + 1) * half))
        ]
        if processes.rank == 0:
            learner.save(folder / "saved")
        told = told_of(learner, learned[-1]) | {"refusal": _refusal(processes)}
        (folder / f"{processes.rank}.json").write_text(json.dumps(told))


def _refusal(processes: Processes) -> str:
    """What is said when the processes have different numbers of environments."""
    learner = PPO(CONFIG, processes=processes)
    try:
        for steps in recorded(slice(0, processes.rank + 1)):
            learner.learn(steps)
    except RefusedInput as refused:
        return str(refused)
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
