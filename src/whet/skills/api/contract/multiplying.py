"""Schemas whose parts refer to parts that refer to parts: each is short, and together they are more than can be tried.

Twelve levels of six alternatives are two thousand million ways for one value. What holds a value against a schema goes
all of them, so they are cut where they pass what any real document has.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from whet.skills.api.contract.model import Schema
from whet.skills.api.contract.normal import HOME
from whet.skills.api.contract.notes import Notes

MOST_WAYS = 10_000
DEEPEST = 100
_SEVERAL = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_HERE = frozenset({"$ref", *_SEVERAL, *_ONE, "dependentSchemas"})  # what is held against the same value


def bound(schemas: dict[str, Schema], notes: Notes) -> None:
    """Cuts, in place and with a note, what leads to more ways than can be gone, or too deep."""
    _Bounding(schemas, notes).all()


class _Bounding:
    def __init__(self, schemas: dict[str, Schema], notes: Notes) -> None:
        self._schemas, self._notes = schemas, notes
        self._ways: dict[str, int] = {}
        self._open: list[str] = []

    def all(self) -> None:
        for name in list(self._schemas):
            self._of(name)

    def _of(self, name: str) -> int:
        if name in self._ways:
            return self._ways[name]
        if name in self._open:
            return 1  # the validator sees such a circle itself
        ways = 0
        if len(self._open) < DEEPEST:
            self._open.append(name)
            ways = self._in(self._schemas[name])
            self._open.pop()
        if not 0 < ways <= MOST_WAYS:
            ways = self._cut(name)
        self._ways[name] = ways
        return ways

    def _in(self, schema: Schema) -> int:
        ref = schema.get("$ref")
        name = ref.removeprefix(HOME) if isinstance(ref, str) else ""
        behind = self._of(name) if name in self._schemas else 0
        return 1 + behind + sum(self._in(part) for part in _parts(schema))

    def _cut(self, name: str) -> int:
        kept: dict[str, Any] = {key: value for key, value in self._schemas[name].items() if key not in _HERE}
        self._schemas[name] = kept
        self._notes.add(f"schema {name}: it leads to too many other schemas; that part of it was left out.")
        return 1


def _parts(schema: Schema) -> Iterator[Schema]:
    """The schemas within this one that are held against the same value."""
    for key in _SEVERAL:
        yield from (one for one in schema.get(key) or () if isinstance(one, Mapping))
    yield from (schema[key] for key in _ONE if isinstance(schema.get(key), Mapping))
    yield from (one for one in (schema.get("dependentSchemas") or {}).values() if isinstance(one, Mapping))
