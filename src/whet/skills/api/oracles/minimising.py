"""Making a draft as small as it can be while it still shows the same thing.

Parts the contract does not ask for are dropped by delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
failure-inducing input", 2002): first in large pieces, then in smaller ones. What is left is shortened, text by halves
and large numbers. Required parts stay, so that the smallest draft is still a request a person would recognise.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.oracles.slots import ABSENT, Place, placed, schema_at, slots

Part = TypeVar("Part")
DEEPEST, MOST_PARTS = 5, 200
_SHORT = 3  # nothing is gained by shortening further
_MANY = 1_000  # a smaller number may fail by how many things there are today: elsewhere there are more


def reduced(parts: Sequence[Part], holds: Callable[[Sequence[Part]], bool]) -> list[Part]:
    """The smallest list of parts found (ddmin) for which `holds`; it is taken to hold for all of them."""
    kept, pieces = list(parts), 1
    while kept:
        size = -(-len(kept) // pieces)
        without = (kept[:start] + kept[start + size :] for start in range(0, len(kept), size))
        smaller = next((rest for rest in without if holds(rest)), None)
        if smaller is not None:
            kept, pieces = smaller, max(pieces - 1, 1)
        elif size == 1:
            break
        else:
            pieces = min(pieces * 2, len(kept))
    return kept


def without_parts(schemas: Schemas, draft: Draft, holds: Callable[[Draft], bool], fixed: frozenset[Place]) -> Draft:
    """The draft without the optional parts it can do without; places in `fixed` stay."""
    parts = [place for place in removable(schemas, draft) if not any(keep[: len(place)] == place for keep in fixed)]
    best = draft

    def still(kept: Sequence[Place]) -> bool:
        nonlocal best
        smaller = _without(draft, [place for place in parts if place not in set(kept)])
        if holds(smaller):
            best = smaller
            return True
        return False

    reduced(parts, still)
    return best


def removable(schemas: Schemas, draft: Draft) -> list[Place]:
    """What the contract does not ask for: parameters, added headers, properties, entries of lists."""
    required = {(one.where, one.name) for one in draft.operation.parameters if one.required}
    found: list[Place] = [("extra", number) for number in range(len(draft.extra))]
    found += [place for place in slots(draft) if place[0] in ("query", "header", "cookie") and place not in required]
    if draft.body is not NO_BODY and draft.raw is None:
        found += _inside(schemas, draft, ("body",), draft.body)
    return found[:MOST_PARTS]


def _inside(schemas: Schemas, draft: Draft, place: Place, value: Json) -> Iterator[Place]:
    if len(place) > DEEPEST or not isinstance(value, dict | list):
        return
    schema = (schema_at(schemas, draft, place) or {}) if isinstance(value, dict) else {}
    required = schema.get("required", ())
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if name not in required:
            yield (*place, name)
        yield from _inside(schemas, draft, (*place, name), inner)


def _without(draft: Draft, places: Sequence[Place]) -> Draft:
    """Places go from the end, so that the entries of a list keep their numbers until it is their turn."""
    gone = {place[1] for place in places if place[0] == "extra"}
    draft = replace(draft, extra=tuple(one for number, one in enumerate(draft.extra) if number not in gone))
    inner = [place for place in places if place[0] != "extra"]
    for place in reversed(inner):
        if not any(place != other and place[: len(other)] == other for other in inner):
            draft = placed(draft, place, ABSENT)
    return draft


def shortened(draft: Draft, holds: Callable[[Draft], bool], fixed: frozenset[Place]) -> Draft:
    """The draft with shorter texts and plainer numbers in every place but those in `fixed`."""
    for place, value in slots(draft).items():
        if place in fixed or place[0] == "path":
            continue
        draft = _shortest(draft, place, value, holds)
    return draft


def _shortest(draft: Draft, place: Place, value: Json, holds: Callable[[Draft], bool]) -> Draft:
    """Each try begins from the simplest value that held, until one does not."""
    while True:
        tries = (placed(draft, place, simpler) for simpler in _simpler(value))
        held = next((candidate for candidate in tries if holds(candidate)), None)
        if held is None:
            return draft
        draft, value = held, slots(held).get(place)


def _simpler(value: Json) -> Iterator[Json]:
    if isinstance(value, str) and len(value) > _SHORT:
        yield from (value[: len(value) // 2], value[len(value) // 2 :])
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > 1:
        yield from _plainer(value)


def _plainer(value: float) -> Iterator[Json]:
    """Nought says most, then what is far above any number of things; what is larger still is halved."""
    yield 0
    if 1 < value < _MANY:
        yield _MANY
    elif math.isfinite(value) and abs(value) >= 2 * _MANY:
        half = abs(value) // 2 if isinstance(value, int) else float(int(abs(value) / 2))
        yield half if value > 0 else -half
