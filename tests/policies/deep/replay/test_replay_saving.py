"""A saved replay goes on where it stopped; a save that was cut short is refused by name, or the one before opened."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.deep.replay.replay_items import SCHEMA, assert_items, filled, items

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep.replay import Replay

both = pytest.mark.parametrize("compiled", [True, False])


def _train(replay: Replay, cycles: range) -> list[Any]:
    """A learner's cycles; what it saw of the replay."""
    seen = []
    for cycle in cycles:
        replay.anneal(cycle / 20)
        replay.add(items(*range(cycle * 10, cycle * 10 + 10)))
        for replacement in (True, False):
            sample = replay.sample(8, replacement=replacement)
            replay.update(sample.places, np.sin(sample.columns["reward"]) * cycle)
            seen.append((sample.places.tolist(), sample.weights.tolist(), sample.columns["action"].tolist()))
    return seen


@both
@pytest.mark.parametrize("capacity", [64, 500])
def test_interrupted_training_resumes_to_the_same_result(capacity: int, compiled: bool, tmp_path: Path) -> None:
    uninterrupted = Replay(SCHEMA, capacity, seed=8, compiled=compiled)
    _train(uninterrupted, range(10))
    uninterrupted.save(tmp_path)
    expected = _train(uninterrupted, range(10, 20))
    resumed = Replay.open(tmp_path, compiled=compiled)
    assert _train(resumed, range(10, 20)) == expected
    resumed.save(tmp_path / "end")
    assert _train(Replay.open(tmp_path / "end", compiled=not compiled), range(20, 21)) == _train(resumed, range(20, 21))


def test_an_opened_replay_does_not_change_its_save(tmp_path: Path) -> None:
    filled(50).save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    _train(Replay.open(tmp_path), range(20))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert_items(Replay.open(tmp_path)._columns, range(50))


def test_saving_again_replaces_the_save_it_was_opened_from(tmp_path: Path) -> None:
    filled(50).save(tmp_path)
    replay = Replay.open(tmp_path)
    replay.add(items(50, 51))
    replay.save(tmp_path)
    assert_items(Replay.open(tmp_path)._columns, [50, 51, *range(2, 50)])
    assert_items(replay._columns, [50, 51, *range(2, 50)])  # its old files are gone, its memory is not
    assert len(list(tmp_path.iterdir())) == len(SCHEMA.columns) + 2


def test_an_empty_replay_can_be_saved(tmp_path: Path) -> None:
    Replay(SCHEMA, 1000).save(tmp_path)
    replay = Replay.open(tmp_path)
    assert (len(replay), replay.capacity, replay.schema) == (0, 1000, SCHEMA)


def test_columns_are_mapped_and_free_places_take_no_room_on_disk(tmp_path: Path) -> None:
    filled(10, 1_000_000).save(tmp_path)
    assert sum(path.stat().st_blocks * 512 for path in tmp_path.iterdir()) < 1_000_000
    column = Replay.open(tmp_path)._columns["state"]
    assert column.shape == (1_000_000, 3)
    assert isinstance(column.base, np.memmap)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WhetError, match=r"could not be saved in .*file"):
        filled(1).save(tmp_path / "file")


DYING = """
import os, signal, sys
from pathlib import Path
from tests.policies.deep.replay.replay_items import filled
steps, at = 0, int(sys.argv[2])
def dying(step):
    def counted(*given, **named):
        global steps
        steps += 1
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*given, **named)
    return counted
for name in ("fsync", "replace", "unlink"):
    setattr(os, name, dying(getattr(os, name)))
filled(int(sys.argv[3]), compiled=False).save(Path(sys.argv[1]))
print(steps)
"""


def _save_and_die(folder: Path, step: int, held: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DYING, str(folder), str(step), str(held)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_killed_at_any_step_the_earlier_save_or_the_new_one_is_whole(tmp_path: Path) -> None:
    columns = len(SCHEMA.columns) + 1
    outcomes = []
    for step in range(1, columns + 6):
        folder = tmp_path / str(step)
        filled(20).save(folder)
        assert _save_and_die(folder, step, 30).returncode == -signal.SIGKILL
        replay = Replay.open(folder)
        outcomes.append(len(replay))
        assert_items(replay._columns, range(len(replay)))
        filled(40).save(folder)  # and what was left lying about is cleared away
        assert len(list(folder.iterdir())) == columns + 1
    assert outcomes == [20] * (columns + 3) + [30] * 2  # replacing replay.json is what makes it the new one


def test_killed_in_a_first_save_it_is_refused_by_name(tmp_path: Path) -> None:
    assert _save_and_die(tmp_path, 3, 30).returncode == -signal.SIGKILL
    with pytest.raises(RefusedInput, match=r"replay\.json.*cut short"):
        Replay.open(tmp_path)


SAVING_FOR_EVER = """
import sys
from pathlib import Path
from tests.policies.deep.replay.replay_items import filled
replay, number = filled(200_000, compiled=False), 0
while True:
    number += 1
    replay.save(Path(sys.argv[1]) / "again")
    replay.save(Path(sys.argv[1]) / f"first{number % 3}" / str(number))
"""


def test_killed_from_outside_no_save_is_half_read(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SAVING_FOR_EVER, str(tmp_path)])
    patience = time.monotonic() + 50
    while not list(tmp_path.glob("first*/3/*.npy")) and time.monotonic() < patience:
        time.sleep(0.001)
    process.kill()
    process.wait()
    refused = []
    for folder in (tmp_path / "again", *tmp_path.glob("first*/*")):
        try:
            assert_items(Replay.open(folder)._columns, range(200_000))
        except RefusedInput as error:
            refused.append(f"{folder.name}: {error}")
    assert len(refused) <= 1
    assert all(each.startswith("3: ") and "cut short" in each for each in refused)


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.policies.deep.replay.replay_items import filled
from whet.core.errors import WhetError
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
try:
    filled(1000, compiled=False).save(Path(sys.argv[1]))
except WhetError as error:
    print(error)
"""


def test_when_there_is_no_room_the_earlier_save_stays_and_nothing_else(tmp_path: Path) -> None:
    filled(20).save(tmp_path)
    before = sorted(tmp_path.iterdir())
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert f"could not be saved in {tmp_path}" in told
    assert "earlier save there is still good" in told
    assert sorted(tmp_path.iterdir()) == before
    assert_items(Replay.open(tmp_path)._columns, range(20))
