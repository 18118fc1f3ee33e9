"""Training that was interrupted goes on from its last save to the result it would have had anyway."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.policies.deep.small_problems import STATES, play_bandit, small_config

from whet.core.errors import RefusedInput
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config

ROUNDS, SAVED_EVERY = 40, 10
TRAINING = """
import sys
from pathlib import Path
from tests.policies.deep.test_dqn_resuming import train
train(Path(sys.argv[1]))
"""


def config() -> Config:
    return small_config(batch=16, warm_up_steps=24, restart_updates=7, weight_decay=1e-3, epsilon_decay=0.99)


def train(folder: Path, rounds: int = ROUNDS) -> DQN:
    """From the last save there, or from the beginning; each number on stdout is a save that is safe."""
    learner = DQN.open(folder) if (folder / "policy.json").exists() else DQN(config(), seed=3)
    while learner.steps < 8 * rounds:
        play_bandit(learner, STATES, SAVED_EVERY, noise=0.3, first=learner.steps // 8)
        learner.save(folder)
        print(learner.steps, flush=True)
    return learner


def assert_equal(one: DQN, other: DQN) -> None:
    assert (one.steps, one.updates) == (other.steps, other.updates)
    for name, tensor in one.online.state_dict().items():
        assert torch.equal(tensor, other.online.state_dict()[name]), name
    for name, tensor in one.target.state_dict().items():
        assert torch.equal(tensor, other.target.state_dict()[name]), name
    assert one.random.bit_generator.state == other.random.bit_generator.state
    first, second = one.replay.sample(32), other.replay.sample(32)
    assert np.array_equal(first.places, second.places)
    assert np.array_equal(first.weights, second.weights)


def uninterrupted() -> DQN:
    learner = DQN(config(), seed=3)
    play_bandit(learner, STATES, ROUNDS, noise=0.3)
    return learner


@pytest.mark.parametrize("rounds", [1, 10, 30])
def test_saved_and_opened_it_goes_on_to_the_same_result(rounds: int, tmp_path: Path) -> None:
    """Also from before the first update, when Adam remembers nothing yet."""
    learner = DQN(config(), seed=3)
    play_bandit(learner, STATES, rounds, noise=0.3)
    learner.save(tmp_path)
    opened = DQN.open(tmp_path)
    play_bandit(opened, STATES, ROUNDS - rounds, noise=0.3, first=rounds)
    assert_equal(opened, uninterrupted())


def test_killed_it_resumes_to_the_same_result(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRAINING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as training:
        assert training.stdout is not None
        assert training.stdout.readline() == f"{8 * SAVED_EVERY}\n"
        time.sleep(0.02)  # into the rounds after the save, or into the next save
        os.kill(training.pid, signal.SIGKILL)
    assert_equal(train(tmp_path), uninterrupted())


def test_a_replay_of_another_learner_is_refused(tmp_path: Path) -> None:
    learner = uninterrupted()
    learner.save(tmp_path / "mine")
    (place,) = (tmp_path / "mine").glob("save.*/replay")
    other = DQN(small_config(capacity=99), seed=3)
    other.replay.save(place)
    with pytest.raises(RefusedInput, match="the replay of another learner"):
        DQN.open(tmp_path / "mine")
