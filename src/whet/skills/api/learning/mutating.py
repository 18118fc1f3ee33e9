"""Mutated requests: one thing changed in a request that works, at the place where that kind paid before.

What changes one value is a kind of its own for each part of a request ("nul-character@body"): a service answers the
same text in the path, in a header and in the body with different statuses.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Draft
from whet.skills.api.learning.beliefs import Beliefs
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.paths import collection_of, prefixes
from whet.skills.api.mutations.bank import Bank, Mutation
from whet.skills.api.mutations.places import REQUEST, Place

REPLAYED = "replayed"  # the very request that worked, once more: what is unique must be refused
GONE = "gone-id"  # the path of something that was deleted
_PARTS = ("path", "query", "header", "body")
_PARAMETERS = ("@query", "@header")
_OPTIONAL = (*_PARAMETERS, "@body")  # parts that may hold more than a request that worked has
_PLACE_PRIOR = (1.0, 2.0)
_MOST_REMEMBERED = 20_000
_TRIES = 3  # to find a place: a schema with alternatives has another shape each time
_COMPARED = 12
_FULLER = 0.15  # of mutations start from a request with every optional value, which may not work by itself


class Mutating:
    """`learn=False` takes places at random."""

    def __init__(
        self, rng: random.Random, bank: Bank, drafting: Drafting, entities: Entities, learn: bool = True
    ) -> None:
        self._rng, self._bank, self._drafting, self._entities = rng, bank, drafting, entities
        self._learn = learn
        self._tried: Counter[tuple[str, str, str]] = Counter()  # by operation, kind and place: in this run
        self.places: Beliefs[tuple[str, str]] = Beliefs(rng, _PLACE_PRIOR)

    @property
    def kinds(self) -> dict[str, str]:
        """Every kind with its family: kinds of one family mostly pay or fail together."""
        parts = {
            f"{one.name}@{part}": f"{one.family}@{part}"
            for one in self._bank.mutations
            if one.rule.sited
            for part in _PARTS
        }
        whole = {one.name: one.family for one in self._bank.mutations if not one.rule.sited}
        return parts | whole | {REPLAYED: "sequence", GONE: "sequence"}

    def possible(self, draft: Draft) -> list[str]:
        """The kinds that have a place in such a request."""
        found = {_kind(mutation, place): None for mutation, places in self._bank.possible(draft) for place in places}
        return [*found, REPLAYED, GONE]

    def make(self, operation: Operation, kind: str) -> tuple[Made, Place] | None:
        """The request and the place that was changed; None when this kind has no place in the operation."""
        if kind == REPLAYED:
            return self._replayed(operation)
        base = self._drafting.like_one_that_worked(operation) or self._drafting.new(operation)
        if kind == GONE:
            return self._gone(base)
        if self._rng.random() < _FULLER:
            return self._mutated(kind, self._drafting.full(operation))
        if not self._is_worn(kind, base.draft):
            return self._mutated(kind, base)
        fuller = (self._mutated(kind, self._fuller(kind, base)) for _ in range(_TRIES))
        return next(filter(None, fuller), None) or self._mutated(kind, base)

    def _fuller(self, kind: str, base: Made) -> Made:
        """With every optional value of the part that is to be changed: a body is dear to make."""
        if kind.endswith(_PARAMETERS):
            return self._drafting.with_parameters(base)
        return self._drafting.full(base.draft.operation)

    def _mutated(self, kind: str, base: Made) -> tuple[Made, Place] | None:
        mutation = self._bank.named(kind.partition("@")[0])
        places = self._places_of(kind, base.draft)
        if mutation is None or not places:
            return None
        place = self._place(base.draft.operation, kind, places)
        self._remember(base.draft.operation, kind, place)
        return replace(base, draft=replace(mutation.apply(base.draft, place, self._rng), mutation=kind)), place

    def tell(self, kind: str, place: Place, worth: float) -> None:
        self.places.tell((kind, place.name or place.where), worth)

    def _remember(self, operation: Operation, kind: str, place: Place) -> None:
        if len(self._tried) >= _MOST_REMEMBERED:  # names in maps are made up, so there is no end of places
            self._tried.clear()
        self._tried[operation.id, kind, str(place)] += 1

    def _places_of(self, kind: str, draft: Draft) -> list[Place]:
        mutation = self._bank.named(kind.partition("@")[0])
        return [one for one in mutation.applies(draft) if _kind(mutation, one) == kind] if mutation else []

    def _is_worn(self, kind: str, draft: Draft) -> bool:
        """Every value was changed so before, and there may be others."""
        places = self._places_of(kind, draft)
        if not places or not self._learn or not kind.endswith(_OPTIONAL):
            return not places
        return all(self._tried[draft.operation.id, kind, str(place)] for place in places)

    def _place(self, operation: Operation, kind: str, places: Sequence[Place]) -> Place:
        """Every value has its turn before one has its second; of these, where it paid elsewhere."""
        if not self._learn or len(places) == 1:
            return self._rng.choice(places)
        tried = [self._tried[operation.id, kind, str(place)] for place in places]
        least = [place for place, times in zip(places, tried, strict=True) if times == min(tried)]
        some = least if len(least) <= _COMPARED else self._rng.sample(least, _COMPARED)
        return max(some, key=lambda place: self.places.draw((kind, place.name or place.where)))

    def _replayed(self, operation: Operation) -> tuple[Made, Place] | None:
        known = self._drafting.worked.get(operation.id)
        if not known or operation.method == "GET":
            return None
        made = self._rng.choice(known)
        return replace(made, draft=replace(made.draft, mutation=REPLAYED)), REQUEST

    def _gone(self, base: Made) -> tuple[Made, Place] | None:
        gone = self._gone_path(base.draft)
        if gone is None:
            return None
        deepest = prefixes(base.draft.operation.path)[-1][1]
        return replace(base, draft=replace(base.draft, path=gone, mutation=GONE)), Place("path", (deepest,))

    def _gone_path(self, draft: Draft) -> dict[str, object] | None:
        named = prefixes(draft.operation.path)
        for entity in reversed(self._entities.deleted):
            found = {name: entity.place[prefix] for prefix, name in named if prefix in entity.place}
            if named and named[-1][1] in found and entity.kind == collection_of(named[-1][0]):
                return {**draft.path, **found}
        return None


def _kind(mutation: Mutation, place: Place) -> str:
    part = "header" if place.where == "cookie" else place.where
    return f"{mutation.name}@{part}" if mutation.rule.sited else mutation.name
