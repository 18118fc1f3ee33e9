"""Problems small enough that what is right is known, and a learner that fits them."""

from typing import Any

import numpy as np
import torch

from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats, Steps, Whole

torch.set_num_threads(1)  # networks this small wait longer for their threads than they compute

STATES = np.eye(4, dtype=np.float32)
SMALL = Network(encoder=(32, 32), stream=32, heads=2, attention=16, attention_heads=2)


def small_config(**chosen: Any) -> Config:
    """Quick on what needs no more than a few hundred steps."""
    values: dict[str, Any] = {
        "layout": Layout(tokens=1, width=4), "actions": ("a", "b", "c", "d"), "network": SMALL, "capacity": 5_000,
        "learning_rate": 3e-3, "target_rate": 0.1, "batch": 64, "warm_up_steps": 64, "epsilon": 1.0,
        "epsilon_decay": 0.999, "anneal_steps": 2_000, "steps_per_round": 8, "restart_updates": 0, "device": "cpu",
    }  # fmt: skip
    return Config(**(values | chosen))


def all_allowed(rows: int, actions: int) -> Flags:
    return np.ones((rows, actions), dtype=np.bool_)


def one_hot(places: Whole, width: int) -> Floats:
    return np.eye(width, dtype=np.float32)[places]


def bandit_steps(observations: Floats, masks: Flags, actions: Whole, rewards: Floats) -> Steps:
    """Each an episode of its own."""
    rows = len(actions)
    ended, cut = np.ones(rows, dtype=np.bool_), np.zeros(rows, dtype=np.bool_)
    chances = np.ones(rows, dtype=np.float32)
    return Steps(observations, masks, actions, chances, rewards, observations, masks, ended, cut)


def play_bandit(learner: DQN, worth: Floats, rounds: int, noise: float = 0.0, seed: int = 5, first: int = 0) -> None:
    """States × actions of mean rewards; the same rounds for the same seed, wherever they begin."""
    states, actions = worth.shape
    masks = all_allowed(8, actions)
    for number in range(first, first + rounds):
        random = np.random.default_rng([seed, number])
        places = random.integers(0, states, 8)
        acts = learner.act(one_hot(places, states), masks)
        rewards = worth[places, acts.actions] + noise * random.standard_normal(8)
        learner.learn(bandit_steps(one_hot(places, states), masks, acts.actions, rewards.astype(np.float32)))
