"""Files are read with suspicion, also when they become something else between listing and reading."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.registry.trees import MOST_FILES, Entry, Unfit, bounded, copied, measured, names


@pytest.mark.parametrize("read", [lambda path: bounded(path, 9), lambda path: measured(path.parent, path.name, 9)])
def test_links_pipes_and_folders_are_not_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder", "absent"):
        with pytest.raises(Unfit, match=f"^{name}: "):
            read(tmp_path / name)
    read(tmp_path / "file")


def test_not_a_byte_more_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    assert bounded(tmp_path / "file", 7) == b"content"
    assert measured(tmp_path, "file", 7) == Entry("file", 7, digest)
    assert copied(tmp_path, "file", tmp_path / "copy", 7) == Entry("file", 7, digest)
    for read in (
        lambda: bounded(tmp_path / "file", 6),
        lambda: measured(tmp_path, "file", 6),
        lambda: copied(tmp_path, "file", tmp_path / "other", 6),
    ):
        with pytest.raises(Unfit, match="it is larger than 6 bytes"):
            read()


def test_too_many_files(tmp_path: Path) -> None:
    for number in range(MOST_FILES):
        (tmp_path / str(number)).touch()
    assert len(names(tmp_path)) == MOST_FILES
    (tmp_path / "more").touch()
    with pytest.raises(Unfit, match="more than 1,000 files"):
        names(tmp_path)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(Unfit, match="it is a link"):
        names(tmp_path / "link")
