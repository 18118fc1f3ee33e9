"""Stable-Baselines3's PPO on CartPole-v1 with the settings of rl-zoo. Started by ppo_cartpole.py, with SB3's Python."""

import importlib
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_evaluation import NAME
from benchmarks.cartpole_sb3 import evaluating
from benchmarks.cartpole_trial import MOST_STEPS, Trial

ZOO = {"n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20, "ent_coef": 0.0}
ENVIRONMENTS, LEARNING_RATE, CLIP = 8, 1e-3, 0.2


def main(seed: int) -> None:
    torch.set_num_threads(1)
    environments = importlib.import_module("stable_baselines3.common.env_util").make_vec_env(
        NAME, n_envs=ENVIRONMENTS, seed=seed
    )
    schedules = {"learning_rate": lambda left: LEARNING_RATE * left, "clip_range": lambda left: CLIP * left}
    model = importlib.import_module("stable_baselines3").PPO(
        "MlpPolicy", environments, seed=seed, device="cpu", **ZOO, **schedules
    )
    trial = Trial()
    model.learn(total_timesteps=MOST_STEPS, callback=evaluating(trial))
    trial.tell()


if __name__ == "__main__":
    main(int(sys.argv[1]))
