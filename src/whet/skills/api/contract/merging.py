"""Two schemas that must both hold, as one flat schema as far as that can be said in one; the rest stays in `allOf`."""

from collections.abc import Callable, Mapping
from typing import Any

from whet.skills.api.contract.keywords import ANNOTATIONS
from whet.skills.api.contract.model import Json, Schema

_CONDITION = ("if", "then", "else")
_FLAGS = frozenset({"readOnly", "writeOnly", "deprecated", "uniqueItems"})


def merge(first: Schema, second: Schema) -> dict[str, Any]:
    """What describes the value (`description`, `example`) is taken from the first, where both say it."""
    made = dict(first)
    apart: dict[str, Any] = {}
    for key, value in second.items():
        if key == "allOf":
            continue
        if key not in made:
            made[key] = value
        elif made[key] is not value and made[key] != value:
            _combine(made, apart, key, value)
    if "if" in apart:
        apart.update({key: second[key] for key in _CONDITION if key in second})
    rest = [*first.get("allOf", ()), *second.get("allOf", ()), *([apart] if apart else [])]
    return {**made, "allOf": rest} if rest else made


def _combine(made: dict[str, Any], apart: dict[str, Any], key: str, value: Json) -> None:
    if key in _RULES:
        made[key] = _RULES[key](made[key], value)
    elif key.startswith("min") or key == "exclusiveMinimum":
        made[key] = max(made[key], value)
    elif key.startswith("max") or key == "exclusiveMaximum":
        made[key] = min(made[key], value)
    elif key in _FLAGS:
        made[key] = True
    elif key not in ANNOTATIONS and not key.startswith("x-"):
        apart[key] = value


def _both(first: Json, second: Json) -> Json:
    if first is False or second is False:
        return False
    if first is True or first == {}:
        return second
    return first if second is True or second == {} else {"allOf": [first, second]}


def _properties(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    made = dict(first)
    for name, schema in second.items():
        made[name] = _both(made[name], schema) if name in made and made[name] != schema else schema
    return made


def _required(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


def kinds(value: Json) -> list[str]:
    return value if isinstance(value, list) else [value]


def _types(first: Json, second: Json) -> Json:
    """The types that both allow; the first's where there is none, as nothing could be valid then."""
    left, right = kinds(first), kinds(second)
    shared = [one for one in left if one in right or (one == "integer" and "number" in right)]
    shared += [one for one in right if one == "integer" and "number" in left and one not in shared]
    if not shared:
        return first
    return shared[0] if len(shared) == 1 else shared


def _choices(first: list[Json], second: list[Json]) -> list[Json]:
    return [one for one in first if one in second] or first


_RULES: dict[str, Callable[[Any, Any], Json]] = {
    "type": _types,
    "enum": _choices,
    "required": _required,
    "properties": _properties,
    "items": _both,
    "additionalProperties": _both,
    "propertyNames": _both,
}
