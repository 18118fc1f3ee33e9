"""How the values that two schemas allow differ, place by place."""

from collections.abc import Iterator, Mapping
from itertools import islice

from whet.core.text import printable
from whet.skills.api.contract.changes import Shift
from whet.skills.api.contract.comparing_values import choice_shifts, limit_shifts, type_shifts
from whet.skills.api.contract.directions import Direction
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas

DEEPEST = 40
# Of one pair of schemas: a change of a part that is used everywhere need not be told a thousand times.
MOST_SHIFTS = 100
_CONDITIONS = ("not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas", "contains")
_ANY: Schema = {}


class Comparison:
    """Of the schemas of two contracts, in one direction; each pair of schemas is compared once."""

    def __init__(self, old: Schemas, new: Schemas, direction: Direction) -> None:
        self._old = old
        self._new = new
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._open: set[tuple[int, int]] = set()
        # The schemas are kept as well: a freed one's identity may come again.
        self._known: dict[tuple[int, int], tuple[Schema, Schema, list[Shift]]] = {}

    def shifts(self, old: Schema, new: Schema) -> list[Shift]:
        """Empty when both are the same, or lead back to a pair that is being compared."""
        pair = (id(old), id(new))
        if pair in self._known:
            return self._known[pair][2]
        if pair in self._open or len(self._open) >= DEEPEST:
            return []
        self._open.add(pair)
        found = list(islice(self._shifts(old, new), MOST_SHIFTS))
        self._open.discard(pair)
        self._known[pair] = (old, new, found)
        return found

    def _shifts(self, old: Schema, new: Schema) -> Iterator[Shift]:
        before, was_nullable = _unwrapped(self._old, old)
        after, is_nullable = _unwrapped(self._new, new)
        if (before is not old or after is not new) and was_nullable == is_nullable:
            yield from self.shifts(before, after)
            return
        yield from type_shifts(before, after, was_nullable, is_nullable)
        yield from choice_shifts(before, after)
        yield from limit_shifts(before, after)
        yield from self._inner(before, after)

    def _inner(self, before: Schema, after: Schema) -> Iterator[Shift]:
        yield from self._below("[]", before.get("items", _ANY), after.get("items", _ANY))
        yield from self._properties(before, after)
        yield from self._below(".*", before.get("additionalProperties", _ANY), after.get("additionalProperties", _ANY))
        for key in _CONDITIONS:
            if before.get(key) != after.get(key):
                yield Shift("condition-changed", "changed", f"has another condition `{key}`")
        for key in ("oneOf", "anyOf"):
            yield from self._alternatives(_by_sign(before.get(key)), _by_sign(after.get(key)))

    def _below(self, step: str, before: Json, after: Json) -> Iterator[Shift]:
        """`False` allows nothing, `True` anything."""
        if after is False and before is not False:
            yield Shift("content-narrowed", "narrowed", "is no longer allowed", step)
        elif before is False and after is not False:
            yield Shift("content-widened", "widened", "is now allowed", step)
        elif isinstance(before, Mapping) or isinstance(after, Mapping):
            for shift in self.shifts(_schema(before), _schema(after)):
                yield shift._replace(place=step + shift.place)

    def _properties(self, before: Schema, after: Schema) -> Iterator[Shift]:
        old, new = self._shown(self._old, before), self._shown(self._new, after)
        needed, needs = before.get("required", ()), after.get("required", ())
        for name in [*old, *(one for one in new if one not in old)]:
            step = f".{printable(name, 80)}"
            if name not in new:
                yield Shift("property-removed", "changed", "is gone", step)
            elif name not in old:
                yield _added(step, name in needs)
            else:
                yield from _need_shifts(name in needed, name in needs, step)
                yield from self._below(step, old[name], new[name])
        yield from _unnamed_needs(before, after)

    def _shown(self, schemas: Schemas, schema: Schema) -> dict[str, Json]:
        properties: Mapping[str, Json] = schema.get("properties", {})
        return {
            name: one
            for name, one in properties.items()
            if not (isinstance(one, Mapping) and self._hidden in schemas.resolve(one))
        }

    def _alternatives(self, old: dict[str, Schema], new: dict[str, Schema]) -> Iterator[Shift]:
        if not old and new:
            yield Shift("alternative-narrowed", "narrowed", "must now be one of several alternatives")
        elif old and not new:
            yield Shift("alternative-widened", "widened", "need no longer be one of several alternatives")
        else:
            yield from self._each_alternative(old, new)

    def _each_alternative(self, old: dict[str, Schema], new: dict[str, Schema]) -> Iterator[Shift]:
        for sign in [*old, *(one for one in new if one not in old)]:
            if sign not in new:
                yield Shift("alternative-narrowed", "narrowed", f"can no longer be {sign}")
            elif sign not in old:
                yield Shift("alternative-widened", "widened", f"can now be {sign}")
            else:
                yield from self.shifts(old[sign], new[sign])


def _unwrapped(schemas: Schemas, schema: Schema) -> tuple[Schema, bool]:
    """The schema, and whether it is wrapped to allow null as well."""
    flat = schemas.merged(schema)
    several = flat.get("anyOf", ())
    inner = [one for one in several if one != {"type": "null"}]
    if len(inner) == 1 and len(several) == 2:
        return schemas.merged(inner[0]), True
    return flat, False


def _unnamed_needs(before: Schema, after: Schema) -> Iterator[Shift]:
    """Names that are required, or were, and that neither side lists among its properties."""
    needed, needs = before.get("required", ()), after.get("required", ())
    listed = {*before.get("properties", ()), *after.get("properties", ())}
    for name in dict.fromkeys((*needed, *needs)):
        if name not in listed:
            yield from _need_shifts(name in needed, name in needs, f".{printable(name, 80)}")


def _schema(value: Json) -> Schema:
    return value if isinstance(value, Mapping) else _ANY


def _added(step: str, needed: bool) -> Shift:
    if needed:
        return Shift("property-added", "narrowed", "is new and required", step)
    return Shift("property-added", "added", "is new", step)


def _need_shifts(needed: bool, needs: bool, step: str) -> Iterator[Shift]:
    if needs and not needed:
        yield Shift("property-required", "narrowed", "is now required", step)
    elif needed and not needs:
        yield Shift("property-optional", "widened", "is no longer required", step)


def _by_sign(alternatives: Json) -> dict[str, Schema]:
    """Each alternative by what it is called, else by its place."""
    found: dict[str, Schema] = {}
    for place, one in enumerate(alternatives or (), 1):
        ref = one.get("$ref")
        sign = printable(ref.rpartition("/")[2] if ref else one.get("title") or f"alternative {place}", 80)
        found[sign if sign not in found else f"alternative {place}"] = one
    return found
