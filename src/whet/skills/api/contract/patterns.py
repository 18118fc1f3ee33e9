"""Which regular expressions of a document can be used. Some take long to compile, so that their time is bounded."""

import re
import time

import jsonschema_rs

ENGINE = jsonschema_rs.FancyRegexOptions(size_limit=2 << 20, backtrack_limit=100_000)
LONGEST = 10_000
MOST_SECONDS = 10.0
_SLASHES = re.compile(r"/(\^.*\$)/[a-z]*", re.DOTALL)


class Patterns:
    """For one document: a pattern that says the same is tried once."""

    def __init__(self, most_seconds: float = MOST_SECONDS) -> None:
        self._left_seconds = most_seconds
        self._usable: dict[str, bool] = {}

    def meant(self, text: str) -> str | None:
        """The pattern, freed from the slashes of a JavaScript literal (/^a$/); None for what cannot be used."""
        inner = _SLASHES.fullmatch(text)
        pattern = inner.group(1) if inner else text
        return pattern if self._try(pattern) else None

    def _try(self, pattern: str) -> bool:
        if pattern not in self._usable:
            began = time.perf_counter()
            self._usable[pattern] = self._left_seconds > 0 and len(pattern) <= LONGEST and _compiles(pattern)
            self._left_seconds -= time.perf_counter() - began
        return self._usable[pattern]


def _compiles(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=ENGINE)
    except ValueError:
        return False
    return True
