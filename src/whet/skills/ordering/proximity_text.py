"""What the tests' own source mentions, found by form: thousands of tests are looked through at every run."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, lru_cache

_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_TOKEN = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z][a-z]{2}|[A-Z]{3,}(?![a-z])")
_NO_TOKENS = frozenset({"test", "tests"})


class Sketch:
    """One file's text, and which function or class each place of it belongs to."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[tuple[int, str]]:
        """Offsets at which definitions begin, with their qualified names."""
        return list(_qualified(self.text))

    @cached_property
    def _offsets(self) -> list[int]:
        return [start for start, _ in self._starts]

    def mentioning(self, names: Collection[str]) -> set[str]:
        """Qualified names of the definitions in which one of these words occurs, and of those around them; "" stands
        for the top level before the first."""
        there = [name for name in names if name in self.text]  # far quicker than the pattern, and mostly says no
        if not there:
            return set()
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, there)) + r")\b")
        places = {bisect_right(self._offsets, match.start()) - 1 for match in pattern.finditer(self.text)}
        found = {self._starts[place][1] if place >= 0 else "" for place in places}
        return found.union(*map(_outer, found))


class Texts:
    """The test files' texts, read when asked for."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._sketches: dict[str, Sketch] = {}

    def mentioning(self, file: str, names: Collection[str]) -> set[str]:
        """See Sketch.mentioning; nothing for a file that cannot be read."""
        if file not in self._sketches:
            self._sketches[file] = Sketch((self._read(file) or b"").decode("utf-8", "replace"))
        return self._sketches[file].mentioning(names)


@lru_cache(maxsize=1 << 16)
def tokens(name: str) -> frozenset[str]:
    """parse_header and parseHeader are both about parse and header."""
    return frozenset(found.lower() for found in _TOKEN.findall(name)) - _NO_TOKENS


def _qualified(text: str) -> Iterator[tuple[int, str]]:
    around: list[tuple[int, str]] = []
    for found in _DEFINITION.finditer(text):
        depth = len(found[1].expandtabs())
        around = [*_shallower(around, depth), (depth, found[2])]
        yield found.start(), ".".join(name for _, name in around)


def _outer(name: str) -> list[str]:
    """A.b.c stands in A.b and in A."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def _shallower(around: Iterable[tuple[int, str]], depth: int) -> list[tuple[int, str]]:
    return [(outer, name) for outer, name in around if outer < depth]
