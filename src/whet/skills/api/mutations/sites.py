"""Every place of a draft that holds a value, with the schema that holds there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whet.skills.api.contract.model import Json, Operation, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.mutations.places import BODY, Place
from whet.skills.api.values.offers import Medium, kinds_of
from whet.skills.api.values.shapes import ANYTHING, Flat, Shapes

_MOST = 150  # a body with more places is mutated in these
_DEEPEST = 8
_ITEMS = 2  # of an array: the others are like them


@dataclass(frozen=True, slots=True)
class Site:
    place: Place
    value: Json
    schema: Flat  # of the alternative that the value is of
    kinds: frozenset[str]  # the types that any alternative allows
    required: bool
    kind: str  # of the value

    def allows(self, *kinds: str) -> bool:
        return not self.kinds.isdisjoint(kinds)


@dataclass(frozen=True, slots=True)
class Sites:
    """What mutations look at."""

    draft: Draft
    every: tuple[Site, ...]
    by_place: Mapping[Place, Site] = field(repr=False)

    @property
    def operation(self) -> Operation:
        return self.draft.operation

    @property
    def has_body(self) -> bool:
        return self.draft.raw is None and self.draft.body is not NO_BODY

    @property
    def speaks_json(self) -> bool:
        return self.has_body and (self.draft.media is None or "json" in self.draft.media or "*" in self.draft.media)


def may_be_null(site: Site) -> bool:
    """The contract has it so; whether the tables behind it do is another question."""
    return site.place.where == "body" and "null" in site.kinds and site.value is not None


def kind_of(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array"), (Mapping, "object")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "binary"


class Survey:
    """Finds a draft's sites. The last draft's are remembered, as a whole bank of mutations asks about the same."""

    def __init__(self, schemas: Schemas) -> None:
        self._shapes = Shapes(schemas)
        self._last: Sites | None = None

    def of(self, draft: Draft) -> Sites:
        if self._last is None or self._last.draft is not draft:
            found = []
            for site in self._found(draft):
                found.append(site)
                if len(found) == _MOST:
                    break
            self._last = Sites(draft, tuple(found), {site.place: site for site in found})
        return self._last

    def _found(self, draft: Draft) -> Iterator[Site]:
        for parameter in draft.operation.parameters:
            values = draft.values(parameter.where)
            if parameter.name in values:
                place = Place(parameter.where, (parameter.name,))
                yield self._site(place, values[parameter.name], parameter.schema, parameter.required)
        if draft.raw is None and draft.body is not NO_BODY:
            declared = next((body for body in draft.operation.bodies if body.media == draft.media), None)
            yield from self._below(BODY, draft.body, declared.schema if declared else ANYTHING, True, 0)

    def _below(self, place: Place, value: Json, schema: Schema, required: bool, depth: int) -> Iterator[Site]:
        site = self._site(place, value, schema, required)
        yield site
        if depth >= _DEEPEST:
            return
        if isinstance(value, Mapping):
            for key, one in value.items():
                needed = key in (site.schema.get("required") or ())
                yield from self._below(_under(place, key), one, _property(site.schema, key), needed, depth + 1)
        elif isinstance(value, list):
            items = site.schema.get("items")
            for index, one in enumerate(value[:_ITEMS]):
                schema = items if isinstance(items, Mapping) else ANYTHING
                yield from self._below(_under(place, index), one, schema, True, depth + 1)

    def _site(self, place: Place, value: Json, schema: Schema, required: bool) -> Site:
        branches = self._shapes.branches(schema)
        kinds = frozenset(kind for branch in branches for kind in kinds_of(branch, Medium.JSON))
        kind = kind_of(value)
        return Site(place, value, self._alternative(branches, value, kind), kinds, required, kind)

    def _alternative(self, branches: tuple[Flat, ...], value: Json, kind: str) -> Flat:
        if len(branches) == 1:
            return branches[0]
        fitting = [one for one in branches if kind in kinds_of(one, Medium.JSON)] or [*branches]
        if isinstance(value, Mapping):
            fitting.sort(key=lambda one: -len(value.keys() & (one.get("properties") or {}).keys()))
        return fitting[0]


def _under(place: Place, key: str | int) -> Place:
    return Place(place.where, (*place.keys, key))


def _property(flat: Flat, key: str) -> Schema:
    schema = (flat.get("properties") or {}).get(key, flat.get("additionalProperties"))
    return schema if isinstance(schema, Mapping) else ANYTHING
