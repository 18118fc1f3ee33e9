"""Drafts that keep the contract, with the source that gave each slot its value."""

import random
from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract.model import Body, Json, Operation, Parameter, Where
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft, Missing
from whet.skills.api.values.making import Making
from whet.skills.api.values.offers import Medium
from whet.skills.api.values.slots import NOTHING, Absent, Choose, Include, Observed, Slot, Source
from whet.skills.api.values.spots import Spot, Spots

_TRIES = 4
# OpenAPI: header parameters of these names are ignored, the request has them anyway. One that a document requires all
# the same is given, because its service may refuse requests without.
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})


class Values:
    """`choose` picks a source for a slot from the possible ones; `observed` gives a value seen in past answers."""

    def __init__(self, schemas: Schemas, rng: random.Random, choose: Choose, observed: Observed | None = None) -> None:
        self._rng, self._choose, self._observed = rng, choose, observed
        self._spots = Spots(schemas)

    def draft_for(
        self, operation: Operation, body: Body | None = None, include: Include = 0.5, full: bool = False
    ) -> tuple[Draft, dict[str, Source]]:
        """`include` says which optional parameters and properties are given: each slot asked, or a probability.
        A `full` draft has no null and nothing empty where the contract allows something else.

        Where a schema could not be met the draft says so in `broken`.
        """
        making = Making(self._spots, self._rng, self._choose, self._observed, operation.id, include, full)
        given: dict[Where, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "cookie": {}}
        unmet: list[str] = []
        for parameter in operation.parameters:
            spot = self._parameter_spot(making, parameter)
            if _is_ignored(parameter) or not making.wants(spot):
                continue
            value = self._valid(making, spot, unmet)
            if value is not NOTHING:
                given[parameter.where][parameter.name] = value
            elif parameter.where == "path":
                given["path"][parameter.name] = parameter.name  # something has to stand there
        content = self._body(making, body, unmet)
        draft = Draft(
            operation, given["path"], given["query"], given["header"], given["cookie"],
            body=content, media=body.media if body and content is not NO_BODY else None,
            broken=f"no value was found that {', '.join(unmet)} allows" if unmet else None,
        )  # fmt: skip
        return draft, making.sources

    def value(self, slot: Slot, source: Source) -> Json | Absent:
        """One value for one slot, from this source where it has any."""
        making = Making(
            self._spots, self._rng, lambda _, possible: _nearest(source, possible),
            self._observed, slot.operation, 0.5,
        )  # fmt: skip
        return making.value(making.spot(slot.place, slot.schema, slot.required, _medium(slot.where)))

    def _parameter_spot(self, making: Making, parameter: Parameter) -> Spot:
        required = parameter.required or parameter.where == "path"
        place = f"{parameter.where}.{parameter.name}"
        medium = Medium.JSON if parameter.media else _medium(parameter.where)
        return making.spot(place, parameter.schema, required, medium, parameter.examples)

    def _body(self, making: Making, body: Body | None, unmet: list[str]) -> Json | Missing:
        if body is None:
            return NO_BODY
        spot = making.spot("body", body.schema, body.required, body_medium(body.media), body.examples)
        value = self._valid(making, spot, unmet)
        return NO_BODY if value is NOTHING else value

    def _valid(self, making: Making, spot: Spot, unmet: list[str]) -> Json | Absent:
        """Parts that are valid may not be valid together (`if`, `not`, `oneOf` that overlap): then drawn again.

        What still is not valid is kept, and said to be unmet: a service may be less strict than its contract.
        """
        value: Json | Absent = NOTHING
        for _ in range(_TRIES):
            value = making.value(spot)
            if value is not NOTHING and self._spots.valid(
                spot.slot, _as_text(value) if spot.medium is Medium.FORM else value
            ):
                return value
            making.forget(spot.slot.place)
        unmet.append(spot.slot.place)
        return value


def _is_ignored(parameter: Parameter) -> bool:
    return parameter.where == "header" and not parameter.required and parameter.name.lower() in _IGNORED_HEADERS


def _nearest(source: Source, possible: Any) -> Source:
    return source if source in possible else possible[0]


def _medium(where: str) -> Medium:
    return {"path": Medium.SEGMENT, "body": Medium.JSON}.get(where, Medium.TEXT)


def body_medium(media: str) -> Medium:
    essence = media.partition(";")[0].strip().lower()
    if essence == "application/json" or essence.endswith("+json") or essence in ("*/*", "application/*"):
        return Medium.JSON
    return Medium.FORM


def _as_text(value: Json) -> Json:
    """Files are strings to a schema."""
    if isinstance(value, bytes):
        return ""
    if isinstance(value, Mapping):
        return {name: _as_text(one) for name, one in value.items()}
    return [_as_text(one) for one in value] if isinstance(value, list) else value
