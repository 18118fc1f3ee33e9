"""Who gives what to whom: which field of which kind of thing fits a slot.

Names, nouns and types give the prior; whether requests built on it were accepted is the evidence. What is learned of a
slot is shared with the slots of the same path prefix, so that one success at /orders/{id} serves all that lies below.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.learning.beliefs import Beliefs, Prior
from whet.skills.api.learning.company import Company
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.paths import collection_of, noun, prefix_of, spoken
from whet.skills.api.learning.shown import ETAG
from whet.skills.api.names import asked_for, is_identity, likeness, words
from whet.skills.api.values.slots import Slot

MOST_CANDIDATES = 8
YOUNGEST = 15
_PRIOR_TRIES = 3.0
_LEAST = 0.05
_STRANGERS = 0.5  # of its chance, for an edge to things that have nothing to do with those in the request
_CLEARLY = 0.25
_MEANT = 0.8
_NAMED = 0.5  # a chance above which a name says enough
_BY_PLACE = 0.9
_PLAIN = 0.85
_VERSIONS = frozenset({"if-match", "if-none-match"})
_VERSIONED = 0.75
_UNNAMED = 0.2  # the chance of an identity that no name speaks for
_SAYING = frozenset({"enum", "const", "pattern", "default", "example", "examples"})  # what to send
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_BY_DEPTH = (1.0, 0.85, 0.4, 0.25)  # one level is often a mere wrapper ("data")

Fits = Callable[[Entity, str], bool]  # whether a field of a thing may be taken


@dataclass(frozen=True, slots=True)
class Edge:
    """A value taken from `field` of a thing of `kind`, for a slot."""

    slot: Slot
    kind: str
    field: str


class Dependencies:
    """For ablations: `learn=False` takes any field of the right type of any living thing, and knows of no slot what
    it wants; `evidence=False` decides by names alone."""

    def __init__(self, rng: random.Random, entities: Entities, learn: bool = True, evidence: bool = True) -> None:
        self._rng, self._entities, self._learn, self._evidence = rng, entities, learn, evidence
        self.own: Beliefs[tuple[str, str, str, str]] = Beliefs(rng)
        self.shared: Beliefs[tuple[str, str, str]] = Beliefs(rng)
        self._counted: dict[tuple[str, str, str, str], tuple[int, int]] = {}
        self._candidates: dict[Slot, tuple[int, list[tuple[Edge, Prior]]]] = {}
        self._widened: set[str] = set()
        self._nouns: tuple[int, set[tuple[str, ...]]] = (0, set())  # of what was met, as long as no field is new

    def choose(self, slot: Slot, beside: Mapping[str, Json], company: Company) -> tuple[Edge, Entity] | None:
        """The most promising edge with a living thing behind it.

        `beside` are path values already settled; a thing used in this request already is preferred, or one that goes
        with it, because a user's name goes with the same user's password, and an order with its own customer.
        """
        if not self._learn:
            return self._any(slot, beside)
        fits = self._fitting(slot.schema, beside)
        if slot.operation.startswith("DELETE "):
            fits = self._to_be_deleted(fits)
        if slot.schema.get("format") == "uuid":  # what is none is taken only from what is clearly meant
            chosen = self._best(slot, _only_uuids(fits), company) or self._best(slot, fits, company, _MEANT)
        else:
            chosen = self._best(slot, fits, company)
        if chosen is None:
            return None
        edge, things = chosen
        if edge.field == ETAG:
            return edge, things[-1]  # any other version is old
        return edge, self._entities.pick(things, to_end=slot.operation.startswith("DELETE "))

    def _best(self, slot: Slot, fits: Fits, company: Company, least: float = 0.0) -> tuple[Edge, list[Entity]] | None:
        """From the best draw down, until no later one can win: things are looked at for few edges.

        Edges that are believed to fit with less than this chance are left out.
        """
        best, worth = None, 0.0
        known = [one for one in self._known(slot) if not least or self._mean(*one) >= least]
        drawn = [(self._draw(edge, prior), edge) for edge, prior in known]
        for chance, edge in sorted(drawn, key=lambda one: -one[0]):
            if chance <= worth:
                break
            things = [one for one in self._entities.youngest(edge.kind, YOUNGEST) if fits(one, edge.field)]
            related = [one for one in things if company.welcomes(one)] if company else things
            weighed = chance * (1.0 if related else _STRANGERS)
            if things and weighed > worth:
                best, worth = (edge, related or things), weighed
        return best

    def _fitting(self, schema: Schema, beside: Mapping[str, Json]) -> Fits:
        """Whether a field of a thing has the right type and names nothing that is gone, and the thing lives where the
        path leads."""
        wanted = schema.get("type")
        kinds = {wanted} if isinstance(wanted, str) else set(wanted or ())
        texts = not kinds or "string" in kinds
        numbers = texts or bool(kinds & {"integer", "number"})
        settled, dangles = tuple(beside.items()), self._entities.is_dangling

        def fits(entity: Entity, field: str) -> bool:
            value = entity.fields.get(field)  # no field holds None
            if value is None or not (texts if isinstance(value, str) else numbers) or dangles(entity, field):
                return False
            return not settled or all(entity.place.get(prefix, value) == value for prefix, value in settled)

        return fits

    def _to_be_deleted(self, fits: Fits) -> Fits:
        return lambda entity, field: fits(entity, field) and self._entities.may_be_deleted(entity)

    def _any(self, slot: Slot, beside: Mapping[str, Json]) -> tuple[Edge, Entity] | None:
        fits, known = self._fitting(slot.schema, beside), self._entities.fields.known()
        for kind, field in self._rng.sample(known, len(known)):
            things = [one for one in self._entities.youngest(kind, YOUNGEST) if fits(one, field)]
            if things:
                return Edge(slot, kind, field), self._rng.choice(things)
        return None

    def promise(self, slot: Slot) -> float:
        """How good the best edge looks, before any draw; 0 when nothing fits."""
        if not self._learn:
            return 0.5
        return max((self._mean(edge, prior) for edge, prior in self._known(slot)), default=0.0)

    def wanted(self, slot: Slot, sure: float) -> list[str]:
        """The kinds whose things would fit this slot with at least this chance, best first."""
        if not self._learn:
            return []
        likely = sorted(((self._mean(edge, prior), edge.kind) for edge, prior in self._known(slot)), reverse=True)
        return list(dict.fromkeys(kind for mean, kind in likely if mean >= sure))

    def better(self, edge: Edge, sure: float) -> list[str]:
        """The kinds whose things would fit the slot of this edge clearly better."""
        return self.wanted(edge.slot, max(sure, self._belief(edge) + _CLEARLY))

    def trusted(self, edge: Edge) -> bool:
        """Whether values by this edge were accepted before, more often than not."""
        won, lost = self.shared.seen.get(_shared(edge), (0.0, 0.0))
        return won > lost

    def served(self, edge: Edge) -> bool:
        """Whether a value by this edge was ever accepted, here or by its neighbours."""
        return self.shared.seen.get(_shared(edge), (0.0, 0.0))[0] > 0

    def is_plain(self, edge: Edge) -> bool:
        """The place of a thing in a path, filled with what its own collection calls its id: names leave no doubt."""
        slot = edge.slot
        if slot.where != "path" or edge.kind != collection_of(_above(slot)):
            return False
        return next((prior[0] >= _PLAIN * _PRIOR_TRIES for one, prior in self._known(slot) if one == edge), False)

    def tell(self, edge: Edge, success: float, weight: float = 1.0) -> None:
        tried, worked = self._counted.get(_own(edge), (0, 0))
        self._counted[_own(edge)] = (tried + 1, worked + (success == 1.0))
        if self._evidence:
            self.own.tell(_own(edge), success, weight)
            self.shared.tell(_shared(edge), success, weight)

    def doubt(self, edge: Edge, weight: float) -> None:
        """It serves others, but this operation may go by another field of the same things: a name, not an id."""
        tried, worked = self._counted.get(_own(edge), (0, 0))
        self._counted[_own(edge)] = (tried + 1, worked)
        if self._evidence:
            self.own.tell(_own(edge), 0.0, weight)

    def widen(self, operation: str) -> None:
        """Names led nowhere: what this operation requires may be the identity of a thing of any kind."""
        if self._evidence and operation not in self._widened:
            self._widened.add(operation)
            self._candidates = {slot: known for slot, known in self._candidates.items() if slot.operation != operation}

    def names_a_kind(self, slot: Slot) -> bool:
        """Whether things of this name were met: a `flavor` where there are /flavors."""
        if self._nouns[0] != self._entities.fields.size:
            nouns = {words(noun(kind)) for kind in self._entities.by_kind}
            self._nouns = self._entities.fields.size, nouns
        return words(slot.name) in self._nouns[1] and not _SAYING & slot.schema.keys()

    def is_wide(self, slot: Slot) -> bool:
        """A path says itself what stands in it."""
        asked = slot.required and slot.where != "path" and not _SAYING & slot.schema.keys()
        return asked and slot.operation in self._widened

    def edges(self) -> Iterator[tuple[Edge, float, int, int]]:
        """Every edge that was tried in this run: (edge, belief, times tried, times it worked).

        Beliefs weigh what they saw and remember earlier runs; what is shown to people is counted.
        """
        for _, known in self._candidates.values():
            for edge, prior in known:
                if _own(edge) in self._counted:
                    yield edge, self._mean(edge, prior), *self._counted[_own(edge)]

    def _belief(self, edge: Edge) -> float:
        return next((self._mean(known, prior) for known, prior in self._known(edge.slot) if known == edge), 0.0)

    def _draw(self, edge: Edge, prior: Prior) -> float:
        return self.own.draw(_own(edge), self.shared.lean(_shared(edge), prior))

    def _mean(self, edge: Edge, prior: Prior) -> float:
        return self.own.mean(_own(edge), self.shared.lean(_shared(edge), prior))

    def _known(self, slot: Slot) -> list[tuple[Edge, Prior]]:
        """Candidates by name, made anew only when new fields were met."""
        met = self._entities.fields.size
        cached = self._candidates.get(slot)
        if cached is None or cached[0] != met:
            cached = self._candidates[slot] = (met, self._ranked(slot))
        return cached[1]

    def _ranked(self, slot: Slot) -> list[tuple[Edge, Prior]]:
        if slot.where == "header" and slot.name.lower() in _VERSIONS:
            return [
                (
                    Edge(slot, collection_of(_path(slot)), ETAG),
                    (_VERSIONED * _PRIOR_TRIES, (1 - _VERSIONED) * _PRIOR_TRIES),
                )
            ]
        about, name = noun(_above(slot)), _asked(slot)
        scored = [
            (likeness(name, about, field, spoken(kind)) * _standing(field), kind, field)
            for kind, field in self._entities.fields.about(asked_for(name, about))
        ]
        if slot.where == "path" and max((score for score, _, _ in scored), default=0.0) < _NAMED:
            scored += self._by_place(slot)
        best = sorted((one for one in scored if one[0] > _LEAST), reverse=True)[:MOST_CANDIDATES]
        if self.is_wide(slot):
            named = {(kind, field) for _, kind, field in best}
            best += [
                (_UNNAMED, *one) for one in self._entities.fields.known() if one not in named and _identifies(one[1])
            ]
        return [(Edge(slot, kind, field), (s * _PRIOR_TRIES, (1 - s) * _PRIOR_TRIES)) for s, kind, field in best]

    def _by_place(self, slot: Slot) -> list[tuple[float, str, str]]:
        """What stands in /series/{show_id}, whatever it is called: an identity of one of /series, or of what was made
        at /series/import."""
        about, own = noun(_above(slot)), collection_of(_above(slot))
        return [
            (_BY_PLACE * likeness("id", about, field, spoken(kind)) * _standing(field), kind, field)
            for kind, field in self._entities.fields.known()
            if kind == own or (kind.startswith(f"{own}/") and "{" not in kind[len(own) :])
        ]


def _identifies(field: str) -> bool:
    """The things it is a field of, and none within them."""
    said = words(field)
    return "." not in field and bool(said) and is_identity(said[-1])


def _standing(field: str) -> float:
    """What the service said counts for more than what we sent, the top for more than what lies inside."""
    said, sent = (field.removeprefix("sent."), 0.8) if field.startswith("sent.") else (field, 1.0)
    return sent * _BY_DEPTH[min(said.count("."), len(_BY_DEPTH) - 1)]


def _own(edge: Edge) -> tuple[str, str, str, str]:
    return edge.slot.operation, edge.slot.place, edge.kind, edge.field


def _shared(edge: Edge) -> tuple[str, str, str]:
    """A path parameter shares with the same prefix of other operations, any other slot with its namesakes."""
    slot = edge.slot
    group = prefix_of(_path(slot), slot.name) if slot.where == "path" else slot.name
    return group, edge.kind, edge.field


def _path(slot: Slot) -> str:
    return slot.operation.partition(" ")[2]


def _asked(slot: Slot) -> str:
    """A `project` that is a uuid is the id of a project, not its name."""
    named = words(slot.name)
    says = not named or is_identity(named[-1]) or slot.schema.get("format") != "uuid"
    return slot.name if says else f"{slot.name}_id"


def _above(slot: Slot) -> str:
    """The path up to the slot's own parameter: what stands there names the thing."""
    return prefix_of(_path(slot), slot.name) if slot.where == "path" else _path(slot)


def _only_uuids(fits: Fits) -> Fits:
    return lambda entity, field: fits(entity, field) and _UUID.fullmatch(str(entity.fields[field])) is not None
