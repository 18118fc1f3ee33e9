"""One draft in the making: every slot is given a value by the source that was chosen for it."""

import random
from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.values.constrained import scalar
from whet.skills.api.values.containers import array_size, extra_names, is_new
from whet.skills.api.values.files import file_content, is_file
from whet.skills.api.values.offers import CONTAINERS, Medium
from whet.skills.api.values.realistic import realistic
from whet.skills.api.values.shapes import ANYTHING, Flat
from whet.skills.api.values.slots import NOTHING, Absent, Choose, Include, Observed, Source
from whet.skills.api.values.spots import Spot, Spots

_DEEP = 4  # from here on only what is required is made
_PLENTY = 300  # and from this many values on: arrays in arrays multiply
_MOST = 20_000  # and here a draft is given up: a request of so many values tells nothing that a smaller one does not
_DEEPEST = 12  # a schema that requires itself is given up here
_TRIES = 6


class Making:
    def __init__(
        self,
        spots: Spots,
        rng: random.Random,
        choose: Choose,
        observed: Observed | None,
        operation: str,
        include: Include,
        full: bool = False,
    ) -> None:
        """`full`: with something in every place, where null or nothing would do."""
        self._spots, self._rng = spots, rng
        self._choose, self._observed = choose, observed
        self._operation, self._include, self._full = operation, include, full
        self.sources: dict[str, Source] = {}
        self._made = 0

    def wants(self, spot: Spot) -> bool:
        if spot.slot.required:
            return True
        return self._rng.random() < self._include if isinstance(self._include, float) else self._include(spot.slot)

    def spot(self, place: str, schema: Schema, required: bool, medium: Medium, told: tuple[Json, ...] = ()) -> Spot:
        return self._spots.spot(self._operation, place, schema, required, medium, told)

    def value(self, spot: Spot, depth: int = 0) -> Json | Absent:
        """NOTHING when the schema cannot be met, or not in a finite value."""
        self._made += 1
        if self._made > _MOST:
            return NOTHING
        seen = self._seen(spot)
        source = self._source(spot, seen)
        made = seen if source is Source.OBSERVED else self._by(source, spot, depth)
        if (made is NOTHING or (self._full and _is_hollow(made))) and source is not Source.CONSTRAINED:
            source = Source.CONSTRAINED
            made = self._by(source, spot, depth)
        if made is NOTHING and spot.examples:
            source, made = Source.EXAMPLE, self._rng.choice(spot.examples)
        self.sources[spot.slot.place] = source
        return made

    def forget(self, place: str) -> None:
        """Choose anew at this place and below."""
        for known in [one for one in self.sources if one.startswith(place)]:
            del self.sources[known]

    def _seen(self, spot: Spot) -> Json | Absent:
        if self._observed is None:
            return NOTHING
        seen = self._observed(spot.slot)
        return NOTHING if seen is NOTHING else self._spots.fitting(spot, seen)

    def _source(self, spot: Spot, seen: Json | Absent) -> Source:
        """Chosen once per place and draft: all elements of an array take theirs from the same source."""
        possible = spot.sources if seen is NOTHING else (*spot.sources, Source.OBSERVED)
        if self.sources.get(spot.slot.place) in possible:
            return self.sources[spot.slot.place]
        return possible[0] if len(possible) == 1 else self._choose(spot.slot, possible)

    def _ends(self, depth: int) -> bool:
        """From here on nothing is made that can be left out."""
        return depth >= _DEEP or self._made > _PLENTY

    def _by(self, source: Source, spot: Spot, depth: int) -> Json | Absent:
        if source is Source.EXAMPLE:
            return self._rng.choice(spot.examples)
        if source is Source.BOUNDARY and spot.offer.extremes:
            return self._rng.choice(spot.offer.extremes)
        for _ in range(_TRIES):
            made = self._drawn(source, spot, depth)
            if made is NOTHING or isinstance(made, bytes | dict | list) or self._fits(spot, made, source):
                return made  # containers are checked as a whole, when the draft is made
        return NOTHING

    def _fits(self, spot: Spot, value: Json, source: Source) -> bool:
        sure = spot.offer.sure and source is Source.CONSTRAINED
        return spot.medium.takes(value) and (sure or self._spots.valid(spot.slot, value))

    def _drawn(self, source: Source, spot: Spot, depth: int) -> Json | Absent:
        branch, kind = self._branch(spot, depth)
        if kind == "object":
            return self._object(spot, branch, depth)
        if kind == "array":
            return self._array(spot, branch, depth, source is Source.BOUNDARY)
        if spot.medium is Medium.FORM and is_file(branch):
            return file_content(branch, self._rng)
        if "const" in branch or "enum" in branch:
            return branch["const"] if "const" in branch else self._rng.choice(branch["enum"] or [NOTHING])
        if source is Source.REALISTIC:
            return realistic(spot.slot.name, kind, branch, self._rng)
        return scalar(kind, branch, self._rng, spot.medium in (Medium.TEXT, Medium.SEGMENT))

    def _branch(self, spot: Spot, depth: int) -> tuple[Flat, str]:
        """What ends, where a value would go on without end."""
        if len(spot.offer.options) == 1:
            return spot.offer.options[0]
        scalars = [one for one in spot.offer.options if one[1] not in CONTAINERS] if self._ends(depth) else []
        some = scalars or ([one for one in spot.offer.options if one[1] != "null"] if self._full else [])
        return self._rng.choice(some) if some else self._rng.choices(spot.offer.options, spot.offer.weights)[0]

    def _object(self, spot: Spot, flat: Flat, depth: int) -> Json | Absent:
        if depth >= _DEEPEST or self._made + len(flat.get("required") or ()) > _MOST:
            return NOTHING
        made: dict[str, Any] = {}
        for name, schema, needed in self._spots.fields(flat):
            if not needed and self._ends(depth):
                continue
            inner = self.spot(f"{spot.slot.place}.{name}", schema, needed, spot.medium)
            value = self.value(inner, depth + 1) if self.wants(inner) else NOTHING
            if value is not NOTHING:
                made[name] = value
            elif needed:
                return NOTHING
        return self._filled(spot, flat, made, depth)

    def _filled(self, spot: Spot, flat: Flat, made: dict[str, Any], depth: int) -> dict[str, Any]:
        """With names of our own where the schema is a map, or wants more properties than it names."""
        more = flat.get("additionalProperties", True)
        if more is False:
            return made
        inner = self.spot(f"{spot.slot.place}.*", more if isinstance(more, Mapping) else ANYTHING, False, spot.medium)
        for name in extra_names(flat, made, self._rng, lambda: not self._ends(depth) and self.wants(inner)):
            value = self.value(inner, depth + 1)
            if value is not NOTHING:
                made[name] = value
        return made

    def _array(self, spot: Spot, flat: Flat, depth: int, extreme: bool) -> Json | Absent:
        if depth >= _DEEPEST:
            return NOTHING
        size = array_size(flat, self._rng, extreme, self._ends(depth), filled=spot.medium is not Medium.JSON)
        if self._made + size > _MOST:
            return NOTHING
        first = flat.get("prefixItems") or []
        items = flat.get("items", ANYTHING)
        made: list[Any] = []
        known: set[str] | None = set() if flat.get("uniqueItems") else None
        for index in range(size if known is None else size * 3):
            if len(made) == size or self._made > _MOST:
                break
            schema = first[index] if index < len(first) else items
            place = f"{spot.slot.place}[]" if index >= len(first) else f"{spot.slot.place}[{index}]"
            inner = self.spot(place, schema if isinstance(schema, Mapping) else ANYTHING, True, spot.medium)
            value = self.value(inner, depth + 1)
            if value is not NOTHING and (known is None or is_new(value, known)):
                made.append(value)
        return made if len(made) >= flat.get("minItems", 0) else NOTHING


def _is_hollow(made: Json | Absent) -> bool:
    """Nothing in it that could be changed."""
    return made is None or made in ([], {})
