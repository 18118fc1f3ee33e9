"""Private folders go with their process, however it ends."""

import os
import signal
import stat
from pathlib import Path

from tests.forked import forked

from whet.registry.private import PrivateFolder, roomy


def _killed_with_a_folder(parent: Path) -> None:
    reading, writing = os.pipe()

    def hold() -> None:
        place = PrivateFolder(parent)
        (place.path / "file").write_bytes(b"left")
        os.write(writing, b"made")
        signal.pause()

    child = forked(hold)
    os.close(writing)  # so that reading ends with the child, whatever becomes of it
    told = os.read(reading, 4)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    assert told == b"made"


def test_only_its_user_may_enter(tmp_path: Path) -> None:
    with PrivateFolder(tmp_path) as place:
        assert stat.S_IMODE(place.path.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_what_the_killed_leave_is_removed_and_what_lives_is_not(tmp_path: Path) -> None:
    with PrivateFolder(tmp_path) as living:
        _killed_with_a_folder(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
        with PrivateFolder(tmp_path) as another:
            assert sorted(tmp_path.iterdir()) == sorted([living.path, another.path])


def test_a_forgotten_one_is_removed(tmp_path: Path) -> None:
    place = PrivateFolder(tmp_path)
    del place
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_leaves_its_parents_folder_alone(tmp_path: Path) -> None:
    with PrivateFolder(tmp_path) as place:
        assert os.waitpid(forked(place.close), 0)[1] == 0
        assert place.path.is_dir()
        with PrivateFolder(tmp_path):
            assert place.path.is_dir()


def test_too_much_for_memory_and_disk_goes_to_the_spare_folder(tmp_path: Path) -> None:
    assert roomy(1, tmp_path) != tmp_path
    assert roomy(1 << 60, tmp_path) == tmp_path
