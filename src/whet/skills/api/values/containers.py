"""How many elements an array gets, and which names an object."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.values.formats import word
from whet.skills.api.values.patterns import matching
from whet.skills.api.values.shapes import ANYTHING, Flat

_USUALLY_MORE = 2
_MOST = 40  # a longer array is valid, but makes every request slow
_MOST_EXTRA = 12


def array_size(flat: Flat, rng: random.Random, extreme: bool, short: bool, filled: bool) -> int:
    """`filled`: an empty array cannot be written in a query or a form."""
    least, most = flat.get("minItems", 0), flat.get("maxItems")
    least = max(least, 1 if filled else 0, len(flat.get("prefixItems") or ()) if flat.get("items") is False else 0)
    top = _MOST if most is None else min(most, max(least, _MOST))
    if short:
        return int(least)
    if extreme:
        return int(rng.choice((least, top)) if most is not None else least)
    return rng.randint(min(max(least, 1), top), min(top, max(least, 1) + _USUALLY_MORE))


def is_new(value: Json, known: set[str]) -> bool:
    """And it is known from now on. As JSON has it: true is not 1, but 1.0 is."""
    normal = int(value) if isinstance(value, float) and value.is_integer() else value
    text, before = json.dumps(normal, sort_keys=True, default=repr), len(known)
    known.add(text)
    return len(known) > before


class Field(NamedTuple):
    name: str
    schema: Schema
    required: bool


def fields(flat: Flat, resolve: Callable[[Schema], Flat]) -> Iterator[Field]:
    """Every property a request may have, and whether it must. What is read-only a service makes itself."""
    properties: Mapping[str, Schema] = flat.get("properties") or {}
    required = set(flat.get("required") or ())
    for name, schema in properties.items():
        if isinstance(schema, Mapping) and not resolve(schema).get("readOnly"):
            yield Field(name, schema, name in required)
    more = flat.get("additionalProperties")
    for name in flat.get("required") or ():
        if name not in properties:
            yield Field(name, more if isinstance(more, Mapping) else ANYTHING, True)


def extra_names(flat: Flat, made: Mapping[str, Json], rng: random.Random, wanted: Callable[[], bool]) -> Iterator[str]:
    """For a map, one or two when wanted; otherwise what `minProperties` still asks for."""
    least = min(flat.get("minProperties", 0), _MOST_EXTRA)
    if not flat.get("properties") and len(made) >= least and wanted():
        least = len(made) + rng.randint(1, 2)
    pattern = (flat.get("propertyNames") or {}).get("pattern")
    for _ in range(max(0, min(least, flat.get("maxProperties", least)) - len(made))):
        yield (matching(pattern, rng) if pattern else None) or f"{word(rng)}_{rng.randrange(1000)}"
