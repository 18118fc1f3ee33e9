"""Training that was interrupted ends as if it had not been; what was damaged is refused by name."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.policies.deep.ppo_problems import Chain, small, train

from whet.core.errors import RefusedInput
from whet.policies.deep.ppo import PPO

CHAPTERS, ROUNDS = 6, 11  # a save after each, mostly within a rollout of 16

DYING = """
import os, signal, sys
from pathlib import Path
import torch
from tests.policies.deep.ppo_problems import Chain, train
from tests.policies.deep.test_ppo_saving import go_on
torch.set_num_threads(1)
train(go_on(Path(sys.argv[1]), chapters=3), Chain, 7)  # and is killed before it saves that
os.kill(os.getpid(), signal.SIGKILL)
"""


def go_on(folder: Path, chapters: int) -> PPO:
    learner = PPO.open(folder)
    while learner.steps < chapters * ROUNDS * 8:
        train(learner, Chain, ROUNDS, seed=learner.steps)
        learner.save(folder)
    return learner


def _weights(learner: PPO) -> list[list[float]]:
    return [parameter.flatten().tolist() for parameter in learner.updater.network.parameters()]


def test_it_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    learner = PPO(small(Chain), seed=7)
    train(learner, Chain, rounds=40)
    learner.save(tmp_path)
    opened = PPO.open(tmp_path)
    assert (opened.steps, opened.episodes, opened.updates, opened.rollouts) == (320, 112, 16, 2)
    assert train(opened, Chain, rounds=30, seed=9) == train(learner, Chain, rounds=30, seed=9) != []
    assert _weights(opened) == _weights(learner)
    row, mask = np.eye(4, dtype=np.float32), np.ones((4, 2), dtype=np.bool_)
    assert opened.act(row, mask).actions.tolist() == learner.act(row, mask).actions.tolist()


def test_one_that_has_learned_nothing_yet_can_be_saved(tmp_path: Path) -> None:
    PPO(small(Chain), seed=7).save(tmp_path)
    assert _weights(PPO.open(tmp_path)) == _weights(PPO(small(Chain), seed=7))


def test_killed_between_saves_it_resumes_to_the_same_result(tmp_path: Path) -> None:
    for name in ("whole", "killed"):
        PPO(small(Chain), seed=3).save(tmp_path / name)
    whole = go_on(tmp_path / "whole", CHAPTERS)
    command = [sys.executable, "-c", DYING, str(tmp_path / "killed")]
    assert subprocess.run(command, timeout=120, cwd=Path(__file__).parents[3]).returncode == -9
    assert PPO.open(tmp_path / "killed").steps == 3 * ROUNDS * 8
    killed = go_on(tmp_path / "killed", CHAPTERS)
    assert whole.steps == killed.steps == CHAPTERS * ROUNDS * 8
    assert _weights(whole) == _weights(killed)
    assert train(whole, Chain, rounds=16) == train(killed, Chain, rounds=16)


def _saved(folder: Path) -> tuple[Path, Path]:
    learner = PPO(small(Chain))
    train(learner, Chain, rounds=20)
    learner.save(folder)
    return folder / "policy.json", next(folder.glob("save.*/tensors.safetensors"))


def test_what_was_damaged_is_refused_by_name(tmp_path: Path) -> None:
    manifest, tensors = _saved(tmp_path)
    whole = tensors.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b"\x80\x04K\x01."):
        tensors.write_bytes(damaged)
        with pytest.raises(RefusedInput, match=str(tensors)):
            PPO.open(tmp_path)
    tensors.write_bytes(whole)
    manifest.write_text(manifest.read_text().replace('"steps": 160', '"steps": 161'))
    with pytest.raises(RefusedInput, match=str(manifest)):
        PPO.open(tmp_path)


def test_another_learners_save_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match="no policy"):
        PPO.open(tmp_path)
    manifest, _ = _saved(tmp_path)
    told = json.loads(manifest.read_text())
    assert told["policy"]["kind"] == "ppo"
    assert told["policy"]["progress"]["steps"] == 160
