"""Requests made from what is known: new ones, and ones like a request that worked."""

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.skills.api.contract.model import Body, Json, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.learning.beliefs import Beliefs
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.hints import Hints
from whet.skills.api.learning.recall import Recall, Taken
from whet.skills.api.learning.sources import Sources
from whet.skills.api.mutations.places import Place
from whet.skills.api.values.drafts import Values
from whet.skills.api.values.slots import NOTHING, Absent, Slot, Source

_KEPT = 0.5  # how often a request that worked is sent as it was, apart from ids that have to be alive
_PATIENCE = 4  # refusals after which what worked before is no longer trusted
_ALIVE = 0.7  # how often a thing that is there takes the place of one that was written down
_UNFILTERED = 0.3  # of the requests to a list that has worked: there may be more in it by now
_PLAIN = 0.5  # of the requests to what has not worked yet: nothing but what is required
MOST_PER_OPERATION = 4


@dataclass(frozen=True, slots=True)
class Made:
    """A draft and how it came about, so that its outcome can be credited and its way repeated."""

    draft: Draft
    sources: Mapping[str, Source] = field(default_factory=dict)
    taken: Mapping[str, Taken] = field(default_factory=dict)
    changed: Place | None = None  # where a mutation put another value


class Drafting:
    def __init__(
        self, schemas: Schemas, rng: random.Random, entities: Entities, dependencies: Dependencies, sources: Sources
    ) -> None:
        self._rng, self._entities, self._dependencies, self._sources = rng, entities, dependencies, sources
        self._schemas = schemas
        self.hints = Hints(rng)
        self._values = Values(schemas, rng, self._choose, self._observed)
        self._bodies: Beliefs[tuple[str, str]] = Beliefs(rng)
        self._recall: Recall | None = None
        self._recipe: Mapping[str, Source] | None = None
        self._refused: dict[str, int] = {}
        self._in_a_row: dict[str, int] = {}
        self._slots: dict[tuple[str, str], Slot] = {}
        self.worked: dict[str, deque[Made]] = {}
        self.known: dict[str, list[Made]] = {}  # what worked in earlier runs

    def new(self, operation: Operation) -> Made:
        """A valid request, every value from the source that looks best for its slot."""
        reached = operation.id in self.worked
        if not reached and operation.id in self.known and self._refused.get(operation.id, 0) < _PATIENCE:
            return self._as_before(operation)
        return self._made(operation, self._body(operation, reached), None, reached)

    def full(self, operation: Operation) -> Made:
        """With every optional value: where a mutation may find its place."""
        return self._made(operation, self._likeliest_body(operation), None, reached=True, everything=True)

    def with_parameters(self, base: Made) -> Made:
        """The same request, with every optional parameter."""
        more = self._made(base.draft.operation, None, None, reached=True, everything=True).draft
        own = base.draft
        query, headers, cookies = (
            {**more.values(where), **own.values(where)} for where in ("query", "header", "cookie")
        )  # fmt: skip
        return replace(base, draft=replace(own, query=query, headers=headers, cookies=cookies))

    def recipes(self) -> dict[str, list[Made]]:
        """Requests that worked, in this run or in earlier ones."""
        return {**self.known, **{operation: list(made) for operation, made in self.worked.items()}}

    def _as_before(self, operation: Operation) -> Made:
        """What worked in an earlier run: values from the same sources, now and then the very same ones."""
        old = self._rng.choice(self.known[operation.id])
        body = next((one for one in operation.bodies if one.media == old.draft.media), None)
        made = self._made(operation, body, old.sources, reached=True)
        if self._rng.random() < _KEPT and not any(place.startswith("body") for place in made.taken):
            return replace(made, draft=replace(made.draft, body=old.draft.body, query=old.draft.query))
        return made

    def like_one_that_worked(self, operation: Operation) -> Made | None:
        """The same values where they still hold, or new ones from the same sources."""
        known = self.worked.get(operation.id)
        if not known:
            return None
        old = self._rng.choice(known)
        if self._rng.random() < _KEPT or operation.method in {"GET", "DELETE", "HEAD"}:
            return self._refreshed(old) or self._anew(old)
        return self._anew(old)

    def _anew(self, old: Made) -> Made:
        operation = old.draft.operation
        body = next((one for one in operation.bodies if one.media == old.draft.media), None)
        return self._made(operation, body, old.sources, reached=True)

    def remember(self, made: Made, ok: bool) -> None:
        operation = made.draft.operation
        if made.draft.media:
            self._bodies.tell((operation.id, made.draft.media), float(ok))
        if ok:
            self.worked.setdefault(operation.id, deque(maxlen=MOST_PER_OPERATION)).append(made)
            self._in_a_row[operation.id] = 0
        else:
            self._refused[operation.id] = self._refused.get(operation.id, 0) + 1
            self._in_a_row[operation.id] = self._in_a_row.get(operation.id, 0) + 1
            self._doubt(operation.id)

    def _doubt(self, operation: str) -> None:
        """What worked once and does not any more names what is gone, or may be done once: the oldest is let go."""
        known = self.worked.get(operation)
        if known and self._in_a_row[operation] >= _PATIENCE:
            known.popleft()

    def _made(
        self,
        operation: Operation,
        body: Body | None,
        recipe: Mapping[str, Source] | None,
        reached: bool,
        everything: bool = False,
    ) -> Made:
        self._recall, self._recipe = Recall(operation, self._dependencies), recipe
        self._sources.begin(reached)
        refusals = self._refused.get(operation.id, 0)
        shows_all = operation.method == "GET" and not refusals  # a filter may hide what others need
        bare = not any(one.required for one in operation.parameters) and body is None
        again = reached and operation.method == "GET" and self._rng.random() < _UNFILTERED
        plain = again or (not reached and (shows_all or (not bare and self._rng.random() < _PLAIN)))

        def include(slot: Slot) -> bool:
            if recipe is not None:
                return slot.place in recipe
            if everything or self.hints.wants(slot):
                return True
            return not plain and self._sources.include(slot, reached, refusals, bare)

        draft, sources = self._values.draft_for(operation, body, include, full=everything)
        draft = self._with_the_living(draft, body, sources)
        draft = self._heeded(draft, body, self._recall)
        taken = {place: one for place, one in self._recall.taken.items() if sources.get(place) is Source.OBSERVED}
        return Made(draft, sources, taken)

    def _with_the_living(self, draft: Draft, body: Body | None, sources: dict[str, Source]) -> Draft:
        """An example names what was there when it was written; mostly, what is there now does better."""
        if body is None or sources.get("body") is not Source.EXAMPLE or not isinstance(draft.body, dict):
            return draft
        properties = self._schemas.merged(body.schema).get("properties") or {}
        named = {name: Slot(draft.operation.id, f"body.{name}", properties.get(name, {}), True) for name in draft.body}
        refer = {
            name: slot for name, slot in named.items() if self._sources.refers(slot) and self._rng.random() < _ALIVE
        }
        seen = {name: value for name, slot in refer.items() if (value := self._observed(slot)) is not NOTHING}
        sources |= {f"body.{name}": Source.OBSERVED for name in seen}
        return replace(draft, body={**draft.body, **seen})

    def _heeded(self, draft: Draft, body: Body | None, recall: Recall) -> Draft:
        """With what refusals asked for, as far as the contract allows it."""
        fuller = self.hints.heeded(draft, recall.observed)
        if body is None or fuller is draft:
            return fuller
        return fuller if self._schemas.is_valid(body.schema, fuller.body, direction="request") else draft

    def _refreshed(self, old: Made) -> Made | None:
        """What its path took from a thing that is gone is taken anew; None where more did, or nothing is there."""
        dead = [place for place, one in old.taken.items() if self._entities.is_lost(one.entity, one.field)]
        if not dead:
            return old
        if not all(place.startswith("path.") for place in dead):
            return None
        recall = Recall(old.draft.operation, self._dependencies)
        path, taken = dict(old.draft.path), dict(old.taken)
        for parameter in old.draft.operation.parameters:
            place = f"path.{parameter.name}"
            if parameter.where == "path" and place in old.taken:
                value = recall.observed(Slot(old.draft.operation.id, place, parameter.schema, True))
                if value is NOTHING:
                    return None
                path[parameter.name], taken[place] = value, recall.taken[place]
        return Made(replace(old.draft, path=path), old.sources, taken)

    def _body(self, operation: Operation, reached: bool) -> Body | None:
        """One of the ways to write the body, by what was accepted; an optional one is left out now and then."""
        if not any(body.required for body in operation.bodies) and self._rng.random() < (0.3 if reached else 0.15):
            return None
        return self._likeliest_body(operation)

    def _likeliest_body(self, operation: Operation) -> Body | None:
        if not operation.bodies:
            return None
        return max(operation.bodies, key=lambda body: self._bodies.draw((operation.id, body.media), _body_prior(body)))

    def _choose(self, slot: Slot, possible: Sequence[Source]) -> Source:
        recipe = self._recipe.get(slot.place) if self._recipe else None
        literal = recipe is not Source.OBSERVED and Source.OBSERVED in possible and self._sources.refers(slot)
        if recipe is not None and recipe in possible and not (literal and self._rng.random() < _ALIVE):
            return self._sources.again(slot, possible, recipe)
        return self._sources.choose(slot, possible)

    def slot(self, operation: Operation, place: str) -> Slot | None:
        """A slot of this operation that was filled before."""
        return self._slots.get((operation.id, place))

    def _observed(self, slot: Slot) -> Json | Absent:
        self._slots[slot.operation, slot.place] = slot
        return NOTHING if self._recall is None else self._recall.observed(slot)


def _body_prior(body: Body) -> tuple[float, float]:
    return (3.0, 1.0) if "json" in body.media else (1.0, 1.0)
