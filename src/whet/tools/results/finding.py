"""The files that paths, directories, globs and archives stand for."""

import glob
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from whet.core.errors import WhetError
from whet.tools.results.archives import is_archive, members, open_archive
from whet.tools.results.documents import Document
from whet.tools.results.refusing import BadResults, bad

# Where no results lie, and many files do. Build directories stay: Gradle and others write results there.
_PASSED_BY = frozenset(
    {
        ".git", ".hg", ".svn", ".whet", ".tox", ".nox", ".hypothesis", ".mypy_cache", ".ruff_cache",
        "__pycache__", "node_modules", "site-packages",
    }
)  # fmt: skip

Refuse = Callable[[BadResults], None]


@contextmanager
def found(paths: Sequence[str], refuse: Refuse) -> Iterator[list[Document]]:
    """Every file once, archives opened; `refuse` hears of archives that are not usable, and may raise."""
    with ExitStack() as opened:
        seen: dict[str, Document] = {}
        for file, given in _files(paths):
            try:
                for document in _documents(file, given, opened):
                    seen.setdefault(document.name, document)
            except BadResults as trouble:
                refuse(trouble)
        yield list(seen.values())


def _files(paths: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    met: set[Path] = set()
    for path in paths:
        for file, given in _expanded(path):
            real = file.resolve()
            if real not in met:
                met.add(real)
                yield file, given


def _expanded(path: str) -> Iterator[tuple[Path, bool]]:
    if path == "-":
        raise WhetError("Results are not read from standard input.", "Write them into a file first, and name it.")
    # glob, not Path.glob: patterns may be absolute.
    matches = [path] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    if not matches:
        raise WhetError(f"There is no file {path}.", "Give results files, directories or patterns that exist.")
    for match in matches:
        if Path(match).is_dir():
            yield from ((file, False) for file in _below(Path(match)))
        else:
            yield Path(match), True


def _below(directory: Path) -> Iterator[Path]:
    """Regular files below, sorted; links are not followed, so that a directory cannot reach outside itself."""
    with os.scandir(directory) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _PASSED_BY and not Path(entry.path, "pyvenv.cfg").exists():
                yield from _below(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _documents(file: Path, given: bool, opened: ExitStack) -> Iterator[Document]:
    if not file.is_file():
        # A pipe would make us wait, a device would never end.
        raise bad(str(file), "is not a regular file", "Write the results into a file first.")
    with file.open("rb") as content:
        start = content.read(4)
    if is_archive(start):
        archive: zipfile.ZipFile = opened.enter_context(open_archive(file))
        yield from members(file, archive)
        return
    facts = file.stat()
    yield Document(
        name=str(file),
        directory=str(file.parent),
        modified=datetime.fromtimestamp(facts.st_mtime, UTC),
        given=given,
        stored_bytes=facts.st_size,
        compressed=False,
        open=lambda: cast("BinaryIO", file.open("rb")),
    )
