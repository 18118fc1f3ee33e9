"""Doing again what worked in earlier runs, and what failed: one request each, where what it needs is there already.

First it is tried with whatever requests of the same operations made in this run; where that does not do, what it rests
on is made again, and at last the request is made anew from what is believed.
"""

from collections.abc import Callable, Generator, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Suspicion
from whet.skills.api.learning.drafting import Made
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.novelty import News
from whet.skills.api.learning.paths import collection_of, prefixes
from whet.skills.api.learning.recall import Taken
from whet.skills.api.learning.shown import placed as placed_at
from whet.skills.api.learning.trail import WORKS, Trail, TrailStep, Way
from whet.skills.api.oracles.causes import without_way
from whet.skills.api.oracles.flows import Leaf, at
from whet.skills.api.oracles.replaying import may_be_taken, renamed
from whet.skills.api.oracles.slots import Place, placed

_MOST_PER_WAY = 10


@dataclass(frozen=True, slots=True)
class Seen:
    """One turn, for whoever listens."""

    exchange: Exchange
    news: News
    suspicions: tuple[Suspicion, ...]
    story: tuple[Exchange, ...] = ()  # what led to the request


Walk = Generator[Seen, None, Seen | None]  # every request sent, and in the end that of the step, None where it failed


class Retracing:
    """`walk` sends a request and learns from it, `by_belief` tries an operation with what is known of values and
    dependencies; `scope` are the operations that may be sent at all, and `spared` those that must wait."""

    def __init__(
        self,
        trail: Trail,
        schemas: Schemas,
        entities: Entities,
        scope: Set[str],
        walk: Callable[[Made, list[Entity]], Seen],
        by_belief: Callable[[Operation], Iterator[Seen]],
        spared: Callable[[Operation], bool],
    ) -> None:
        self._trail, self._schemas, self._entities, self._scope = trail, schemas, entities, scope
        self._walk, self._by_belief, self._spared = walk, by_belief, spared
        self._fresh: dict[str, Exchange] = {}  # by step: what worked in this run
        self._first: dict[str, Exchange] = {}  # by operation: the first that worked, and is still there
        self._worked: set[str] = set()
        self._underway: set[str] = set()  # steps that are being supplied: a thing may have been made of one like it
        self._deleted = False  # something, since all that is known was there
        self._left = 0

    def turns(self) -> Iterator[Seen]:
        for way in self._trail.order():
            if self._may_go(way):
                self._left = _MOST_PER_WAY
                yield from self._works(way) if way.sign == WORKS else self._fails(way)

    def _may_go(self, way: Way) -> bool:
        step = self._trail.steps.get(way.step)
        return step is not None and way.operation in self._scope and not self._spared(step.draft.operation)

    def _works(self, way: Way) -> Iterator[Seen]:
        if way.operation in self._worked:  # somebody needed it before
            return
        yield from self._reached(way.step)
        for deep in (False, True):
            if way.operation not in self._worked and self._forgot_needs(way.step, deep):
                yield from self._reached(way.step)
        if way.operation not in self._worked:
            yield from self._believed(self._trail.steps[way.step].draft.operation)
        self._settle(way, way.operation in self._worked)

    def _fails(self, way: Way) -> Iterator[Seen]:
        if self._deleted:  # which may have taken more along than it says
            self._fresh, self._first, self._deleted = {}, {}, False
        seen = yield from self._reached(way.step, exactly=True)
        if not _shows(way, seen) and self._forgot_needs(way.step, deep=False):  # others have used the same things
            seen = yield from self._reached(way.step, exactly=True)
        self._settle(way, _shows(way, seen))

    def _settle(self, way: Way, as_before: bool) -> None:
        (self._trail.held if as_before else self._trail.miss)(way)

    def _reached(self, key: str, exactly: bool = False) -> Walk:
        """With what any request of the same operations made; what is not there yet is made first.

        Unless it is `exactly` this request that is wanted, one of its operation that was made on the way will do.
        """
        step = self._trail.steps[key]
        for source in _needs(step):
            if (source not in self._fresh) if source in step.after else (self._there(source) is None):
                yield from self._supplied(source, exactly=source in step.after)
        if not exactly and step.draft.operation.id in self._first:
            return None
        found = {one.source: self._there(one.source) for one in step.given}
        return (yield from self._sent(key, step, {name: one for name, one in found.items() if one is not None}))

    def _supplied(self, source: str, exactly: bool) -> Iterator[Seen]:
        """By the surest way to its operation, else by the very step, else by a new request: names may be taken."""
        for key in dict.fromkeys((source,) if exactly else (self._surest(source), source)):
            if key in self._trail.steps and key not in self._underway:
                self._underway.add(key)
                yield from self._reached(key, exactly)
                self._underway.discard(key)
            if source in self._fresh or (not exactly and self._there(source) is not None):
                return
        if not exactly and source in self._trail.steps:
            yield from self._believed(self._trail.steps[source].draft.operation)

    def _surest(self, key: str) -> str:
        step = self._trail.steps.get(key)
        way = self._trail.ways.get((step.draft.operation.id, WORKS)) if step is not None else None
        return way.step if way is not None else key

    def _forgot_needs(self, key: str, deep: bool) -> bool:
        """What it rests on may be gone, or used up: it is made anew, first from what is there, then from the ground.
        False where there is nothing to make anew."""
        forgotten: set[str] = set()
        waiting = list(_needs(self._trail.steps[key]))
        while waiting:
            source = waiting.pop()
            step = self._trail.steps.get(source)
            if step is not None and source not in forgotten:
                forgotten.add(source)
                self._first.pop(step.draft.operation.id, None)
                self._fresh.pop(source, None)
                waiting += [self._surest(source), *(_needs(step) if deep else ())]
        return bool(forgotten)

    def _sent(self, key: str, step: TrailStep, sources: dict[str, Exchange]) -> Walk:
        draft, taken = self._bound(step, sources)
        made = Made(draft, step.sources, taken)
        more = self._made_by(step.after)
        seen = yield from self._turn(made, more)
        if seen is not None and draft.mutation is None and may_be_taken(seen.exchange):
            fixed = [one.place for one in step.given]
            fresh = renamed(self._schemas, draft, f"{seen.exchange.number}", fixed)
            if fresh is not draft:
                seen = yield from self._turn(replace(made, draft=fresh), more)
        if seen is not None and seen.exchange.ok:
            self._fresh[key] = seen.exchange
        return seen

    def _turn(self, made: Made, more: Sequence[Entity] = ()) -> Walk:
        if self._left <= 0 or made.draft.operation.id not in self._scope or self._spared(made.draft.operation):
            return None
        if made.draft.operation.method == "DELETE" and any(map(self._entities.is_own, _bound_to(made))):
            return None
        self._left -= 1
        seen = self._walk(made, [*(one.entity for one in made.taken.values()), *more])
        self._count(seen)
        yield seen
        return seen

    def _believed(self, operation: Operation) -> Iterator[Seen]:
        if self._left > 0 and operation.id in self._scope and not self._spared(operation):
            for seen in self._by_belief(operation):
                self._left -= 1
                self._count(seen)
                yield seen

    def _count(self, seen: Seen) -> None:
        if seen.exchange.ok:
            self._first.setdefault(seen.exchange.operation.id, seen.exchange)
            self._worked.add(seen.exchange.operation.id)
            self._deleted |= seen.exchange.operation.method == "DELETE"

    def _there(self, key: str) -> Exchange | None:
        step = self._trail.steps.get(key)
        return self._fresh.get(key) or (self._first.get(step.draft.operation.id) if step is not None else None)

    def _bound(self, step: TrailStep, sources: dict[str, Exchange]) -> tuple[Draft, dict[str, Taken]]:
        """The draft with the values that the new answers tell, and the things they belong to."""
        draft, taken = step.draft, {}
        for one in sorted(step.given, key=lambda one: _depth(step.draft, one.place)):
            value = _told(sources[one.source], one.leaf) if one.source in sources else None
            if value is not None:
                draft = placed(_lead_to(draft, sources[one.source]), one.place, value)
                entity = self._entity(sources[one.source])
                if entity is not None:
                    taken[".".join(map(str, one.place))] = Taken(value, None, entity)
        return draft, taken

    def _made_by(self, keys: tuple[str, ...]) -> list[Entity]:
        found = (self._entity(self._fresh[key]) for key in keys if key in self._fresh)
        return [entity for entity in found if entity is not None]

    def _entity(self, exchange: Exchange) -> Entity | None:
        things = self._entities.by_kind.get(collection_of(exchange.operation.path), ())
        return next((one for one in reversed(things) if one.story and one.story[-1].number == exchange.number), None)


def _bound_to(made: Made) -> list[Entity]:
    return [one.entity for one in made.taken.values()]


def _shows(way: Way, seen: Seen | None) -> bool:
    return seen is not None and any(one.cause == without_way(way.sign) for one in seen.suspicions)


def _needs(step: TrailStep) -> Sequence[str]:
    return list(dict.fromkeys((*(one.source for one in step.given), *step.after)))


def _depth(draft: Draft, place: Place) -> int:
    """How far down the path a place is; outside of it, -1."""
    names = [name for _, name in prefixes(draft.operation.path)]
    return names.index(str(place[1])) if place[0] == "path" and place[1] in names else -1


def _lead_to(draft: Draft, made: Exchange) -> Draft:
    """The path above a thing is the one it was made under."""
    above = placed_at(made)
    path = {name: above[prefix] for prefix, name in prefixes(draft.operation.path) if prefix in above}
    return replace(draft, path={**draft.path, **path}) if path else draft


def _told(exchange: Exchange, leaf: Leaf) -> Json:
    """Of a list, its first entry will do where it is shorter than it was."""
    value = at(exchange, leaf)
    return value if value is not None else at(exchange, tuple(0 if isinstance(part, int) else part for part in leaf))
