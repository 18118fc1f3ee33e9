"""Memories as lines of JSON, to take elsewhere or to keep a copy of."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from whet.core.errors import RefusedInput
from whet.core.memories import Memory
from whet.core.text import printable
from whet.memory.masking import masked
from whet.memory.remembering_texts import fitting, subjects

_FORMAT = "whet memories 1"
_LONGEST_LINE = 1_000_000
_LONGEST_SOURCE = 400
_DIGEST = re.compile(r"[a-z]{1,20}:[0-9a-f]{12,64}")
_MOST_COUNTED = 2**63 - 1  # what databases hold
_ITS_OWN = ("used", "last_used")  # what was of use there says nothing about here


def to_lines(project: str, memories: Iterable[Memory]) -> Iterator[str]:
    """The same memories give the same lines."""
    yield _line({"format": _FORMAT, "project": project})
    for memory in memories:
        yield _line(memory.model_dump(mode="json"))


def from_lines(lines: Iterable[str], project: str, other: str | None = None) -> Iterator[Memory]:
    """What the lines hold, masked again, as memories of `project`. They must say that they are its own, or those of
    `other`. RefusedInput names the first line that is not one."""
    numbered = enumerate(lines, start=1)
    expected = other if other is not None else project
    _check_heading(next(numbered, (1, ""))[1], expected)
    for number, line in numbered:
        if line.strip():
            yield _ours(_memory(number, line, expected), project, other)


def _check_heading(line: str, expected: str) -> None:
    heading = _read(1, line)
    if heading.get("format") != _FORMAT:
        raise RefusedInput(
            f"This is no file of memories: its first line does not say {_FORMAT!r}.",
            "Give a file that `whet memory export` wrote.",
        )
    if heading.get("project") != expected:
        theirs = printable(str(heading.get("project")), 100)
        raise RefusedInput(
            f"These are memories of the project {theirs!r}, not of {printable(expected, 100)!r}; nothing was imported.",
            f"To make them this project's own, say so: --from '{theirs}'",
        )


def _memory(number: int, line: str, expected: str) -> Memory:
    """Everything a store would refuse is refused here, before any line is kept."""
    if len(line) > _LONGEST_LINE:
        raise _refused(number, f"it is longer than {_LONGEST_LINE:,} characters")
    try:
        memory = Memory.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole line"
        raise _refused(number, f"{printable(where, 100)}: {first['msg']}") from error
    if memory.project != expected:
        raise _refused(number, f"it is of another project, {printable(memory.project, 100)!r}")
    if why := _no_time(memory.at):
        raise _refused(number, f"at: {why}")
    if max(memory.support, memory.against) > _MOST_COUNTED:
        raise _refused(number, "it was counted more often than can be stored")
    return memory


def _no_time(at: datetime) -> str | None:
    if at.tzinfo is None:
        return "its time has no time zone"
    try:
        at.astimezone(UTC)
    except OverflowError:
        return "its time is before the year 1 or after 9999"
    return None


def _ours(memory: Memory, project: str, other: str | None) -> Memory:
    """Another project's are marked: what was earned there says less about here."""
    told = memory.about.items()
    about = {masked(name): masked(value) if isinstance(value, str) else value for name, value in told}
    about.pop("position", None)  # in another store's stream
    if other is not None and other != project:
        about["origin"] = masked(other)
    return memory.model_copy(
        update={
            "project": project,
            "source": _source(memory.source),
            "agent": None if memory.agent is None else masked(memory.agent),
            "text": fitting(memory.text),
            "cue": None if memory.cue is None else fitting(memory.cue),
            "subjects": subjects(*memory.subjects),
            "about": about,
            **{name: Memory.model_fields[name].default for name in _ITS_OWN},
        }
    )


def _source(source: str) -> str:
    """By a digest it is known again: then nothing in it is masked, whatever its digits look like."""
    return source if _DIGEST.fullmatch(source) else masked(source)[:_LONGEST_SOURCE]


def _read(number: int, line: str) -> dict[str, Any]:
    if len(line) > _LONGEST_LINE:
        raise _refused(number, f"it is longer than {_LONGEST_LINE:,} characters")
    try:
        found = json.loads(line)
    except ValueError as error:
        raise _refused(number, f"it is not JSON ({error})") from error
    except RecursionError as error:
        raise _refused(number, "it is nested too deeply") from error
    if not isinstance(found, dict):
        raise _refused(number, "it is not an object")
    return found


def _refused(number: int, why: str) -> RefusedInput:
    return RefusedInput(
        f"Line {number:,} is no memory: {why}. Nothing was imported.",
        "Give a file that `whet memory export` wrote, unchanged.",
    )


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False) + "\n"  # ASCII: nothing in it ends a line
