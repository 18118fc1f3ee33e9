"""A unified diff, read and laid over the files as they are: which lines change, whichever side the files are on."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from whet.core.errors import RefusedInput

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"


class Hunk(NamedTuple):
    """Lines without their ends; places count from 0."""

    old_start: int
    old: tuple[bytes, ...]
    new_start: int
    new: tuple[bytes, ...]


class Patch(NamedTuple):
    """One file. Renamed files are two: one that goes and one that comes."""

    file: str
    hunks: tuple[Hunk, ...]


def read_diff(text: str) -> list[Patch]:
    """Refuses what names no file: an empty answer would look as if nothing had changed."""
    found: dict[str, list[Hunk]] = {}
    old = new = None
    lines = iter(text.encode("utf-8", "replace").splitlines())
    for raw in lines:
        line = raw.decode(errors="replace")
        if line.startswith("--- "):
            old, new = _name(line[4:]), None
        elif line.startswith("+++ ") and old is not None:
            new = _name(line[4:])
            for file in _files(old, new):
                found.setdefault(file, [])
        elif line.startswith(("rename from ", "rename to ", "copy to ")):
            found.setdefault(_unquoted(line.partition(" ")[2].partition(" ")[2]), [])
        elif line.startswith("Binary files ") and line.endswith(" differ"):
            for file in _binary(line):
                found.setdefault(file, [])
        elif (head := _HUNK.match(line)) and old is not None and new is not None:
            found[_files(old, new)[-1]].append(_hunk(head, lines))
    if not found:
        raise RefusedInput("The diff names no file.", "Give a unified diff, as `git diff` prints it.")
    return [Patch(file, tuple(hunks)) for file, hunks in found.items()]


def sides(content: bytes, hunks: tuple[Hunk, ...]) -> tuple[bytes, bytes] | None:
    """Before and after, whether `content` is the one or the other; None when the hunks fit neither."""
    before = _replaced(content, [(h.new_start, h.new, h.old) for h in hunks])
    if before is not None:
        return before, content
    after = _replaced(content, [(h.old_start, h.old, h.new) for h in hunks])
    return None if after is None else (content, after)


def _replaced(content: bytes, parts: list[tuple[int, tuple[bytes, ...], tuple[bytes, ...]]]) -> bytes | None:
    lines, made, place = content.splitlines(), list[bytes](), 0
    for start, gone, come in parts:
        if start < place or tuple(lines[start : start + len(gone)]) != gone:
            return None
        made += [*lines[place:start], *come]
        place = start + len(gone)
    return b"\n".join([*made, *lines[place:]]) + b"\n"


def _hunk(head: re.Match[str], lines: Iterator[bytes]) -> Hunk:
    old_left, new_left = (int(count) if count is not None else 1 for count in (head[2], head[4]))
    old_start, new_start = (int(head[n]) - (1 if left else 0) for n, left in ((1, old_left), (3, new_left)))
    old, new = list[bytes](), list[bytes]()
    while old_left > 0 or new_left > 0:
        line = next(lines, None)
        if line is None:
            raise RefusedInput("The diff ends in the middle of a hunk.", "Give it as `git diff` prints it, whole.")
        kind, text = line[:1], line[1:]
        if kind == b"\\":  # no newline at the end of the file
            continue
        if kind in (b"-", b" ", b""):
            old.append(text)
            old_left -= 1
        if kind in (b"+", b" ", b""):
            new.append(text)
            new_left -= 1
        if kind not in (b"-", b"+", b" ", b""):
            raise RefusedInput(
                f"The diff has a line that begins with {kind.decode(errors='replace')!r} in a hunk.",
                "Give it unchanged.",
            )
    return Hunk(max(0, old_start), tuple(old), max(0, new_start), tuple(new))


def _files(old: str, new: str) -> list[str]:
    """The file's name, or both where they differ; the one that hunks belong to last."""
    named = [name for name in (old, new) if name != _NOWHERE]
    if all(name.startswith(prefix) for name, prefix in ((old, "a/"), (new, "b/")) if name != _NOWHERE):
        named = [name[2:] for name in named]
    return list(dict.fromkeys(named))


def _binary(line: str) -> list[str]:
    old, _, new = line.removeprefix("Binary files ").removesuffix(" differ").partition(" and ")
    return _files(_unquoted(old), _unquoted(new))


def _name(text: str) -> str:
    """Without the time that diff(1) puts after a tab."""
    return _unquoted(text.partition("\t")[0].rstrip())


def _unquoted(name: str) -> str:
    """git quotes names with unusual characters as C does."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    try:
        return name[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
    except UnicodeError:
        return name[1:-1]
