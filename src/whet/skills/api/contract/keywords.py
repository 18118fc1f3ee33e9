"""A schema keyword's value, mended where tools accept what the specification does not; `DROPPED` where it says nothing.

What cannot be read as meant is left out rather than guessed: a contract that promises less raises no false alarm.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final

from whet.skills.api.contract.model import Json


class Dropped(Enum):
    DROPPED = "says nothing"


DROPPED: Final = Dropped.DROPPED
TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
OF_SWAGGER = frozenset({"file"})  # Swagger 2 has it
# What people write in place of a type.
_MEANT = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "str": "string", "text": "string",
    "date": "string", "datetime": "string", "date-time": "string", "uuid": "string", "file": "string",
    "list": "array", "dict": "object", "map": "object",
}  # fmt: skip
_GREATEST = 1e308  # what is beyond floating point is no limit for anything that can be sent
_LEAST_STEP = 1e-12  # and every number is a multiple of a smaller one, as far as can be told
ANYTHING = frozenset({"any", "mixed", "*", ""})  # said on purpose: not worth a note


def meant(written: str) -> str:
    return _MEANT.get(written.lower(), written.lower())


def types(value: Json) -> list[str] | Dropped:
    named = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    known = [meant(one) for one in named]
    if not known or any(one not in TYPES for one in known):
        return DROPPED
    return list(dict.fromkeys(known))


def number(value: Json) -> float | int | Dropped:
    if isinstance(value, str):
        value = _number_in(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return DROPPED
    return value if abs(value) <= _GREATEST else DROPPED


def _number_in(text: str) -> float | int | None:
    for kind in (int, float):
        try:
            found = kind(text)
        except (ValueError, OverflowError):
            continue
        return found if abs(found) <= _GREATEST else None
    return None


def positive(value: Json) -> float | int | Dropped:
    found = number(value)
    return found if found is not DROPPED and found >= _LEAST_STEP else DROPPED


def count(value: Json) -> int | Dropped:
    found = number(value)
    # More than a machine can count is no limit.
    return int(found) if found is not DROPPED and 0 <= found < 2**53 and found == int(found) else DROPPED


def names(value: Json) -> list[str] | Dropped:
    if not isinstance(value, list):
        return DROPPED
    found = list(dict.fromkeys(one for one in value if isinstance(one, str)))
    return found or DROPPED


def names_by_name(value: Json) -> dict[str, list[str]] | Dropped:
    if not isinstance(value, dict):
        return DROPPED
    return {name: [one for one in needed if isinstance(one, str)]
            for name, needed in value.items() if isinstance(needed, list)}  # fmt: skip


def choices(value: Json) -> list[Json] | Dropped:
    return value if isinstance(value, list) and value else DROPPED


def flag(value: Json) -> bool | Dropped:
    return True if value in (True, "true") else DROPPED


def text(value: Json) -> str | Dropped:
    return value if isinstance(value, str) else DROPPED


def samples(value: Json) -> list[Json] | Dropped:
    if isinstance(value, dict):  # the form that parameters and bodies have
        value = [one.get("value", one) if isinstance(one, dict) else one for one in value.values()]
    return value if isinstance(value, list) and value else DROPPED


def anything(value: Json) -> Json:
    return value


PLAIN: dict[str, Callable[[Json], Json]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), number),
    "multipleOf": positive,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), count),
    **dict.fromkeys(("minProperties", "maxProperties"), count),
    "required": names,
    "dependentRequired": names_by_name,
    "enum": choices,
    "examples": samples,
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), flag),
    **dict.fromkeys(("title", "description", "format", "contentEncoding", "contentMediaType"), text),
    **dict.fromkeys(("default", "example", "const", "xml", "externalDocs"), anything),
}
# Said beside a `$ref` they describe the place, not the value: kept in every dialect.
ANNOTATIONS = frozenset(
    {"title", "description", "default", "example", "examples", "readOnly", "writeOnly", "deprecated", "xml"}
)
