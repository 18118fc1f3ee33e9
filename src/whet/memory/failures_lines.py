"""Which lines of the project a failing test executed otherwise than when it passed: what no message tells.

A failing test stops early, so most of what it leaves out says only where it stopped. Within a function that it still
executes, what it leaves out says that the way turned there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

Lines = Mapping[str, Collection[int]]  # by file
Bodies = Mapping[str, Collection[tuple[int, int]]]  # by file: first and last line of each function

_RUN = re.compile(r"^(?P<file>.+):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?$")
_LONGEST_RUN = 10_000


def diverged(green: Lines, failing: Lines, bodies: Bodies) -> frozenset[str]:
    was, now = set(_places(green)), set(_places(failing))
    still = {place for file, spans in bodies.items() for place in _still(file, spans, was & now)}
    return frozenset({f"+{file}:{line}" for file, line in now - was}) | frozenset(
        {f"-{file}:{line}" for file, line in (was - now) & still}
    )


def told(places: Iterable[str]) -> str:
    """As one short text: "+a.py:3-5 -a.py:9"."""
    by_file: dict[str, list[int]] = {}
    for place in places:
        file, _, line = place.rpartition(":")
        by_file.setdefault(file, []).append(int(line))
    return " ".join(run for file in sorted(by_file) for run in _runs(file, sorted(by_file[file])))


def read(text: str) -> frozenset[str]:
    """What `told` told; what is not of its form is left out."""
    found = [match for word in text.split(" ") if (match := _RUN.match(word)) is not None]
    spans = [(match["file"], int(match["first"]), int(match["last"] or match["first"])) for match in found]
    return frozenset(f"{file}:{n}" for file, a, z in spans if z - a < _LONGEST_RUN for n in range(a, z + 1))


def _places(lines: Lines) -> Iterator[tuple[str, int]]:
    return ((file, line) for file, numbers in lines.items() for line in numbers)


def _still(file: str, spans: Collection[tuple[int, int]], both: set[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The places of innermost functions that both executed some line of."""
    owner = {line: span for span in sorted(spans, key=lambda s: s[0] - s[1]) for line in range(span[0], span[1] + 1)}
    alive = {owner[line] for other, line in both if other == file and line in owner}
    return ((file, line) for line, span in owner.items() if span in alive)


def _runs(file: str, lines: list[int]) -> Iterator[str]:
    first = last = lines[0]
    for line in [*lines[1:], None]:
        if line is not None and line <= last + 1:
            last = line
            continue
        yield f"{file}:{first}" if first == last else f"{file}:{first}-{last}"
        if line is not None:
            first = last = line
