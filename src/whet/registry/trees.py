"""Files below a folder, read with suspicion: regular ones alone, plainly named, never through a link, within limits."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, NoReturn

from whet.core.text import printable

MOST_FILES = 1_000
MOST_BYTES = 1 << 30
MOST_PARTS = 8
_CHUNK = 1 << 20
# Letters and digits that mean the same on every file system and in every URL; nothing that leads upwards or hides.
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
# A link is not followed, and a pipe in the place of a file does not make us wait for its other end.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Unfit(Exception):
    """One file, and what is wrong with it."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{printable(name, 200)}: {problem}")


class Entry(NamedTuple):
    path: str  # below the folder, with slashes
    size: int
    sha256: str


def names(folder: Path) -> list[str]:
    """Paths of all files below the folder, sorted; Unfit if anything there is neither a folder nor a regular file."""
    if folder.is_symlink():  # whatever is behind it
        raise Unfit(folder.name, "it is a link")
    found: list[str] = []
    for above, folders, files, descriptor in os.fwalk(folder, onerror=_raise):
        prefix = PurePosixPath(Path(above).relative_to(folder).as_posix())
        for name in folders:
            _require(prefix / name, stat.S_ISDIR(os.lstat(name, dir_fd=descriptor).st_mode))
        found += [_require(prefix / name, stat.S_ISREG(os.lstat(name, dir_fd=descriptor).st_mode)) for name in files]
        if len(found) > MOST_FILES:
            raise Unfit(found[MOST_FILES], f"there are more than {MOST_FILES:,} files")
    require_paths(found)
    return sorted(found)


def size_of(folder: Path) -> int:
    """About how much room a copy needs."""
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def require_paths(paths: Sequence[str]) -> None:
    """Names that mean the same everywhere, also where capital letters make no difference."""
    met: dict[str, str] = {}
    for path in paths:
        _require(PurePosixPath(path), True)
        other = met.setdefault(path.lower(), path)
        if other != path:
            raise Unfit(path, f"its name is that of {other} on systems that ignore capital letters")


def bounded(path: Path, most: int) -> bytes:
    """The whole file, if it has at most so many bytes."""
    with _opened(path, path.name) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unfit(path.name, f"it is larger than {most:,} bytes")
    return data


def measured(folder: Path, path: str, most: int) -> Entry:
    with _opened(folder / path, path) as reading:
        return _measured(reading, path, most, None)


def copied(folder: Path, path: str, target: Path, most: int) -> Entry:
    """Copy one file and make it safe on the disk; its size and hash, of the very bytes that were written."""
    (target / path).parent.mkdir(parents=True, exist_ok=True)
    with _opened(folder / path, path) as reading, (target / path).open("xb") as writing:
        entry = _measured(reading, path, most, writing)
        writing.flush()
        os.fsync(writing.fileno())
    return entry


def written(path: Path, data: bytes) -> None:
    """A new file, safe on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def synced(folder: Path) -> None:
    """Make the names in the folder safe on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def all_synced(folder: Path) -> None:
    """The same for it and all folders below it."""
    for _, _, _, descriptor in os.fwalk(folder, onerror=_raise):
        os.fsync(descriptor)


def _require(path: PurePosixPath, right_kind: bool) -> str:
    if not right_kind:
        raise Unfit(str(path), "it is a link or something else that is no regular file")
    if len(path.parts) > MOST_PARTS:
        raise Unfit(str(path), f"it lies deeper than {MOST_PARTS} folders")
    if not path.parts or not all(_PART.fullmatch(part) for part in path.parts):
        raise Unfit(str(path), "names may have letters, digits, '_', '-' and '.', and begin with neither '-' nor '.'")
    return str(path)


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError as error:
        raise Unfit(name, "it is missing") from error
    except OSError as error:
        raise Unfit(name, f"it cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unfit(name, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


def _measured(reading: BinaryIO, path: str, most: int, writing: BinaryIO | None) -> Entry:
    size, digest = 0, hashlib.sha256()
    while chunk := reading.read(_CHUNK):
        size += len(chunk)
        if size > most:
            raise Unfit(path, f"it is larger than {most:,} bytes")
        digest.update(chunk)
        if writing is not None:
            writing.write(chunk)
    return Entry(path, size, digest.hexdigest())


def _raise(error: OSError) -> NoReturn:
    raise error
