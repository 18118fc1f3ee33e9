"""The exception and the frame an error body shows, for the languages services are commonly written in.

The frame is named by file and function, without its line: a line moves with every edit above it, and a fault must be
known again in the next version. Where a language only tells the position (Rust), the line stays. Of several frames the
deepest one of the application is taken, because two faults that both end in a library are still two; where every frame
is a library's, the deepest. All patterns run in linear time on the text they are given.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib/python|<frozen|node_modules|node:|/internal/|vendor/|/gems/|/usr/lib|/usr/local/go/"
    r"|^(?:java|javax|jakarta|jdk|sun|kotlin|scala|System|Microsoft|runtime|org\.(?:spring|apache|hibernate)"
    r"|com\.fasterxml|io\.netty)\b"
)
_NAME = re.compile(r"(?<![\w.\\:])((?:[A-Za-z_][\w$]{0,60}(?:\.|::|\\)){0,12}[A-Za-z_]\w{0,80}"
                   r"(?<=[a-z])(?:Error|Exception|Fault|Panic|Throwable|Interrupt))(?![\w$])")  # fmt: skip
_PYTHON_FRAME = re.compile(r'File "([^"\n]{1,300})", line \d{1,7}(?:, in ([^\n]{1,100}))?')
_PYTHON_RAISED = re.compile(r"^(?: *\| ?)?([A-Za-z_][\w.]{0,150})(?:: |:? *$)", re.MULTILINE)
_AT_FRAME = re.compile(
    r"^[ \t]*at (?:async |new )?([^\s(]{1,200})(?: ?\(([^()\n]{0,300})\))?(?: in ([^\n]{1,300}))?", re.M
)
_JVM_FRAME = re.compile(r"^[ \t]+()?([\w.$<>]{1,200})\(\w{1,100}\.(?:java|kt|scala|groovy):\d{1,7}\)", re.MULTILINE)
_GO_FRAME = re.compile(r"^([\w./*()\-]{1,200})\([^()\n]{0,300}\)\n\s{1,8}(\S{1,300}\.go):\d{1,7}", re.MULTILINE)
_RUST_PANIC = re.compile(r"panicked at (?:'[^'\n]{0,300}', )?([^\s:]{1,200}\.rs):(\d{1,7})")
_RUBY_FRAME = re.compile(r"(?<![^\s:'\"])([^\s:'\"]{1,200}\.rb):\d{1,7}:in [`']([^'`\n]{1,100})'")
_PHP_FRAME = re.compile(r"(?<![^\s:()'\"])([^\s:()'\"]{1,200}\.php)(?::| on line |\()\d{1,7}")


@dataclass(frozen=True, slots=True)
class Raised:
    """`frame` is "file:function" of the place that raised."""

    exception: str
    frame: str


@dataclass(frozen=True, slots=True)
class _Frame:
    start: int
    place: str  # as the text has it, to tell libraries by
    name: str


def raised(text: str) -> Raised | None:
    """The exception and its frame, or None where the text shows no traceback."""
    return next((found for found in (language(text) for language in _LANGUAGES) if found), None)


def exception_names(text: str) -> tuple[str, ...]:
    """The exceptions a text names, without their packages: a body may tell one without a traceback."""
    return tuple(sorted({_short(match.group(1)) for match in _NAME.finditer(text)})[:4])


def _python(text: str) -> Raised | None:
    matches = list(_PYTHON_FRAME.finditer(text))
    if not matches:
        return None
    said = _PYTHON_RAISED.search(text, matches[-1].end())
    frames = [_Frame(one.start(), one[1], f"{_file(one[1])}:{one[2] or '?'}") for one in matches]
    return Raised(_short(said[1]) if said else "?", _deepest(reversed(frames)).name)


def _at(text: str) -> Raised | None:
    """JVM, JavaScript and .NET write "at"; the first frame is the deepest, and the last cause is the root."""
    frames = [_at_frame(match) for match in _AT_FRAME.finditer(text)]
    frames += [_Frame(match.start(), match[2], match[2]) for match in _JVM_FRAME.finditer(text)]
    frames.sort(key=lambda frame: frame.start)
    if len(frames) < 1 or not exception_names(text[: frames[0].start]):
        return None
    root = text.rfind("Caused by:")
    inner = [frame for frame in frames if frame.start > root] or frames
    names = [_short(one[1]) for one in _NAME.finditer(text, max(root, 0), inner[0].start)]
    return Raised(names[0] if root >= 0 and names else (names or ["?"])[-1], _deepest(inner).name)


def _at_frame(match: re.Match[str]) -> _Frame:
    name, inside, position = match[1], match[2] or "", match[3] or ""
    if "/" in name:  # JavaScript without a function: the position is all there is
        return _Frame(match.start(), name, _file(name))
    script = f"{_file(inside)}:" if re.search(r":\d+:\d+$", inside) else ""
    return _Frame(match.start(), f"{name} {inside} {position}", f"{script}{name}")


def _go(text: str) -> Raised | None:
    if "goroutine " not in text:
        return None
    frames = [_Frame(one.start(), f"{one[1]} {one[2]}", f"{_file(one[2])}:{one[1].rpartition('/')[2]}")
              for one in _GO_FRAME.finditer(text) if not one[1].startswith(("runtime", "panic"))]  # fmt: skip
    return Raised("panic", _deepest(frames).name) if frames else None


def _rust(text: str) -> Raised | None:
    found = _RUST_PANIC.search(text)
    return Raised("panic", f"{_file(found[1])}:{found[2]}") if found else None


def _ruby(text: str) -> Raised | None:
    found = _RUBY_FRAME.finditer(text)
    return _scripted(text, [_Frame(one.start(), one[1], f"{_file(one[1])}:{one[2]}") for one in found])


def _php(text: str) -> Raised | None:
    return _scripted(text, [_Frame(one.start(), one[1], _file(one[1])) for one in _PHP_FRAME.finditer(text)])


def _scripted(text: str, frames: list[_Frame]) -> Raised | None:
    """A file with a position is only a frame where an exception is told too."""
    names = exception_names(text)
    return Raised(names[0], _deepest(frames).name) if frames and names else None


def _deepest(frames: Iterable[_Frame]) -> _Frame:
    """The first frame that is the application's, else the first; `frames` begin with the deepest."""
    ordered = list(frames)
    return next((frame for frame in ordered if not _LIBRARY.search(frame.place)), ordered[0])


def _file(path: str) -> str:
    """Without its folders: where a service is installed is not part of a cause."""
    return re.sub(r"(:\d{1,7}){1,2}$", "", re.split(r"[/\\]", path)[-1])


def _short(name: str) -> str:
    return re.split(r"\.|::|\\", name)[-1]


_LANGUAGES: tuple[Callable[[str], Raised | None], ...] = (_python, _at, _go, _rust, _ruby, _php)
