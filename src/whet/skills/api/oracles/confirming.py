"""Seeing a suspicion again, and making what shows it small.

    confirming = Confirming(contract, schemas)
    steps = (*story, *judge.evidence(suspicion), *semantics.evidence(suspicion), exchange)
    fault = confirming.confirm(suspicion, steps, service.send, requests=40)

What does not come back is kept and told as such: a fault that shows once in a while is still one. What may kill the
service is not sent again unless the caller says that it may be (`deadly`): it costs the rest of the run.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.oracles.breaches import sentence
from whet.skills.api.oracles.keeping import Keeping
from whet.skills.api.oracles.minimising import shortened, without_parts
from whet.skills.api.oracles.replaying import GONE, SEMANTIC, Ended, Purse, Replay, Send, Spent, needed, other_writes
from whet.skills.api.oracles.resting import nouns
from whet.skills.api.oracles.semantics import Semantics
from whet.skills.api.oracles.symptoms import REFUSALS, Symptoms

REQUESTS = 40
FOR_SILENCE = 6  # each of these waits for its time to run out
LONGEST_STORY = 12
_DEADLY_TRIES, _QUICK_SECONDS = 4, 5.0
# The sentence of the one tells the values it is about; for the other there are no tries left.
_WHOLE_VALUES = frozenset({Kind.INVALID_ACCEPTED, Kind.CRASH})
_SILENT = frozenset({Kind.TIMEOUT, Kind.CRASH})


class _Shown(NamedTuple):
    steps: tuple[Exchange, ...]
    rests: bool


class Confirming:
    def __init__(self, contract: Contract, schemas: Schemas) -> None:
        self._contract, self._schemas = contract, schemas
        self._symptoms = Symptoms(contract, schemas)
        self._keeping = Keeping(schemas)
        self._nouns = nouns(contract)

    def confirm(
        self,
        suspicion: Suspicion,
        steps: Sequence[Exchange],
        send: Send,
        requests: int = REQUESTS,
        deadly: bool = False,
    ) -> Fault:
        """The fault with the smallest story found within so many requests; the last of `steps` is what was judged."""
        replay = self._replay(suspicion, steps, send, requests, deadly)
        shown = self._shown(suspicion, replay) if replay is not None else None
        if replay is None or shown is None:
            return Fault(suspicion, _in_short(suspicion, steps), confirmed=False)
        smallest = self._smallest(suspicion, replay, shown.steps)
        return Fault(self._told_by(smallest[-1], suspicion), smallest, confirmed=True, rests=shown.rests)

    def as_told(
        self, suspicion: Suspicion, steps: Sequence[Exchange], send: Send, requests: int
    ) -> tuple[Exchange, ...] | None:
        """Every step once more, in its order; None when it does not show."""
        replay = self._replay(suspicion, steps, send, requests, deadly=False)
        if replay is not None:
            with suppress(Spent):
                shown = replay.play(range(len(replay.steps) - 1))
                return shown if self._shows(suspicion, shown, replay) else None
        return None

    def seen_again(
        self, suspicion: Suspicion, steps: Sequence[Exchange], send: Send, requests: int
    ) -> tuple[Exchange, ...] | None:
        """What shows it now, made no smaller; None when it does not show."""
        replay = self._replay(suspicion, steps, send, requests, deadly=False)
        shown = self._shown(suspicion, replay) if replay is not None else None
        return shown.steps if shown is not None else None

    def _replay(
        self, suspicion: Suspicion, steps: Sequence[Exchange], send: Send, requests: int, deadly: bool
    ) -> Replay | None:
        if suspicion.kind is Kind.CRASH and not deadly:
            return None
        purse = Purse(send, min(requests, FOR_SILENCE) if suspicion.kind is Kind.TIMEOUT else requests)
        return Replay(self._schemas, _in_order(steps), purse, self._nouns)

    def _shown(self, suspicion: Suspicion, replay: Replay) -> _Shown | None:
        """By a story that makes what it needs itself; else by one that rests on what happens to be there now."""
        resting: _Shown | None = None
        with suppress(Spent):
            for numbers in _stories(suspicion.kind, replay.steps):
                if resting is not None and not numbers:
                    continue
                shown = replay.play(numbers)
                if self._shows(suspicion, shown, replay):
                    told = _Shown(_what_worked(replay), rests=not _makes_what_it_needs(suspicion.kind, replay))
                    if not told.rests or suspicion.kind in _SILENT:  # silence is not asked for twice
                        return told
                    resting = resting or told
            resting = resting or self._shown_gone(suspicion, replay)
        return resting

    def _shown_gone(self, suspicion: Suspicion, replay: Replay) -> _Shown | None:
        """What was not there then, and is now, has to go first."""
        last = replay.steps[-1]
        deletes = self._contract.operation(f"DELETE {last.operation.path}")
        if deletes is None or last.operation.method != "GET" or last.response.status not in GONE:
            return None
        shown = replay.play_deleted(needed(suspicion.kind, replay.steps), deletes)
        return _Shown(shown, rests=True) if self._shows(suspicion, shown, replay) else None

    def _shows(self, suspicion: Suspicion, shown: tuple[Exchange, ...], replay: Replay) -> bool:
        last = shown[-1]
        if suspicion.kind in SEMANTIC:
            return self._breaks_promise(suspicion, shown) and self._stays(suspicion, last, replay)
        if suspicion.kind is Kind.VALID_REFUSED:
            return self._refuses(shown)
        if suspicion.kind is Kind.CRASH and last.response.status is not None:
            return replay.last_with(last.draft).response.status is None  # it answers, and is gone afterwards
        return self._shows_alone(suspicion, last)

    def _shows_alone(self, suspicion: Suspicion, exchange: Exchange) -> bool:
        return any(one.cause == suspicion.cause for one in self._symptoms.of(exchange))

    def _told_by(self, exchange: Exchange, suspicion: Suspicion) -> Suspicion:
        """In the words of the request that is shown: what was first seen may have quoted what was left out since."""
        same = (one for one in self._symptoms.of(exchange) if one.cause == suspicion.cause)
        return next(same, suspicion)

    def _breaks_promise(self, suspicion: Suspicion, shown: tuple[Exchange, ...]) -> bool:
        semantics = Semantics(self._contract, self._schemas)
        return any(one.cause == suspicion.cause for exchange in shown for one in semantics.judge(exchange))

    def _stays(self, suspicion: Suspicion, last: Exchange, replay: Replay) -> bool:
        """What is not there at once may be there a moment later, and what is still there may go: look twice."""
        return replay.last_with(last.draft).response.status == last.response.status

    def _refuses(self, shown: tuple[Exchange, ...]) -> bool:
        """Refused again, while the request that works, if there is one, works again or is known already (409)."""
        refused = shown[-1].response.status in REFUSALS and self._keeping.kept(shown[-1].draft)
        working = [one for one in shown[:-1] if one.operation.id == shown[-1].operation.id]
        return refused and all(one.ok or one.response.status == 409 for one in working)

    def _smallest(self, suspicion: Suspicion, replay: Replay, shown: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
        """The story with a smaller last draft; where what was done before is the point, it stays as it is."""
        best, fixed = shown, replay.bound()
        in_vain: list[Draft] = []
        if suspicion.kind in SEMANTIC | {Kind.VALID_REFUSED}:
            return best
        if suspicion.kind is Kind.CRASH:
            replay.sparingly(_DEADLY_TRIES if shown[-1].response.status is None else 0, _QUICK_SECONDS)

        def holds(draft: Draft) -> bool:
            nonlocal best
            smaller = self._worth_sending(suspicion, shown[-1].draft, draft)
            if smaller is None or smaller in in_vain:
                return False
            exchange = replay.last_with(smaller)
            if not self._shows_alone(suspicion, exchange):
                in_vain.append(smaller)
                return False
            best = (*shown[:-1], exchange)
            return True

        with suppress(Spent, Ended):  # the smallest so far will do
            small = without_parts(self._schemas, shown[-1].draft, holds, fixed)
            if suspicion.kind not in _WHOLE_VALUES:
                shortened(small, holds, fixed)
        return best

    def _worth_sending(self, suspicion: Suspicion, before: Draft, draft: Draft) -> Draft | None:
        """A smaller draft that could show the same: it breaks nothing new, and when it breaks nothing it says so."""
        breaks = self._keeping.broken(draft)
        if breaks is None:
            return draft
        had = self._keeping.broken(before) or ()
        allowed = {(one.place, one.keyword) for one in had}
        if any((one.place, one.keyword) not in allowed for one in breaks):
            return None
        if not breaks:
            return None if suspicion.kind is Kind.INVALID_ACCEPTED else replace(draft, broken=None)
        ours = had and before.broken == sentence(had[0])
        return replace(draft, broken=sentence(breaks[0])) if ours else draft


def _stories(kind: Kind, steps: Sequence[Exchange]) -> Iterable[tuple[int, ...]]:
    """The steps it needs; none, if that does not do; those, and what else was done, to the same thing or at all."""
    short = needed(kind, steps)
    alone = short if kind is Kind.VALID_REFUSED else ()  # a refusal means nothing without what works
    more = (needed(kind, steps, also) for also in other_writes(steps, short))
    return dict.fromkeys((short, alone, *(numbers[-LONGEST_STORY:] for numbers in more)))


def _makes_what_it_needs(kind: Kind, replay: Replay) -> bool:
    """All that it needs was done again, and what worked the first time worked."""
    wanted = needed(kind, replay.steps)
    again = all(number in replay.fresh and _as_before(replay, number) for number in wanted)
    return again and not any(replay.rests(number) for number in replay.fresh)


def _what_worked(replay: Replay) -> tuple[Exchange, ...]:
    """Without the steps that did nothing this time: it shows without them."""
    last = len(replay.steps) - 1
    return tuple(one for number, one in replay.fresh.items() if number == last or _as_before(replay, number))


def _as_before(replay: Replay, number: int) -> bool:
    return replay.fresh[number].ok or not replay.steps[number].ok


def _in_short(suspicion: Suspicion, steps: Sequence[Exchange]) -> tuple[Exchange, ...]:
    ordered = _in_order(steps)
    return tuple(ordered[number] for number in (*needed(suspicion.kind, ordered), len(ordered) - 1))


def _in_order(steps: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Each exchange once; the judged one last, whatever its number.

    One that only found the service gone is left out: the last that was answered is what is held against it.
    """
    if steps[-1].response.found_nobody and len(steps) > 1:
        steps = steps[:-1]
    before = {step.number: step for step in steps[:-1] if step.number != steps[-1].number}
    return (*(before[number] for number in sorted(before)), steps[-1])
