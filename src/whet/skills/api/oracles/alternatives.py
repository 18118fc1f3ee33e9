"""The alternatives (`oneOf`, `anyOf`) that a contract has for a place of a value."""

from collections.abc import Iterator, Mapping, Sequence

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas

TOGETHER = ("allOf", "anyOf", "oneOf")
_DEEPEST = 8


def branches(schemas: Schemas, schema: Json) -> Iterator[Schema]:
    """A schema, flattened, and its alternatives, each by itself and once."""
    return _branches(schemas, schema, 0, set())


def _branches(schemas: Schemas, schema: Json, depth: int, seen: set[int]) -> Iterator[Schema]:
    merged = schemas.merged(schema) if isinstance(schema, Mapping) and depth <= _DEEPEST else None
    if merged is None or id(merged) in seen:
        return
    seen.add(id(merged))
    yield merged
    for one in (one for key in TOGETHER for one in merged.get(key) or ()):
        yield from _branches(schemas, one, depth + 1, seen)


def alternatives(schemas: Schemas, schema: Schema, value: Json, steps: Sequence[str]) -> Iterator[Schema]:
    """Those that may describe what stands in the value after these steps; where it says itself which, that one."""
    here: list[Json] = [schema]
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
        here = [inner for one in here for branch in branches(schemas, one) for inner in _inside(branch, step)]
    for branch in (branch for one in here for branch in branches(schemas, one)):
        every = (*(branch.get("anyOf") or ()), *(branch.get("oneOf") or ()))
        options = list({id(schemas.resolve(one)): one for one in every}.values())
        yield from [one for one in options if _chosen(branch, one, value)] or options


def _inside(branch: Schema, step: str) -> Iterator[Json]:
    properties = branch.get("properties")
    if isinstance(properties, Mapping) and step in properties:
        yield properties[step]
    elif step.isdigit() and isinstance(branch.get("items"), Mapping):
        yield branch["items"]
    elif isinstance(branch.get("additionalProperties"), Mapping):
        yield branch["additionalProperties"]


def _chosen(branch: Schema, option: Json, value: Json) -> bool:
    """By the discriminator, which names an alternative by its mapping or by the name of its schema."""
    discriminator = branch.get("discriminator") or {}
    name = value.get(discriminator.get("propertyName")) if isinstance(value, dict) else None
    reference = option.get("$ref") if isinstance(option, Mapping) else None
    if not isinstance(name, str) or not isinstance(reference, str):
        return False
    return reference == discriminator.get("mapping", {}).get(name) or reference.rpartition("/")[2] == name
