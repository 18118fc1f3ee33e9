"""The loop of `whet api`: choose what is likely to bring news, send it, judge it, learn from it."""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whet.skills.api.contract.model import Contract, Json, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.learning.beliefs import Beliefs
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.failing import Failing
from whet.skills.api.learning.lessons import Lessons
from whet.skills.api.learning.locations import Locations
from whet.skills.api.learning.lockout import Lockouts, ends_a_session
from whet.skills.api.learning.mutating import Mutating, part_of
from whet.skills.api.learning.novelty import Novelty
from whet.skills.api.learning.paths import collection_of, prefixes
from whet.skills.api.learning.readiness import Readiness
from whet.skills.api.learning.sequencing import Sequencing, Step
from whet.skills.api.learning.sources import Sources
from whet.skills.api.learning.sparing import Sparing
from whet.skills.api.learning.supply import Supply
from whet.skills.api.learning.trail import WORKS, Trail
from whet.skills.api.mutations.bank import Bank
from whet.skills.api.mutations.elsewhere import NAME as ELSEWHERE
from whet.skills.api.mutations.elsewhere import no_value
from whet.skills.api.mutations.identities import nobody
from whet.skills.api.mutations.places import Place, at
from whet.skills.api.oracles.causes import error_signature, with_way
from whet.skills.api.oracles.judge import Judge
from whet.skills.api.oracles.semantics import Semantics
from whet.skills.api.retracing import Retracing, Seen
from whet.skills.api.values.slots import NOTHING, Absent, Source

# These pay once: what a service does wrong of itself, not what it failed to promise.
_PAYING = frozenset(
    {Kind.SERVER_ERROR, Kind.CRASH, Kind.TIMEOUT, Kind.MISSING_AUTH, Kind.READ_AFTER_DELETE, Kind.LOST_UPDATE}
)
# Of these one request is kept per operation and cause, to be sent again in the next run. Silence is not asked for.
_SHOWN_AGAIN = frozenset({Kind.SERVER_ERROR, Kind.MISSING_AUTH})
_DEEPEST = 4
_SURVEYED = 2  # drafts: a schema with alternatives has more than one shape
_FOR_ONE_PARTING = 2
_NO_FAILURES = frozenset({501, 503})  # not made yet, not now
_MOST_PROBES = 0.1  # of all requests, to look into what was suspected


@dataclass(frozen=True, slots=True)
class Learned:
    """Which parts learn; the others choose at random among the same candidates. For ablations."""

    dependencies: bool = True
    evidence: bool = True  # of dependencies: without it names alone decide, whatever is answered
    sources: bool = True
    sequencing: bool = True
    kinds: bool = True  # of mutations


EVERYTHING = Learned()
_UNTOLD: Mapping[str, Source] = {}


class Explorer:
    def __init__(
        self,
        contract: Contract,
        operations: tuple[Operation, ...],
        send: Callable[[Draft], Exchange],
        seed: int = 0,
        learned: Learned = EVERYTHING,
    ) -> None:
        rng = random.Random(seed)  # noqa: S311 - a run must repeat, not resist guessing
        schemas = Schemas(contract)
        self._send, self._schemas = send, schemas
        self.entities = Entities(rng, Locations(operations, contract.base_path))
        self.dependencies = Dependencies(rng, self.entities, learned.dependencies, learned.evidence)
        self.sources = Sources(rng, self.dependencies, learned.sources)
        self.drafting = Drafting(schemas, rng, self.entities, self.dependencies, self.sources)
        self.failing = Failing()
        bank = Bank(schemas, self._foreign, self.failing.value if learned.kinds else no_value)
        self.mutating = Mutating(rng, bank, self.drafting, self.entities)
        kinds = self.mutating.kinds
        self._families = {kind: family.partition("@")[0] for kind, family in kinds.items()}
        self.sequencing = Sequencing(operations, kinds, np.random.default_rng(seed), learned.sequencing, learned.kinds)
        self._readiness = Readiness(operations, self.entities, self.dependencies)
        self._sparing = Sparing(operations, self.entities, schemas)
        self.lockouts = Lockouts()
        self._endings = [operation for operation in operations if ends_a_session(operation)]
        self._supply = Supply(operations, self.entities, self.dependencies, self.drafting)
        self._lessons = Lessons(
            self.sequencing,
            self._supply,
            self.drafting,
            self.sources,
            self.dependencies,
            self.entities,
            self._readiness,
        )
        self.novelty = Novelty()
        self.trail = Trail()
        self.judge = Judge(contract, schemas)
        self._semantics = Semantics(contract, schemas)
        self._probes: deque[tuple[Draft, Entity]] = deque(maxlen=50)  # each with what it is about
        self._errands: deque[Draft] = deque(maxlen=1)  # a login that somebody asked for: never left out
        self._spent_on_probes = 0
        self._surveyed: dict[str, set[tuple[str, str]]] = {}  # by operation: part and name of what it takes
        self._scope = frozenset(operation.id for operation in operations)  # nothing else is sent, by nobody
        self._rng = rng
        self._listeners: list[Callable[[Exchange], Draft | None]] = []

    def hears(self, listener: Callable[[Exchange], Draft | None]) -> None:
        """Somebody who sees every exchange, and may answer with a request to send next (a login)."""
        self._listeners.append(listener)

    def tables(self) -> dict[str, Beliefs[Any]]:
        """Everything that is believed, by name; what the next run starts from."""
        return {
            "edges": self.dependencies.own,
            "shared edges": self.dependencies.shared,
            "sources": self.sources.own,
            "shared sources": self.sources.shared,
            "present": self.sources.present,
            "namesakes": self.sources.namesakes,
            "paths": self.sources.paths,
        }

    def met_before(self, statuses: Mapping[str, Sequence[int]], tried: Mapping[str, Mapping[str, int]]) -> None:
        """What operations answered in earlier runs, and what was tried on them: the rest comes first now."""
        self.sequencing.tried_before(tried)
        for operation, answers in statuses.items():
            for answer in answers:
                self.novelty.known(operation, answer)
                if answer < 500:  # how it failed is told beside, by numbers below zero
                    self.sequencing.saw(operation, answer)

    def failed_before(self, causes: Iterable[tuple[str, str]]) -> None:
        """By operation, what earlier runs know to fail: seeing it again is no news."""
        for operation, cause in causes:
            self.novelty.known_cause(operation, cause)

    def evidence(self, suspicion: Suspicion) -> tuple[Exchange, ...]:
        """Exchanges besides the judged one that a suspicion rests on."""
        return (*self.judge.evidence(suspicion), *self._semantics.evidence(suspicion))

    def turns(self, ending: Callable[[], bool] = lambda: False) -> Iterator[Seen]:
        """One request each, without end: the caller holds the budget, and says when it is nearly spent.

        Probes follow at once or not at all: after another write they would prove nothing.
        """
        sent = 0
        while True:
            if self._errands:
                seen: Seen | None = self._judged(self._send(self._errands.popleft()), [])
            elif self._probes and self._spent_on_probes <= _MOST_PROBES * sent:
                seen = self._probe()
            else:
                self._probes.clear()
                seen = self._turn(ending())
            if seen is not None:
                sent += 1
                yield seen

    def retrace(self) -> Iterator[Seen]:
        """What worked or failed in earlier runs, once more; ends when all was tried."""
        retracing = Retracing(
            self.trail, self._schemas, self.entities, self._scope, self._walk, self._by_belief, self._spared
        )
        for seen in retracing.turns():
            self._probes.clear()
            yield seen
            while self._errands:
                yield self._judged(self._send(self._errands.popleft()), [])

    @property
    def parting(self) -> int:
        """Requests to keep for it: each may need something to be made first."""
        return _FOR_ONE_PARTING * len(self._endings)

    def part(self) -> Iterator[Seen]:
        """What ends our session, once everything else is done."""
        for operation in self._endings:
            if operation.id not in self.lockouts.known:
                yield from self._by_belief(operation)

    def keep(self, own_names: Callable[[], frozenset[Json]]) -> None:
        """What goes by one of these names is not deleted: we are logged in as it."""
        self.entities.own_names = own_names

    def leaves_accounts_alone(self, operation: Operation) -> bool:
        return self._sparing.spares_accounts(operation)

    def forget_writes(self) -> None:
        """Somebody else wrote to the service: what was promised before may no longer hold."""
        self._semantics.forget()

    def _turn(self, ending: bool) -> Seen | None:
        step = self.sequencing.next(
            self._readiness.ready,
            lambda one: self._readiness.waits(one, self.sequencing),
            lambda one: self._spared_to_the_last(one) if ending else self._spared(one),
        )
        made = self._made(step)
        if made is None:
            self.sequencing.cannot(step)
            return None
        maker = self._supply.maker(made)
        if maker is not None:
            return self._supplied(maker)
        made = self._spare(made, ending)
        seen = self._judged(self._send(made.draft), _used(made), made.sources)
        self._lessons.learn(step, made, seen.exchange, seen.news)
        self._spread(made, seen.exchange)
        return seen

    def _family(self, draft: Draft) -> str:
        """Of the mutation; of a value that failed elsewhere, the family that found it: it is the same way to fail."""
        own = self._families.get(draft.mutation or "", "")
        if not (draft.mutation or "").startswith(ELSEWHERE):
            return own
        found = (self.failing.family(place, at(draft, place)) for place in self.mutating.places(draft))
        return next(filter(None, found), own)

    def _spread(self, made: Made, exchange: Exchange) -> None:
        """What made this operation fail is soon tried wherever a value of that name is taken."""
        place, operation = made.changed, exchange.operation.id
        if place is None or operation not in self.drafting.worked:
            return
        failed = (exchange.response.status or 0) >= 500 and exchange.response.status not in _NO_FAILURES
        if not self.failing.tell(operation, place, at(made.draft, place), failed, self._family(made.draft)):
            return
        for other in (one for one in self.sequencing.operations if one.id != operation):
            if (place.where, place.name) in self._surveyed.get(other.id, ()):
                self.sequencing.open(other, f"{ELSEWHERE}@{part_of(place)}")

    def _spare(self, made: Made, ending: bool) -> Made:
        """What was made up may name something that is not to be deleted: 1, as often as not. So until the end it names
        nobody, and what is known to be spared is never named."""
        guessed = made.draft.operation.method == "DELETE" and not ending and _guesses_its_name(made)
        account = self._sparing.account_named(made.draft)
        if not guessed and account is None and not self.entities.forbids(made.draft, ending):
            return made
        name = account or prefixes(made.draft.operation.path)[-1][1]
        stranger = nobody(made.draft.path[name], self._rng)
        return replace(made, draft=replace(made.draft, path={**made.draft.path, name: stranger}), taken={})

    def _spared_to_the_last(self, operation: Operation) -> bool:
        last = self._sparing.spares_to_the_last(operation) or self._sparing.spares_accounts(operation)
        return last or self.lockouts.spares(operation)

    def _spared(self, operation: Operation) -> bool:
        return self.lockouts.spares(operation) or self._sparing.spares(operation, self.sequencing.worked)

    def _walk(self, made: Made, used: list[Entity]) -> Seen:
        """A request of an earlier run: what works is learned from like any other, a refusal says little."""
        seen = self._judged(self._send(made.draft), used, made.sources)
        draft = made.draft
        if seen.exchange.ok and draft.mutation is None and draft.broken is None:
            self._lessons.learn(Step(draft.operation, None), made, seen.exchange, seen.news)
        else:
            self.sequencing.saw(draft.operation.id, seen.news.answer)  # chosen because it failed: no sample of its kind
            self._lessons.things(made, seen.exchange)
        return seen

    def _by_belief(self, operation: Operation) -> Iterator[Seen]:
        """A request like any other of exploring, after what it lacks."""
        for _ in range(_DEEPEST):
            made = self.drafting.new(operation)
            maker = self._supply.maker(made)
            if maker is None:
                yield self._walk(made, _used(made))
                return
            yield self._supplied(maker)

    def _supplied(self, maker: Operation, depth: int = 0) -> Seen:
        """What the chosen request lacks is made first, from the root of what is missing; the next turn chooses anew."""
        made = self.drafting.like_one_that_worked(maker) or self.drafting.new(maker)
        deeper = self._supply.maker(made) if depth < _DEEPEST else None
        if deeper is not None:
            return self._supplied(deeper, depth + 1)
        seen = self._judged(self._send(made.draft), _used(made), made.sources)
        self._lessons.learn(Step(maker, None), made, seen.exchange, seen.news)
        return seen

    def _made(self, step: Step) -> Made | None:
        if step.kind is None:
            return self.drafting.new(step.operation)
        if step.operation.id not in self._surveyed:
            self._survey(step.operation)
        return self.mutating.make(step.operation, step.kind)

    def _survey(self, operation: Operation) -> None:
        """Once per operation: which kinds make sense there, so that none is chosen in vain."""
        drafts = [self.drafting.full(operation).draft for _ in range(_SURVEYED)]
        places = (place for draft in drafts for place in self.mutating.places(draft))
        self._surveyed[operation.id] = {(place.where, place.name) for place in places}
        kinds = {kind for draft in drafts for kind in self.mutating.possible(draft)}
        self.sequencing.limit(operation, kinds)
        for kind in kinds:
            if kind.startswith(ELSEWHERE):  # it knows itself what was tried in earlier runs
                self.sequencing.open(operation, kind)

    def _probe(self) -> Seen:
        self._spent_on_probes += 1
        draft, about = self._probes.popleft()
        return self._judged(self._send(draft), [about])

    def _judged(self, exchange: Exchange, used: list[Entity], sources: Mapping[str, Source] = _UNTOLD) -> Seen:
        """`used`: what the request was built on; `sources`: where its values came from."""
        if exchange.response.resent:
            self._semantics.forget()  # it may have been another process that answered
        suspicions = (*self.judge.judge(exchange), *self._semantics.judge(exchange))
        # A probe rests on what led here: without that, what it shows could not be shown again.
        about = Entity(collection_of(exchange.operation.path), {}, {}, (*self.entities.story(used), exchange))
        probes = (*self.judge.probes(exchange), *self._semantics.probes(exchange))
        self._probes.extend((one, about) for one in probes if one.operation.id in self._scope)
        asked = (listener(exchange) for listener in self._listeners)
        self._errands.extend(draft for draft in asked if draft is not None)
        self.lockouts.listen(exchange)
        status = exchange.response.status
        signature = error_signature(exchange) if status is not None and status >= 400 else None
        causes = tuple(one.cause for one in suspicions if one.kind in _PAYING)
        news = self.novelty.news(exchange, signature, causes, self._family(exchange.draft))
        story = self.entities.history(exchange.draft, used) if suspicions else self.entities.story(used)
        self._blaze(exchange, story, sources, suspicions, news.by)
        self._take_in(exchange, used)
        return Seen(exchange, news, suspicions, story)

    def _blaze(
        self,
        exchange: Exchange,
        story: tuple[Exchange, ...],
        sources: Mapping[str, Source],
        shown: tuple[Suspicion, ...],
        by: str,
    ) -> None:
        """For the next run: the way to what works, and to what failed."""
        signs = [with_way(one.cause, by) for one in shown if one.kind in _SHOWN_AGAIN] + [WORKS] * exchange.ok
        wanted = [sign for sign in signs if self.trail.wants(exchange.draft, sign)]
        if wanted:  # what was found in a list, somebody made
            whole = {step.number: step for step in (*self.entities.makers(exchange.draft), *story)}
            for sign in wanted:
                self.trail.keep(sign, [whole[number] for number in sorted(whole)], exchange, sources)

    def _take_in(self, exchange: Exchange, used: list[Entity]) -> None:
        if not exchange.ok:
            return
        if exchange.draft.broken is None:  # one that should not have worked is no way to anything
            self.entities.wrote(exchange, used)
        if exchange.operation.method == "DELETE":
            self.entities.end(exchange)
        else:
            self.entities.take_in(exchange, used, to_use=exchange.draft.broken is None)
            self.entities.end_told(exchange)

    def _foreign(self, draft: Draft, place: Place) -> Json | Absent:
        """An id of something else that lives in the service."""
        own = collection_of(draft.operation.path)
        others = [kind for kind in self.entities.by_kind if kind != own and self.entities.lives(kind)]
        if not others:
            return NOTHING
        fields = self.entities.alive(self._rng.choice(others))[-1].fields
        return next((value for name, value in fields.items() if name in ("id", "uuid", "name", "key")), NOTHING)


def _guesses_its_name(made: Made) -> bool:
    """What its path ends with came of nothing that was met; odd names that a mutation made are as they are."""
    path = made.draft.operation.path.rstrip("/")
    return path.endswith("}") and made.draft.mutation is None and f"path.{prefixes(path)[-1][1]}" not in made.taken


def _used(made: Made) -> list[Entity]:
    return [taken.entity for taken in made.taken.values()]
