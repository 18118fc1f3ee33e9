"""What a schema offers before any value is drawn: its alternatives, its examples, its extremes. Once per schema."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from whet.skills.api.contract.memo import Memo
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.values.boundary import extremes
from whet.skills.api.values.shapes import Flat, Shapes, types
from whet.skills.api.writing_styles import text_of

CONTAINERS = frozenset({"object", "array"})
_NULL_WEIGHT = 0.1
_SIMPLE = frozenset({
    "type", "title", "description", "default", "example", "examples", "deprecated", "writeOnly", "minLength",
    "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
})  # fmt: skip
_TRUSTED = _SIMPLE | {"enum", "const"}
_ANY = ("string", "integer", "boolean", "object")  # what is drawn from where a schema says nothing at all
_KEYWORDS = {
    "object": ("properties", "additionalProperties", "required", "minProperties", "patternProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


class Medium(Enum):
    """Where a value will be written, and so what it can say."""

    JSON = "json"
    FORM = "form"  # no null; files are bytes
    TEXT = "text"  # query, header, cookie: no null, and text that survives splitting and trimming
    SEGMENT = "segment"  # of a path: as TEXT, and neither empty nor dots alone

    def takes(self, value: Json) -> bool:
        if self is Medium.JSON:
            return True
        if value is None or value == [] or value == {}:
            return False
        return self is not Medium.SEGMENT or _stays(text_of(value))


def _stays(text: str) -> bool:
    return bool(text.strip(". ")) and "\n" not in text


@dataclass(frozen=True, slots=True)
class Offer:
    options: tuple[tuple[Flat, str], ...]  # alternatives with their types, at least one; null where it can be written
    weights: tuple[float, ...]  # null is rare where something else may stand
    sure: bool  # what is drawn within the limits of its schema is valid; else the validator is asked
    examples: tuple[Json, ...]
    extremes: tuple[Json, ...]


class Offers:
    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self.shapes = Shapes(schemas)
        self._known: dict[Medium, Memo[Offer]] = {medium: Memo() for medium in Medium}

    def of(self, schema: Schema, medium: Medium) -> Offer:
        return self._known[medium].get(schema, lambda one: self._look(one, medium))

    def valid(self, schema: Schema, value: Json) -> bool:
        return self._schemas.is_valid(schema, value, direction="request")

    def allowed(self, schema: Schema, medium: Medium, values: Iterable[Json]) -> tuple[Json, ...]:
        return tuple(value for value in _unique(values) if medium.takes(value) and self.valid(schema, value))

    def _look(self, schema: Schema, medium: Medium) -> Offer:
        branches = self.shapes.branches(schema)
        options = tuple((branch, kind) for branch in branches for kind in kinds_of(branch, medium))
        options = options or ((branches[0], "null"),)
        weights = tuple(_NULL_WEIGHT if kind == "null" else 1.0 for _, kind in options)
        sure, edges = _is_sure(options), _extremes_of(options)
        known = tuple(edge for edge in edges if medium.takes(edge)) if sure else self.allowed(schema, medium, edges)
        return Offer(options, weights, sure, self._examples(schema, medium, branches), known)

    def _examples(self, schema: Schema, medium: Medium, branches: tuple[Flat, ...]) -> tuple[Json, ...]:
        """Choices need no check where the schema says nothing else: there may be hundreds of them."""
        told = [*_told(self.shapes.flat(schema)), *(value for branch in branches for value in _told(branch))]
        choices = [value for branch in branches for value in _choices(branch)]
        if all(branch.keys() <= _TRUSTED for branch in branches):
            kept = tuple(value for value in _unique(choices) if medium.takes(value))
            return _unique((*kept, *self.allowed(schema, medium, told)))
        return self.allowed(schema, medium, (*choices, *told))


def _unique(values: Iterable[Json]) -> tuple[Json, ...]:
    """True and 1 are equal to Python, but not to JSON."""
    return tuple({json.dumps(value, sort_keys=True, default=repr): value for value in values}.values())


def kinds_of(flat: Flat, medium: Medium) -> tuple[str, ...]:
    declared = types(flat.get("type"))
    if not declared:
        declared = [kind for kind, keys in _KEYWORDS.items() if any(key in flat for key in keys)] or [*_ANY]
    return tuple(kind for kind in declared if kind != "null" or medium is Medium.JSON)


def _is_sure(options: tuple[tuple[Flat, str], ...]) -> bool:
    """A fraction's multiples are not exact in binary, and what is beside the simple limits may say anything."""
    return all(
        flat.keys() <= _SIMPLE and isinstance(flat.get("multipleOf", 1), int)
        for flat, kind in options
        if kind not in CONTAINERS
    )


def _choices(flat: Flat) -> Iterator[Json]:
    if "const" in flat:
        yield flat["const"]
    yield from flat.get("enum") or ()


def _told(flat: Flat) -> Iterator[Json]:
    if "default" in flat:
        yield flat["default"]
    if "example" in flat:
        yield flat["example"]
    examples = flat.get("examples")
    if isinstance(examples, list):
        yield from examples
    elif isinstance(examples, Mapping):  # not JSON Schema, but met: named examples, as OpenAPI has them elsewhere
        yield from (one.get("value") if isinstance(one, Mapping) else one for one in examples.values())


def _extremes_of(options: tuple[tuple[Flat, str], ...]) -> list[Json]:
    return [value for flat, kind in options for value in ([None] if kind == "null" else extremes(kind, flat))]
