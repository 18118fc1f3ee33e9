"""What is known of a slot before any value is drawn, worked out once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from whet.skills.api.contract.memo import Memo
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.values.containers import Field, fields
from whet.skills.api.values.offers import Medium, Offer, Offers
from whet.skills.api.values.realistic import tells
from whet.skills.api.values.shapes import Flat
from whet.skills.api.values.slots import NOTHING, Absent, Slot, Source
from whet.skills.api.writing_styles import text_of


@dataclass(frozen=True, slots=True)
class Spot:
    slot: Slot
    medium: Medium
    offer: Offer
    examples: tuple[Json, ...]  # the parameter's or the body's own beside the schema's
    sources: tuple[Source, ...]


class Spots:
    """Remembered by operation, place and schema."""

    def __init__(self, schemas: Schemas) -> None:
        self._offers = Offers(schemas)
        self._fields: Memo[tuple[Field, ...]] = Memo()
        self._known: dict[tuple[str, str, int, Medium], Spot] = {}

    def spot(
        self, operation: str, place: str, schema: Schema, required: bool, medium: Medium, told: Sequence[Json] = ()
    ) -> Spot:
        key = (operation, place, id(schema), medium)
        known = self._known.get(key)
        if known is None:
            slot = Slot(operation, place, schema, required)
            known = self._known[key] = self._look(slot, medium, told)
        return known

    def fitting(self, spot: Spot, value: Json) -> Json | Absent:
        """The value as this slot can take it: on the wire, 5 and "5" are the same parameter."""
        texts = (_reading(value), text_of(value)) if spot.medium is not Medium.JSON and _is_scalar(value) else ()
        for one in (value, *texts):
            if spot.medium.takes(one) and self.valid(spot.slot, one):
                return one
        return NOTHING

    def fields(self, flat: Flat) -> tuple[Field, ...]:
        return self._fields.get(flat, lambda one: tuple(fields(one, self._offers.shapes.flat)))

    def valid(self, slot: Slot, value: Json) -> bool:
        return self._offers.valid(slot.schema, value)

    def _look(self, slot: Slot, medium: Medium, told: Sequence[Json]) -> Spot:
        offer = self._offers.of(slot.schema, medium)
        examples = (*self._offers.allowed(slot.schema, medium, told), *offer.examples)
        return Spot(slot, medium, offer, examples, _sources(slot.name, offer, examples))


def _sources(name: str, offer: Offer, examples: tuple[Json, ...]) -> tuple[Source, ...]:
    if examples and all("enum" in branch or "const" in branch for branch, _ in offer.options):
        return (Source.EXAMPLE,)
    every = {kind for _, kind in offer.options}
    found = [Source.EXAMPLE] if examples else []
    found.append(Source.CONSTRAINED)
    if any(edge is not None for edge in offer.extremes) or "array" in every:
        found.append(Source.BOUNDARY)
    return (*found, Source.REALISTIC) if any(tells(name, kind) for kind in every) else (*found,)


def _is_scalar(value: Json) -> bool:
    return isinstance(value, str | int | float)


def _reading(value: Json) -> Json:
    """What a service reads from a text that is a number or a truth."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
