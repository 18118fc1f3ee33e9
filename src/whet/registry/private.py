"""Folders of one process alone. They go with the process: at its end, or, if it was killed, when the next one comes."""

import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

_PREFIX, _LOCK = "whet-registry-", "lock"
_MEMORY = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a folder in it that nobody else can enter
_SPARE_BYTES = 1 << 20


class PrivateFolder:
    """Nobody but its user can enter it. The kernel holds its lock as long as the process lives."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        try:
            lock = _locked(self.path)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        self._end = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def close(self) -> None:
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def roomy(size: int, spare: Path) -> Path:
    """A folder with room for so many bytes: memory before disks, since a full disk must not keep a policy from being
    loaded; `spare` where nothing else will do."""
    for parent in _parents():
        with suppress(OSError):
            if os.access(parent, os.W_OK | os.X_OK) and shutil.disk_usage(parent).free > size + _SPARE_BYTES:
                return parent
    return spare


def _parents() -> Iterator[Path]:
    yield _MEMORY
    with suppress(FileNotFoundError):  # on a full disk there is none
        yield Path(tempfile.gettempdir())


def _locked(folder: Path) -> int:
    """Locked before it has its name, so that nobody meets it unlocked."""
    draft = folder / f"{_LOCK}.new"
    lock = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.rename(folder / _LOCK)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _remove(folder: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child only lets go of its copy
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove what killed processes left."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is going already, or it is not ours
            if folder.lstat().st_uid == os.getuid():
                _remove_abandoned(folder)


def _remove_abandoned(folder: Path) -> None:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
