"""What changed since a commit, with the contents on both sides: what nearness to a change is judged from."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from whet.core.errors import RefusedInput
from whet.tools import git
from whet.tools.lines import changed_lines

# A change beyond this is known by the names of its files alone.
_KEPT_FILES = 200
_KEPT_BYTES = 5_000_000


class FileChange(NamedTuple):
    """One changed file. Contents are None where there is none (new, deleted), or where it was too much to keep."""

    after: bytes | None
    before: bytes | None
    lines: frozenset[int] = frozenset()  # new or changed, numbered as in `after`
    old_lines: frozenset[int] = frozenset()  # removed or changed, numbered as in `before`
    deleted: bool = False


class Change(NamedTuple):
    """What differs from the commit `base`. `uncommitted`: some of it is not in a commit yet."""

    base: str
    files: Mapping[str, FileChange]
    uncommitted: bool


def change_since(root: Path, commit: str | None) -> Change | None:
    """Committed since `commit` (or since the branch left it) plus uncommitted. Where `commit` is None or git does
    not know it: what is uncommitted, else the last commit's own changes. None without git."""
    found = _changes(root, commit)
    if found is None:
        return None
    before, after = _contents(root, found) or ({}, {})
    files = {file: _file_change(root / file, before.get(file), after.get(file)) for file in found.files}
    return Change(base=found.base, files=files, uncommitted=found.uncommitted)


def _contents(root: Path, found: git.Changes) -> tuple[dict[str, bytes], dict[str, bytes]] | None:
    """Before and after; None when they are more than is kept."""
    after = _present(root, found.files) if len(found.files) <= _KEPT_FILES else None
    if after is None:
        return None
    before = git.contents(root, found.base, list(found.files))
    return (before, after) if sum(map(len, (*before.values(), *after.values()))) <= _KEPT_BYTES else None


def _changes(root: Path, commit: str | None) -> git.Changes | None:
    try:
        return git.changes(root, commit)
    except RefusedInput:  # rewritten history, or a shallow clone
        return git.changes(root)


def _present(root: Path, files: Mapping[str, object]) -> dict[str, bytes] | None:
    """None when they are more than is kept."""
    found: dict[str, bytes] = {}
    room = _KEPT_BYTES
    for file in files:
        path = root / file
        if path.is_file():
            room -= path.stat().st_size
            if room < 0:
                return None
            found[file] = path.read_bytes()
    return found


def _file_change(path: Path, before: bytes | None, after: bytes | None) -> FileChange:
    texts = [content for content in (before, after) if content is not None and b"\0" not in content]
    if len(texts) < (before is not None) + (after is not None) or not texts:
        return FileChange(after, before, deleted=not path.exists())
    old, new = changed_lines(before or b"", after or b"")
    return FileChange(after, before, new, old, deleted=not path.exists())
