"""Stable-Baselines3's DQN on CartPole-v1 with the settings of rl-zoo. Started by dqn_cartpole.py, with SB3's Python."""

import importlib
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_evaluation import NAME
from benchmarks.cartpole_sb3 import evaluating
from benchmarks.cartpole_trial import Trial

STEPS = 50_000
ZOO = {
    "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "learning_starts": 1_000, "gamma": 0.99,
    "target_update_interval": 10, "train_freq": 256, "gradient_steps": 128, "exploration_fraction": 0.16,
    "exploration_final_eps": 0.04, "policy_kwargs": {"net_arch": [256, 256]},
}  # fmt: skip


def main(seed: int) -> None:
    torch.set_num_threads(1)
    model = importlib.import_module("stable_baselines3").DQN("MlpPolicy", NAME, seed=seed, device="cpu", **ZOO)
    trial = Trial()
    model.learn(total_timesteps=STEPS, callback=evaluating(trial))
    trial.tell()


if __name__ == "__main__":
    main(int(sys.argv[1]))
