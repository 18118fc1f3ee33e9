"""Two processes that share the data learn what one learns from all of it (gloo, on the CPU)."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tests.policies.deep.distributed_recording import CONFIG, recorded, told_of

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep.distributed import ALONE, choose_device, joined
from whet.policies.deep.ppo import PPO

PATIENCE_SECONDS = 120


def _run(folder: Path) -> list[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    workers = [_worker(folder, place | {"RANK": rank}) for rank in ("0", "1")]
    try:
        return [worker.wait(PATIENCE_SECONDS) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _worker(folder: Path, place: dict[str, str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.policies.deep.distributed_recording", str(folder)]
    with (folder / f"{place['RANK']}.log").open("w") as log:
        return subprocess.Popen(command, env=os.environ | place, cwd=Path(__file__).parents[3], stderr=log)


def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    assert _run(tmp_path) == [0, 0], (tmp_path / "0.log").read_text()
    alone = PPO(CONFIG, seed=5)
    learned = [alone.learn(steps) for steps in recorded(slice(None))]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    expected = told_of(alone, learned[-1])
    assert first == second
    assert first["counted"] == expected["counted"] == [216, alone.episodes, 64, 4]
    assert_allclose(first["weights"], expected["weights"], atol=1e-5)
    assert first["measures"] == pytest.approx(expected["measures"], rel=1e-4, abs=1e-5)
    begun = told_of(PPO(CONFIG, seed=5), {})["weights"]
    assert np.abs(np.subtract(begun, first["weights"])).max() > 0.1  # it did learn
    assert told_of(PPO.open(tmp_path / "saved"), {})["weights"] == first["weights"]
    assert "as many environments" in first["refusal"]


def test_one_that_was_not_started_with_others_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(WhetError, match="torchrun"), joined():
        pass


def test_alone_nothing_is_shared() -> None:
    column, rows = np.ones((2, 3)), torch.arange(5)
    assert ALONE.together(column, torch.device("cpu")) is column
    assert rows[ALONE.share].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_auto_is_the_cpu() -> None:
    assert choose_device("auto") == choose_device("cpu") == torch.device("cpu")
    with pytest.raises(RefusedInput, match="finds no GPU"):
        choose_device("cuda")
