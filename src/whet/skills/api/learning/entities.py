"""What lives in the service as far as answers showed: things with fields, each at its place in the tree of paths."""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.learning.fields import Fields
from whet.skills.api.learning.gone import Gone
from whet.skills.api.learning.locations import Locations
from whet.skills.api.learning.origins import Key, Origins, identities, is_made, key
from whet.skills.api.learning.paths import collection_of, nameless, prefixes
from whet.skills.api.learning.shown import (
    MOST_FIELDS,
    chosen_name,
    headed,
    leaves,
    parsed,
    placed,
    sent,
    things,
    told_deleted,
)

MOST_PER_KIND = 40
LONGEST_STORY = 10
_MISSES = 3
_KEPT_BYTES = 20_000
_LIST_PLACES = 3
_WHO = frozenset({"username", "user_name", "login", "email", "mail", "user", "name", "account", "id"})
_NOT_YET = 202  # what was asked for is not there: what is being done about it is


@dataclass(slots=True)
class Entity:
    """`kind` is the collection it belongs to ("/orders"); `place` the path values that lead there, by path prefix."""

    kind: str
    place: Mapping[str, Json]
    fields: Mapping[str, Json]
    story: tuple[Exchange, ...] = ()  # the requests that led to it, its own last
    alive: bool = True
    doubtful: bool = False  # it may have gone with something else

    @property
    def made_by(self) -> str:
        return self.story[-1].operation.id if self.story else ""


class Entities:
    """Newest last; a bounded number per kind. Deleting a thing ends what lives below it."""

    def __init__(self, rng: random.Random, locations: Locations | None = None) -> None:
        self._rng, self._locations = rng, locations or Locations()
        self.by_kind: dict[str, deque[Entity]] = {}
        self.fields = Fields()
        self._origins = Origins()
        self._gone = Gone()
        self._missed: dict[str, int] = {}  # by kind: times in a row that the service did not find one
        self.deleted: deque[Entity] = deque(maxlen=MOST_PER_KIND)
        self.own_names: Callable[[], frozenset[Json]] = frozenset

    def is_own(self, entity: Entity) -> bool:
        """We are logged in as it: it says so in a field that tells who somebody is."""
        own = self.own_names()
        return any(value in own and field.rpartition(".")[2].lower() in _WHO for field, value in entity.fields.items())

    def take_in(self, exchange: Exchange, used: Iterable[Entity] = (), to_use: bool = True) -> None:
        """The things an answer showed or made; `used` are those the request was built on.

        What should not have been accepted is not `to_use`. But it is there, and may be met in a list.
        """
        story = (*self.story(used), _short(exchange))[-LONGEST_STORY:]
        for entity in self._from_answer(exchange, story):
            if to_use:
                self._keep(entity)
            if exchange.operation.method in {"POST", "PUT"}:
                self._origins.made(entity.kind, entity.fields, chosen_name(exchange), story)

    def story(self, used: Iterable[Entity]) -> tuple[Exchange, ...]:
        """The requests that led to these things, from the ground, each once, in the order they were sent."""
        steps = {step.number: step for entity in used for step in self._ground(entity)}
        return tuple(steps[number] for number in sorted(steps))[-LONGEST_STORY:]

    def history(self, draft: Draft, used: Sequence[Entity]) -> tuple[Exchange, ...]:
        """The same with what made the things its path names, and with what was done to all of them since."""
        steps = {step.number: step for step in (*self._origins.of_path(draft), *self.story(used))}
        story = tuple(steps[number] for number in sorted(steps))
        return self._origins.with_since(story, map(self._key, used))

    def wrote(self, exchange: Exchange, used: Sequence[Entity]) -> None:
        self._origins.wrote(exchange, map(self._key, used), (*self.story(used), _short(exchange)))

    def _key(self, entity: Entity) -> Key:
        return key(entity.kind, entity.fields, self._ground(entity))

    def _ground(self, entity: Entity) -> tuple[Exchange, ...]:
        return self._origins.of(entity.kind, entity.fields, entity.story)

    def is_made(self, entity: Entity) -> bool:
        return is_made(entity.kind, self.story([entity]))

    def may_be_deleted(self, entity: Entity) -> bool:
        """Not what we are logged in as; and what was there before only where nothing lives that was made here."""
        return not self.is_own(entity) and (self.is_made(entity) or not any(map(self.is_made, self.alive(entity.kind))))

    def forbids(self, draft: Draft, ending: bool) -> bool:
        """Whether it would delete what is not to be, however it came by its name; near the end, only what we are."""
        operation = draft.operation
        if operation.method != "DELETE" or not operation.path.rstrip("/").endswith("}"):
            return False
        own, kind = str(draft.path.get(prefixes(operation.path)[-1][1])), collection_of(operation.path)
        named = (one for one in self.alive(kind) if own in (str(one.fields[name]) for name in self._names(one)))
        return any(self.is_own(one) or not (ending or self.may_be_deleted(one)) for one in named)

    def _names(self, entity: Entity) -> Iterator[str]:
        return (name for name in identities(entity.kind) if name in entity.fields)

    def lives(self, kind: str) -> bool:
        return any(entity.alive for entity in self.by_kind.get(kind, ()))

    def alive(self, kind: str) -> list[Entity]:
        return [entity for entity in self.by_kind.get(kind, ()) if entity.alive]

    def distinct(self, kind: str, name: str, most: int) -> int:
        """How many things live, up to `most`, each counted once however often it was met.

        `name` is what a path calls their id: where some have it, what has not is no more than a part of an answer.
        """
        ids: set[Json] = set()
        others: set[Key] = set()
        for entity in self.by_kind.get(kind, ()):
            if entity.alive and len(ids) < most:
                own = next((entity.fields[one] for one in (name, f"sent.{name}") if one in entity.fields), None)
                others.add(self._key(entity)) if own is None else ids.add(own)
        return len(ids) or min(len(others), most)

    def youngest(self, kind: str, most: int) -> list[Entity]:
        """The last that live, in the order they came."""
        young: list[Entity] = []
        for entity in reversed(self.by_kind.get(kind, ())):
            if entity.alive:
                young.append(entity)
                if len(young) == most:
                    break
        young.reverse()
        return young

    def makers(self, draft: Draft) -> Iterator[Exchange]:
        """The requests that made what a path names, and those that led to them."""
        return self._origins.of_path(draft)

    def end(self, exchange: Exchange) -> None:
        """A DELETE that worked: what was at that path, one thing or all of a collection, is gone with all below."""
        gone, path = placed(exchange), exchange.operation.path.rstrip("/")
        one = gone.get(nameless(path)) if path.endswith("}") else None
        above = {prefix: value for prefix, value in gone.items() if prefix != nameless(path)}
        kind = collection_of(path)
        ended = []
        for entity in self._alive_below(kind):
            named = one is None or (entity.kind == kind and one in entity.fields.values())
            if _within(gone, entity) or (named and _within(above, entity)):
                entity.alive = False
                ended.append(entity)
        self.deleted.extend(ended)
        self._doubt_what_names(self._gone.add(kind, (each.fields for each in ended if each.kind == kind), one))

    def _doubt_what_names(self, gone: frozenset[Json]) -> None:
        """What belongs to a thing may be gone with it."""
        for entity in (one for entities in self.by_kind.values() for one in entities if one.alive):
            named = (name for name, value in entity.fields.items() if value in gone)
            entity.doubtful |= any(self.is_dangling(entity, name) for name in named)

    def is_dangling(self, entity: Entity, field: str) -> bool:
        """It names something that is gone."""
        return self._gone.is_named(field, entity.fields[field])

    def is_lost(self, entity: Entity, field: str | None) -> bool:
        """What was taken from this field, or from the thing as such, is not there any more."""
        if field is not None and self.is_dangling(entity, field):
            return True
        return not entity.alive and (field is None or field in identities(entity.kind))

    def _alive_below(self, kind: str) -> Iterator[Entity]:
        for other, entities in self.by_kind.items():
            if other == kind or other.startswith(kind.rstrip("/") + "/"):
                yield from (entity for entity in entities if entity.alive)

    def found(self, entity: Entity) -> None:
        self._missed[entity.kind] = 0
        for one in self._the_same(entity):
            one.doubtful = False

    def doubt(self, entity: Entity) -> None:
        """However often it was met."""
        for one in self._the_same(entity):
            one.doubtful = True

    def _the_same(self, entity: Entity) -> list[Entity]:
        own = {entity.fields[name] for name in self._names(entity)}
        others = (one for one in self._alive_below(entity.kind) if one is not entity)
        return [entity, *(one for one in others if any(one.fields[name] in own for name in self._names(one)))]

    def end_told(self, exchange: Exchange) -> None:
        """What an answer says was deleted: `{"deleted": [7, 8]}`, of the things above its path."""
        named, path = set(told_deleted(parsed(exchange))), nameless(exchange.operation.path)
        above = [kind for kind in self.by_kind if path.startswith(f"{kind.rstrip('/')}/")] if named else []
        for kind in above:
            ended = [one for one in self.alive(kind) if any(one.fields[name] in named for name in self._names(one))]
            for entity in ended:
                entity.alive = False
            self.deleted.extend(ended)
            self._doubt_what_names(self._gone.add(kind, (one.fields for one in ended)))

    def not_found(self, entity: Entity, field: str | None) -> None:
        """It was deleted by something that does not say so; or what it names in this field was.

        Several in a row: so were all of its kind, by one request that takes a filter, or because the service lost its
        memory.
        """
        if field is not None and field not in identities(entity.kind):
            self._gone.add_named(field, entity.fields[field])
            return
        self._lose(entity)
        self._missed[entity.kind] = self._missed.get(entity.kind, 0) + 1
        if self._missed[entity.kind] >= _MISSES:
            for other in self.alive(entity.kind):
                self._lose(other)

    def _lose(self, entity: Entity) -> None:
        entity.alive = False
        self._gone.add(entity.kind, (entity.fields,))

    def pick(self, entities: list[Entity], to_end: bool = False) -> Entity:
        """Mostly a young one: old ones may have been ended by something we did not see. What is to be deleted is the
        oldest that was made here, because what others need hangs on the young ones, and what was there before may not
        be made again."""
        entities = [one for one in entities if not one.doubtful] or entities
        if to_end:
            return next(filter(self.is_made, entities), entities[0])
        if self._rng.random() < 0.6:
            return entities[-1]
        return self._rng.choice(entities)

    def _from_answer(self, exchange: Exchange, story: tuple[Exchange, ...]) -> Iterator[Entity]:
        place, told = placed(exchange), sent(exchange) | headed(exchange)
        kind = collection_of(exchange.operation.path)
        elsewhere = self._locations.elsewhere(exchange)
        for thing in list(islice(things(parsed(exchange)), _LIST_PLACES)) or [{}]:
            fields = dict(islice(leaves(thing), MOST_FIELDS)) | told
            if elsewhere is not None:
                yield Entity(elsewhere.kind, elsewhere.place, fields | elsewhere.named, story)
            if fields and (elsewhere is None or exchange.response.status != _NOT_YET):
                yield Entity(kind, place, fields, story)

    def _keep(self, entity: Entity) -> None:
        bounded = self.by_kind.setdefault(entity.kind, deque(maxlen=MOST_PER_KIND))
        bounded.append(entity)
        self._gone.is_back(entity.kind, entity.fields)
        self.fields.add(entity.kind, entity.fields)


def _within(place: Mapping[str, Json], entity: Entity) -> bool:
    return place.items() <= entity.place.items()


def _short(exchange: Exchange) -> Exchange:
    """Stories are kept as long as their things: without the bulk of large answers."""
    response = exchange.response
    if len(response.body) <= _KEPT_BYTES:
        return exchange
    return replace(exchange, response=replace(response, body=response.body[:_KEPT_BYTES], whole=False))
