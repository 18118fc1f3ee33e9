"""A failure as pytest prints it, understood: the exceptions, what they said, and through which code they came.

Reads pytest's long, short and native styles, unittest, doctest and set-up errors. What it cannot read it leaves out:
any text gives a failure, an empty one too.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from whet.memory.failures_turning import Turn

LONGEST_READ = 100_000
_MOST_FRAMES = 200

_CHAIN = re.compile(
    r"^(During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:)\s*$",
    re.MULTILINE,
)
_PLACE = re.compile(
    r"^(?P<file>[^\s:][^:]{0,300}|<[^>]{1,200}>):(?P<line>\d{1,7}):(?: in (?P<function>.+)| ?(?P<exception>[\w.]*))$"
)
_NATIVE = re.compile(r'^\s*File "(?P<file>[^"]{1,300})", line (?P<line>\d{1,7}), in (?P<function>.+)$')
_SAID = re.compile(r"^E(?:   (?P<said>.*))?$")
_RAISED = re.compile(r"^(?P<exception>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_DEFINED = re.compile(r"^\s*(?:async )?def (\w+)\(")
_SOURCE = re.compile(r"^(?:>| ) {3}")
_OPENING = re.compile(r"^(?:async def |def |@)")  # pytest strips the very first line
_INSTALLED = re.compile(r"(?:site|dist)-packages|[/\\]lib[/\\]python\d|[/\\]Python\d+[/\\]Lib[/\\]")
_RULER = re.compile(r"^[_\s]+$|^\s*[\^~]+\s*$")


class Frame(NamedTuple):
    """One call on the way to the exception. `code` is the line it stood at, `shown` the code around it."""

    file: str
    line: int
    function: str
    code: str
    shown: tuple[str, ...] = ()

    @property
    def is_test(self) -> bool:
        return _origin(self.file) == "test"

    @property
    def is_inside(self) -> bool:
        """The project's own code: neither a test's, nor installed, nor outside of where pytest ran."""
        return _origin(self.file) == "inside"


@lru_cache(maxsize=4096)
def _origin(file: str) -> str:
    *folders, name = re.split(r"[/\\]", file)
    if file.startswith(("..", "<")) or _INSTALLED.search(file) is not None:
        return "foreign"
    is_test = name.startswith(("test_", "conftest.")) or name.endswith("_test.py")
    return "test" if is_test or not {"test", "tests"}.isdisjoint(folders) else "inside"


class Raised(NamedTuple):
    """One exception of a chain, the outermost call first."""

    exception: str
    said: tuple[str, ...]
    frames: tuple[Frame, ...]


class Failure(NamedTuple):
    """Why a test failed. The last exception is the one the test ended with; the others led to it.

    `diverged` are the lines of the project it executed otherwise than when it passed, where that was measured:
    "+file:line" is new, "-file:line" was left out. `turned` is where it first did so, where that was measured.
    """

    test: str
    chain: tuple[Raised, ...]
    diverged: frozenset[str] | None = None
    turned: Turn | None = None

    @property
    def exception(self) -> str:
        return self.chain[-1].exception if self.chain else ""

    @property
    def said(self) -> tuple[str, ...]:
        return self.chain[-1].said if self.chain else ()

    def frames(self) -> Iterator[Frame]:
        return (frame for raised in self.chain for frame in raised.frames)

    def inside(self) -> list[Frame]:
        """The project's own frames, the deepest of the last exception last."""
        return [frame for frame in self.frames() if frame.is_inside]

    def asserting(self) -> Frame | None:
        """Where the test itself stood."""
        of_test = [frame for frame in self.frames() if frame.is_test]
        return of_test[-1] if of_test else None


@lru_cache(maxsize=2048)  # every failure of a run is compared with much the same ones
def read_failure(test: str, text: str, diverged: frozenset[str] | None = None, turned: Turn | None = None) -> Failure:
    parts = _CHAIN.split(text[:LONGEST_READ])[::2]
    chain = tuple(raised for part in parts if (raised := _raised(part.splitlines())) is not None)
    return Failure(test, chain, diverged, turned)


class _Reader:
    """Reads one exception line by line. Code is shown above its place, or below a place that names a function."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.said: list[str] = []
        self.exception = ""
        self._shown: list[str] = []
        self._code = ""
        self._function = ""

    def read(self, line: str) -> None:
        if (said := _SAID.match(line)) is not None:
            self.said.append((said["said"] or "").strip())
        elif (place := _PLACE.match(line) or _NATIVE.match(line)) is not None:
            self._stand(place)
        elif _OPENING.match(line) is not None:
            self._show(f"    {line}")
        elif _SOURCE.match(line) is not None:
            self._show(line)

    def _show(self, line: str) -> None:
        code = line[1:].strip()
        if not code or _RULER.match(code):
            return
        if line.startswith(">"):
            self._code = code
        elif self.frames and not self._shown and not self.frames[-1].code and self.frames[-1].function:
            self.frames[-1] = self.frames[-1]._replace(code=code)
            return
        if not self._function and (defined := _DEFINED.match(line[1:])) is not None:
            self._function = defined[1]
        self._shown.append(code)

    def _stand(self, place: re.Match[str]) -> None:
        found = place.groupdict()
        function = found["function"] or self._function
        frame = Frame(found["file"], int(found["line"]), function, self._code, tuple(self._shown))
        if found["function"]:
            frame = frame._replace(code="", shown=())
        self.frames.append(frame)
        self.exception = found.get("exception") or self.exception
        self._shown, self._code, self._function = [], "", ""


def _raised(lines: list[str]) -> Raised | None:
    reader = _Reader()
    for line in lines:
        reader.read(line)
    said = tuple(line for line in reader.said if line) or _unmarked(lines)
    named = _RAISED.match(said[0]) if said else None
    exception = reader.exception or (named["exception"] if named is not None else "")
    if not reader.frames and not said:
        return None
    return Raised(exception.rpartition(".")[2], said, tuple(reader.frames[-_MOST_FRAMES:]))


def _unmarked(lines: list[str]) -> tuple[str, ...]:
    """What native tracebacks, doctests and mere messages say: without a mark, what is not code of a frame."""
    told = [line.strip() for line in lines if line.strip() and not _PLACE.match(line) and not _NATIVE.match(line)]
    raised = [line for line in told if _RAISED.match(line) and not line.startswith(("Expected", "Got"))]
    doctest = [line for line in told if not re.match(r"^\d{3}\b", line)] if _is_doctest(told) else []
    return tuple(doctest or raised[-1:] or told[-3:])


def _is_doctest(told: list[str]) -> bool:
    return "Expected:" in told or "UNEXPECTED EXCEPTION" in " ".join(told[-40:])
