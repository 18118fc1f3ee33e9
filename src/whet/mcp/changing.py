"""What the caller says is changing, as a change of the project. Paths stay inside of it."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from whet.core.errors import RefusedInput
from whet.core.text import printable
from whet.mcp.patches import Patch, read_diff, sides
from whet.tools.changes import Change, FileChange
from whet.tools.lines import changed_lines

_GIVEN = "as the caller says"
_LARGEST_BYTES = 5_000_000


def change_of_diff(root: Path, diff: str, notes: list[str]) -> Change:
    """Each file is taken as it is now, before or after the diff, whichever fits."""
    files: dict[str, FileChange] = {}
    above = _above(root)
    for patch in read_diff(diff):
        file = _below(patch.file, above)
        if file is None:
            notes.append(f"{printable(patch.file)} is outside of the project and was left out")
            continue
        files[_inside(root, file)] = _patched(root, _inside(root, file), patch, notes)
    return Change(_GIVEN, files, uncommitted=True)


def change_of_files(root: Path, files: Iterable[str]) -> Change:
    """Only names are known: any line may have changed."""
    return Change(_GIVEN, {name: _whole(_content(root / name)) for name in (_inside(root, f) for f in files)}, True)


def _patched(root: Path, file: str, patch: Patch, notes: list[str]) -> FileChange:
    content = _content(root / file)
    fitting = sides(content or b"", patch.hunks) if patch.hunks else None
    if fitting is None:
        if patch.hunks:
            notes.append(f"the diff does not fit {printable(file)} as it is now: any of its lines may have changed")
        return _whole(content)
    old, new = changed_lines(*fitting)
    return FileChange(fitting[1], fitting[0], new, old, deleted=content is None)


def _whole(content: bytes | None) -> FileChange:
    if content is None:
        return FileChange(None, None, deleted=True)
    lines = frozenset(range(1, len(content.splitlines()) + 1))
    return FileChange(content, content, lines, lines)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.stat().st_size <= _LARGEST_BYTES else b""
    except OSError:
        return None


def _inside(root: Path, name: str) -> str:
    """The path below the root; links are followed before it is judged."""
    try:
        where = (root / name).resolve()
        return where.relative_to(root.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError) as error:
        raise RefusedInput(
            f"{printable(name, 200)!r} is not in the project.", f"Give paths below {root}, relative to it."
        ) from error


def _above(root: Path) -> PurePosixPath:
    """How the project is called from the top of its checkout, which paths in diffs start from."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return PurePosixPath(root.relative_to(top).as_posix())


def _below(file: str, above: PurePosixPath) -> str | None:
    path = PurePosixPath(file)
    if above == PurePosixPath() or path.is_absolute() or ".." in path.parts:
        return file
    return path.relative_to(above).as_posix() if path.is_relative_to(above) else None
