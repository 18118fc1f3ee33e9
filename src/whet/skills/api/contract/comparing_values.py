"""How the plain values that two schemas allow differ: their types, choices and limits."""

from collections.abc import Iterator
from typing import Any

from whet.core.text import printable
from whet.skills.api.contract.changes import Shift, Way
from whet.skills.api.contract.merging import kinds
from whet.skills.api.contract.model import Json, Schema

_ALL = ("string", "number", "integer", "boolean", "object", "array", "null")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SAME_OR_NOT = ("pattern", "format", "multipleOf", "uniqueItems")
MOST_SHOWN = 5


def type_shifts(before: Schema, after: Schema, was_nullable: bool, is_nullable: bool) -> Iterator[Shift]:
    old, new = _types(before, was_nullable), _types(after, is_nullable)
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    if gone:
        yield Shift("type-narrowed", "narrowed", f"can no longer be {_or(gone)}")
    if come:
        yield Shift("type-widened", "widened", f"can now be {_or(come)}")


def _types(schema: Schema, nullable: bool) -> list[str]:
    found = list(kinds(schema["type"])) if "type" in schema else list(_ALL)
    if "number" in found and "integer" not in found:
        found.append("integer")
    return [*found, "null"] if nullable and "null" not in found else found


def choice_shifts(before: Schema, after: Schema) -> Iterator[Shift]:
    old, new = _choices(before), _choices(after)
    if old is None and new is None:
        return
    if old is None:
        yield Shift("choice-narrowed", "narrowed", f"must now be {_or(new or [])}")
    elif new is None:
        yield Shift("choice-widened", "widened", f"need no longer be {_or(old)}")
    else:
        yield from _each_choice([one for one in old if one not in new], [one for one in new if one not in old])


def _each_choice(gone: list[Json], come: list[Json]) -> Iterator[Shift]:
    if gone:
        yield Shift("choice-narrowed", "narrowed", f"can no longer be {_or(gone)}")
    if come:
        yield Shift("choice-widened", "widened", f"can now be {_or(come)}")


def _choices(schema: Schema) -> list[Json] | None:
    chosen: list[Json] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return chosen if chosen is None else [one for one in chosen if one is not None]  # the types tell of null


def limit_shifts(before: Schema, after: Schema) -> Iterator[Shift]:
    for key in (*_LOWER, *_UPPER, *_SAME_OR_NOT):
        old, new = before.get(key), after.get(key)
        if old != new:
            way = _limit_way(key, old, new)
            yield Shift(f"limit-{way}", way, f"has the {key} {_shown(new)}, was {_shown(old)}")


def _limit_way(key: str, old: Any, new: Any) -> Way:
    if old is None or new is None:
        return "narrowed" if old is None else "widened"
    if key in _SAME_OR_NOT:
        return "changed"
    return "narrowed" if (new > old) == (key in _LOWER) else "widened"


def _shown(value: Json) -> str:
    return "none" if value is None else printable(str(value), 60)


def _or(values: list[Json]) -> str:
    shown = [printable(str(one), 40) for one in values[:MOST_SHOWN]]
    more = [f"{len(values) - MOST_SHOWN} others"] if len(values) > MOST_SHOWN else []
    return " or ".join([*shown, *more]) or "nothing"
