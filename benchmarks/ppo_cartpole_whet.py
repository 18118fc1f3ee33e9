"""Whet's PPO on CartPole-v1. Started by ppo_cartpole.py."""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_evaluation import environment
from benchmarks.cartpole_trial import MOST_STEPS, Trial

from whet.policies.deep.gymnasium_steps import gymnasium_steps
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats, Whole
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config, Linear

ENVIRONMENTS = 8
# Constant and three times rl-zoo's rate: with normalised rewards the critic's gradients are as small as the actor's.
CARTPOLE = Config(
    layout=Layout(tokens=1, width=4), actions=("left", "right"),
    discount=0.98, gae_lambda=0.8, learning_rate=Linear(first=3e-3), device="cpu",
)  # fmt: skip
ZOO = CARTPOLE.model_copy(
    update={
        "learning_rate": Linear(first=1e-3, steps=MOST_STEPS),
        "clip": Linear(first=0.2, steps=MOST_STEPS),
        "normalise_rewards": False,
    }
)
SETTINGS = {"own": CARTPOLE, "zoo": ZOO}


def main(settings: str, seed: int) -> None:
    torch.set_num_threads(1)
    environments = [environment() for _ in range(ENVIRONMENTS)]
    learner = PPO(SETTINGS[settings], seed)
    allowed: Flags = np.ones((1, 2), dtype=np.bool_)

    def greedy(rows: Floats) -> Whole:
        return np.asarray(learner.values(rows, allowed.repeat(len(rows), axis=0)).argmax(axis=1))

    trial = Trial()
    for steps in gymnasium_steps(environments, learner, seed=ENVIRONMENTS * seed):
        if learner.learn(steps) and trial.is_over(learner.steps, greedy):
            break
    trial.tell()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
