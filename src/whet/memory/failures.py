"""What is remembered of a failing test, and which remembered failures are likely to have the same cause."""

from typing import NamedTuple

from whet.core.memories import LONGEST_TEXT, MOST_SUBJECTS
from whet.memory.failures_cues import cue
from whet.memory.failures_likeness import Alike, alike
from whet.memory.failures_lines import diverged
from whet.memory.failures_reading import Failure, read_failure
from whet.memory.failures_turning import Turn

__all__ = ["Alike", "Failure", "Remembered", "Turn", "alike", "diverged", "read_failure", "remembered_failure"]

_LONGEST_SUBJECT = 200
_MOST_LINES = 12


class Remembered(NamedTuple):
    """`cue` is what a failure is found by, `subjects` what it is exactly about, the most telling first."""

    cue: str
    subjects: tuple[str, ...]


def remembered_failure(
    test: str, text: str, diverged: frozenset[str] | None = None, turned: Turn | None = None
) -> Remembered:
    """`text` is what pytest printed of the failure, masked; the more of it, the better."""
    failure = read_failure(test, text, diverged, turned)
    return Remembered(cue(failure) or test[:LONGEST_TEXT] or "nothing was said", _subjects(failure))


def _subjects(failure: Failure) -> tuple[str, ...]:
    inside = failure.inside()[::-1]
    named = [f"test:{failure.test}", f"file:{failure.test.partition('::')[0]}"]
    named += [f"exception:{failure.exception}"] if failure.exception else []
    named += [f"turned:{failure.turned.place}"] if failure.turned is not None and failure.turned.place else []
    named += [f"at:{frame.file}:{frame.line}" for frame in inside[:1]]
    named += [f"line:{line}" for line in sorted(failure.diverged or ())[:_MOST_LINES]]
    named += [f"function:{frame.file}:{frame.function}" for frame in inside if frame.function]
    named += [f"file:{frame.file}" for frame in inside]
    short = (name if len(name) <= _LONGEST_SUBJECT else _by_its_end(name) for name in named)
    return tuple(dict.fromkeys(short))[:MOST_SUBJECTS]


def _by_its_end(name: str) -> str:
    kind, _, rest = name.partition(":")
    return f"{kind}:…{rest[-(_LONGEST_SUBJECT - len(kind) - 2) :]}"
