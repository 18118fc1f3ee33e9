"""Whet's DQN on CartPole-v1. Started by dqn_cartpole.py with a seed."""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_evaluation import Observations, environment
from benchmarks.cartpole_trial import Trial

from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.gymnasium_steps import gymnasium_steps
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Whole

STEPS = 50_000
# What is worth 100 is built up one step of the target at a time: a slow target would take most of the budget for that.
CARTPOLE = Config(
    layout=Layout(tokens=1, width=4), actions=("left", "right"),
    network=Network(encoder=(128, 128), stream=64, heads=1),
    learning_rate=1e-3, restart_updates=0, weight_decay=0.0, target_rate=0.1, batch=64, capacity=50_000,
    warm_up_steps=500, steps_per_round=2, updates_per_round=2, anneal_steps=20_000,
    epsilon=1.0, epsilon_floor=0.04, epsilon_decay=0.998, device="cpu",
)  # fmt: skip


def main(seed: int) -> None:
    torch.set_num_threads(1)
    learner, trial = DQN(CARTPOLE, seed), Trial()

    def greedy(rows: Observations) -> Whole:
        return np.asarray(learner.values(rows, np.ones((len(rows), 2), dtype=np.bool_)).argmax(axis=1))

    for steps in gymnasium_steps([environment()], learner, seed=seed):
        learner.learn(steps)
        if trial.is_over(learner.steps, greedy) or learner.steps >= STEPS:
            break
    trial.tell()


if __name__ == "__main__":
    main(int(sys.argv[1]))
