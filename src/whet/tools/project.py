"""The user's project: where it starts, which files are its code, and which version of it this is."""

import hashlib
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", ".git")
SKIPPED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".whet",
        ".tox",
        ".nox",
        ".eggs",
        ".hypothesis",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
        "build",
        "dist",
        "node_modules",
        "site-packages",
    }
)
SETTINGS = frozenset({"pyproject.toml", "setup.cfg", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini"})
TEST_DIRECTORIES = frozenset({"tests", "test"})
NOT_SOURCE = frozenset({"conftest.py", "setup.py", "noxfile.py"})


_WORKERS_IN_CONFIG = re.compile(r"addopts[^\[]*?(?:-n[ =]?|--numprocesses[ =])(?:\d+|auto|logical)", re.DOTALL)


class Project:
    """A directory with Python code and tests."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def __repr__(self) -> str:
        return f"Project({str(self.root)!r})"

    @property
    def name(self) -> str:
        return self.root.name or str(self.root)

    def code_version(self) -> str:
        """Equal for equal code: a digest of the paths and contents of Python files and of pytest's settings."""
        digest = hashlib.sha256()
        for file in self._files():
            if file.name.endswith(".py") or file.name in SETTINGS:
                path = os.fsencode(file.relative_to(self.root))
                digest.update(b"%d:%s%s" % (len(path), path, _content_digest(file)))
        return digest.hexdigest()

    def configured_workers(self) -> bool:
        """Whether the project itself asks for pytest-xdist workers."""
        files = [self.root / name for name in ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")]
        return any(_WORKERS_IN_CONFIG.search(f.read_text(errors="replace")) for f in files if f.is_file())

    def test_files(self) -> tuple[Path, ...]:
        """Files pytest would collect by its default names."""
        return tuple(file for file in self.python_files() if is_test_file(file))

    def source_files(self) -> tuple[Path, ...]:
        """The code under test: Python files that are neither tests nor beside them."""
        return tuple(file for file in self.python_files() if self._is_source(file))

    def _is_source(self, file: Path) -> bool:
        above = file.relative_to(self.root).parts[:-1]
        return not (is_test_file(file) or file.name in NOT_SOURCE or TEST_DIRECTORIES.intersection(above))

    def python_files(self) -> Iterator[Path]:
        return (file for file in self._files() if file.name.endswith(".py"))

    def _files(self) -> Iterator[Path]:
        return _walk(self.root)


def find_project(start: Path) -> Project:
    """The nearest directory at or above `start` that holds a project; `start` itself when none does."""
    start = start.absolute()
    directory = start if start.is_dir() else start.parent
    for candidate in (directory, *directory.parents):
        if any((candidate / marker).exists() for marker in MARKERS):
            return Project(candidate)
    return Project(directory)


def is_test_file(file: Path) -> bool:
    return fnmatch(file.name, "test_*.py") or fnmatch(file.name, "*_test.py")


def _walk(directory: Path) -> Iterator[Path]:
    """Regular files below, sorted; links to directories are not followed, so that loops cannot happen."""
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if not _skipped(entry):
                yield from _walk(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)


def _skipped(directory: "os.DirEntry[str]") -> bool:
    named = directory.name in SKIPPED or directory.name.endswith(".egg-info")
    return named or Path(directory.path, "pyvenv.cfg").exists()


def _content_digest(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").digest()
    except OSError:
        return b"unreadable"
