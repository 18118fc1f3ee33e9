"""Mutated requests: one thing changed in a request that works, at any place that has such a thing.

What changes one value is a kind of its own for each part of a request ("nul-character@body"): a service answers the
same text in the path, in a header and in the body with different statuses.
"""

import random
from dataclasses import replace

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Draft
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.paths import collection_of, prefixes
from whet.skills.api.mutations.bank import Bank, Mutation
from whet.skills.api.mutations.places import Place

REPLAYED = "replayed"  # the very request that worked, once more: what is unique must be refused
GONE = "gone-id"  # the path of something that was deleted
_PARTS = ("path", "query", "header", "body")
_PARAMETERS = ("@query", "@header")
_TRIES = 3  # to find a place: a schema with alternatives has another shape each time
_FULLER = 0.15  # of mutations start from a request with every optional value, which may not work by itself


class Mutating:
    def __init__(self, rng: random.Random, bank: Bank, drafting: Drafting, entities: Entities) -> None:
        self._rng, self._bank, self._drafting, self._entities = rng, bank, drafting, entities

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

    def places(self, draft: Draft) -> tuple[Place, ...]:
        return self._bank.places(draft)

    def make(self, operation: Operation, kind: str) -> Made | None:
        """None when this kind has no place in the operation."""
        if kind == REPLAYED:
            return self._replayed(operation)
        base = self._drafting.like_one_that_worked(operation) or self._drafting.new(operation)
        if kind == GONE:
            return self._gone(base)
        if self._rng.random() < _FULLER:
            return self._mutated(kind, self._drafting.full(operation))
        if self._places_of(kind, base.draft):
            return self._mutated(kind, base)
        fuller = (self._mutated(kind, self._fuller(kind, base)) for _ in range(_TRIES))
        return next(filter(None, fuller), None) or self._mutated(kind, base)

    def _fuller(self, kind: str, base: Made) -> Made:
        """With every optional value of the part that is to be changed: a body is dear to make."""
        if kind.endswith(_PARAMETERS):
            return self._drafting.with_parameters(base)
        return self._drafting.full(base.draft.operation)

    def _mutated(self, kind: str, base: Made) -> Made | None:
        mutation = self._bank.named(kind.partition("@")[0])
        places = self._places_of(kind, base.draft)
        if mutation is None or not places:
            return None
        place = self._rng.choice(places)
        draft = mutation.apply(base.draft, place, self._rng)
        return replace(base, draft=replace(draft, mutation=kind), changed=place if mutation.rule.sited else None)

    def _places_of(self, kind: str, draft: Draft) -> list[Place]:
        mutation = self._bank.named(kind.partition("@")[0])
        return [one for one in mutation.applies(draft) if _kind(mutation, one) == kind] if mutation else []

    def _replayed(self, operation: Operation) -> Made | None:
        known = self._drafting.worked.get(operation.id)
        if not known or operation.method == "GET":
            return None
        made = self._rng.choice(known)
        return replace(made, draft=replace(made.draft, mutation=REPLAYED))

    def _gone(self, base: Made) -> Made | None:
        gone = self._gone_path(base.draft)
        if gone is None:
            return None
        return replace(base, draft=replace(base.draft, path=gone, mutation=GONE))

    def _gone_path(self, draft: Draft) -> dict[str, object] | None:
        named = prefixes(draft.operation.path)
        for entity in reversed(self._entities.deleted):
            found = {name: entity.place[prefix] for prefix, name in named if prefix in entity.place}
            if named and named[-1][1] in found and entity.kind == collection_of(named[-1][0]):
                return {**draft.path, **found}
        return None


def _kind(mutation: Mutation, place: Place) -> str:
    return f"{mutation.name}@{part_of(place)}" if mutation.rule.sited else mutation.name


def part_of(place: Place) -> str:
    return "header" if place.where == "cookie" else place.where
