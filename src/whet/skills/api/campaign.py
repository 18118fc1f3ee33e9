"""One run of `whet api`: what is known first, then exploring, then making what was found sure and small."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Fault, Kind
from whet.skills.api.gateway import Away
from whet.skills.api.oracles.causes import root
from whet.skills.api.oracles.confirming import Confirming
from whet.skills.api.oracles.replaying import Ended
from whet.skills.api.oracles.symptoms import cut_before_the_answer
from whet.skills.api.retracing import Seen
from whet.skills.api.service import Service
from whet.skills.api.settled import is_fixed
from whet.skills.api.suspects import MOST_SUSPICIONS, Suspected, Suspects

_FOR_THE_TRAIL = 0.5  # of the budget, at most, to do again what worked and what failed in earlier runs
_FOR_KNOWN = 0.2  # and to look at those of their findings that did not show on the way
_FOR_CONFIRMING = 0.1  # of the budget, at most, kept for the end
_ENDING = 0.9  # of what is for exploring: from here on, what nobody can make again may be deleted
_ENDING_AGAIN = 0.45  # in a run that knows another: what that one reached is to be seen in the first half
_MOST_PER_FAULT = 40
_FEWEST = 12
_FOR_ONE_LOOK = 8  # it was made small when it was found


@dataclass(frozen=True, slots=True)
class Budget:
    """Whichever ends first; None is no limit. `back_seconds` is how long a service that went away is waited for."""

    requests: int | None = 2_000
    seconds: float | None = None
    back_seconds: float = 60.0


@dataclass(slots=True)
class Told:
    """What is known of one operation in this run."""

    statuses: Counter[str] = field(default_factory=Counter)
    reached_at: int | None = None


class Over(Ended):
    """The budget is spent, or the service did not come back."""


class Campaign:
    def __init__(
        self,
        contract: Contract,
        operations: Sequence[Operation],
        service: Service,
        explorer: Explorer,
        budget: Budget,
        known: Sequence[Fault] = (),
    ) -> None:
        self._service, self._explorer, self._budget = service, explorer, budget
        self._confirming = Confirming(contract, Schemas(contract))
        self._started = time.monotonic()
        service.most_requests = budget.requests
        self._gone = False  # for good: it is not waited for again
        self.operations = {operation.id: Told() for operation in operations}
        self._scope = frozenset(self.operations)
        self.suspects = Suspects(known)
        self.faults: list[Fault] = []
        self.fixed: list[Fault] = []
        self.not_retested = list(known)  # until they were
        self._met: list[Fault] = []  # again; what can then not be made sure of is not forgotten
        self.curve: list[tuple[int, int, int]] = []
        self.notes: list[str] = []
        self._replayed: deque[Exchange] = deque(maxlen=_MOST_PER_FAULT)  # while a known fault is looked at

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def affected(self, fault: Fault) -> tuple[str, ...]:
        """The operations that showed the same root cause."""
        suspected = self.suspects.of(fault)
        return tuple(suspected.operations) if suspected else (fault.suspicion.operation,)

    def turns(self) -> Iterator[Exchange]:
        """Every exchange of exploring, for whoever shows progress. Ends with the budget."""
        ending = _ENDING_AGAIN if self._explorer.trail.ways else _ENDING
        try:
            yield from self._retrace()
            self._look_again()
            for seen in self._explorer.turns(lambda: self._spent(ending * (1.0 - self._reserve()))):
                self._take_in(seen)
                yield seen.exchange
                if self._spent(1.0 - self._reserve()):
                    return
        except Over:
            return
        except Away:
            self._away()

    def retest(self) -> None:
        """Only what earlier runs found, instead of `turns`."""
        with suppress(Over):
            self._look_again()

    def conclude(self) -> None:
        """Confirm and make small what was suspected, the worst first, with what is left of the budget."""
        for one in self.suspects.by_urgency():
            if one.again:
                self._tell(one, one.confirmed())
        waiting = [one for one in self.suspects.by_urgency() if not one.again]
        made = []
        for one, fault in self._made_sure_of(waiting):
            made.append(fault)
            if fault.confirmed and not fault.rests:  # at once: whoever breaks off keeps what is sure by then
                self._tell(one, fault)
        self._try_again(waiting, made)
        for one, fault in zip(waiting, made, strict=True):
            if not one.told:
                self._tell(one, fault)
        self._part()
        self._settle()
        self._mark()

    def _part(self) -> None:
        """What ends our session comes after everything: there may be no way back."""
        with suppress(Over, Away):
            if self._left() > 0 and not self._gone:
                for seen in self._explorer.part():
                    self._take_in(seen)
                    if self._spent(1.0):
                        break
        self.faults += [one.unsure() for one in self.suspects.by_root.values() if not one.told]

    def _try_again(self, waiting: Sequence[Suspected], made: list[Fault]) -> None:
        """What did not show, or not on its own, may do so with the things it was last seen with, and what is left."""
        unsure = [at for at, fault in enumerate(made) if fault.rests or not fault.confirmed]
        tried = [one if one.latest is None else replace(one, suspicion=one.latest[0], steps=one.latest[1])
                 for one in (waiting[at] for at in unsure)]  # fmt: skip
        for at, (_, fault) in zip(unsure, self._made_sure_of(tried), strict=True):
            if fault.confirmed and not (made[at].confirmed and fault.rests):
                made[at] = fault

    def _made_sure_of(self, waiting: Sequence[Suspected]) -> Iterator[tuple[Suspected, Fault]]:
        for at, one in enumerate(waiting):
            share = (self._left() - self._explorer.parting) // max(1, len(waiting) - at)
            least = min(_FEWEST, 2 * len(one.steps))  # to see it again; to make it small waits for others
            yield one, self._confirmed(one, min(_MOST_PER_FAULT, max(least, share)))

    def _tell(self, one: Suspected, fault: Fault) -> None:
        """A connection that was cut once and not again is a note: networks do that too."""
        one.told = True
        if fault.confirmed:
            self._explorer.trail.shorten(fault.suspicion.cause, fault.steps)
        if fault.confirmed or fault.suspicion.kind is not Kind.CRASH or self._gone:
            self.faults.append(fault)
        else:
            cut, answered = one.steps[-1], one.is_faint
            later = "; it was answered when it was sent again" if answered else ", but not again"
            self.notes.append(f"The connection was cut at request {cut.number} ({cut.operation.id}){later}.")

    def abandon(self) -> None:
        """Broken off: what was suspected is told as it stands."""
        self.faults += [one.unsure() for one in self.suspects.by_root.values() if not one.told]
        self._settle()

    def _settle(self) -> None:
        """What was met again while exploring is neither fixed nor unknown, whatever the first look said."""
        self.fixed = [fault for fault in self.fixed if self.suspects.of(fault) is None]
        told = {root(fault.suspicion.cause) for fault in self.faults}
        waiting = (*self.not_retested, *self._met)
        self.not_retested = [fault for fault in waiting if root(fault.suspicion.cause) not in told]
        self._met = []

    def progress(self) -> tuple[int, int, int]:
        """Requests sent, operations reached, causes suspected."""
        reached = sum(told.reached_at is not None for told in self.operations.values())
        return self._service.requests, reached, len(self.suspects)

    def send(self, draft: Draft) -> Exchange:
        """For everything but exploring: counted in the same budget."""
        if self._gone or self._spent(1.0) or self._left() <= self._explorer.parting:
            raise Over
        try:
            exchange = self._service.send(draft, fresh=True)  # so that a cut connection is no accident
        except Away:
            self._away()
            raise Over from None
        self._replayed.append(exchange)
        self._count(exchange)
        self._heal(exchange)
        login = self._service.access.listen(exchange)
        if login is not None:
            self.send(login)
        return exchange

    def _retrace(self) -> Iterator[Exchange]:
        for seen in self._explorer.retrace():
            self._take_in(seen)
            for suspicion in seen.suspicions:
                self.suspects.met_again(suspicion, (*seen.story, seen.exchange))
            yield seen.exchange
            if self._spent(_FOR_THE_TRAIL):
                return

    def _look_again(self) -> None:
        """What earlier runs found: still there, or fixed. A crash is not asked for again."""
        share = self._share() + _FOR_KNOWN
        for fault in list(self.not_retested):
            if self.suspects.of(fault) is not None:
                self.not_retested.remove(fault)
                self._met.append(fault)
            elif fault.suspicion.kind is not Kind.CRASH and self._in_scope(fault) and not self._spent(share):
                self._look_at(fault)

    def _look_at(self, fault: Fault) -> None:
        self._replayed.clear()
        requests = max(_FOR_ONE_LOOK, 2 * len(fault.steps))
        shown = self._confirming.as_told(fault.suspicion, fault.steps, self.send, requests)
        shown = shown or self._confirming.seen_again(fault.suspicion, fault.steps, self.send, requests)
        self._explorer.forget_writes()
        if shown is not None:
            self.suspects.add(fault.suspicion, shown)
            self.suspects.met_again(fault.suspicion, shown)
            self._met.append(fault)
        elif fault.confirmed and self._is_fixed(fault):
            self.fixed.append(fault)
        else:
            return
        self.not_retested.remove(fault)

    def _is_fixed(self, fault: Fault) -> bool:
        """By a replay in which all that led there went as it did; what rests on other things proves nothing."""
        *before, proof = fault.steps
        seen = [one for one in self._replayed if one.operation.id == proof.operation.id]
        worked = Counter(one.operation.id for one in self._replayed if one.ok)
        again = Counter(one.operation.id for one in before if one.ok) <= worked
        return not fault.rests and again and any(is_fixed(fault.suspicion.kind, proof, one) for one in seen)

    def _in_scope(self, fault: Fault) -> bool:
        return all(step.operation.id in self._scope for step in fault.steps)

    def _confirmed(self, one: Suspected, requests: int) -> Fault:
        try:
            # Whatever starts it again has done so before: one more crash proves which request it is.
            fault = self._confirming.confirm(one.suspicion, one.steps, self.send, requests, deadly=not self._gone)
        except Over:
            fault = Fault(one.suspicion, one.steps, confirmed=False)
        return replace(self._bare(fault), seen=one.seen)

    def _bare(self, fault: Fault) -> Fault:
        """Without the token that a login handed out, where the contract asks for none and it shows all the same."""
        unasked = all(not step.operation.security and step.draft.credentials == "given" for step in fault.steps)
        if not unasked or not fault.confirmed or self._service.access.handed_out is None:
            return fault
        steps = [replace(step, draft=replace(step.draft, credentials="none")) for step in fault.steps]
        with suppress(Over):
            shown = self._confirming.seen_again(fault.suspicion, steps, self.send, 2 * len(steps))
            return fault if shown is None else replace(fault, steps=shown)
        return fault

    def _take_in(self, seen: Seen) -> None:
        self._count(seen.exchange)
        self._service.access.came_by(seen.story, seen.exchange)
        cut = cut_before_the_answer(seen.exchange)
        if cut is not None:
            self.suspects.add(cut, (*seen.story, seen.exchange))
        for suspicion in seen.suspicions:
            evidence = self._explorer.evidence(suspicion)
            self.suspects.add(suspicion, (*seen.story, *evidence, seen.exchange))
        self._mark()
        self._heal(seen.exchange)

    def _count(self, exchange: Exchange) -> None:
        told = self.operations.setdefault(exchange.operation.id, Told())
        told.statuses[str(exchange.response.status or exchange.response.silence)] += 1
        if exchange.ok and told.reached_at is None:
            told.reached_at = exchange.number

    def _heal(self, exchange: Exchange) -> None:
        """A service that went away is waited for; one that does not come back ends the run."""
        if exchange.response.silence not in {"dropped", "unreachable"}:
            return
        if not self._service.back_within(self._budget.back_seconds):
            self.notes.append(
                f"The service went away at request {exchange.number} ({exchange.operation.id}) and did not come back "
                f"within {self._budget.back_seconds:.0f} s; the run ended there."
            )
            self._gone = True
            raise Over

    def _reserve(self) -> float:
        """The share of the budget that is kept for the end: no more than what there is to make sure of can take."""
        if self._budget.requests is None:
            return _FOR_CONFIRMING
        unsure = sum(not one.again for one in self.suspects.by_root.values())
        return min(_FOR_CONFIRMING, (_FEWEST * unsure + self._explorer.parting) / self._budget.requests)

    def _away(self) -> None:
        """Something before the service says that it is gone, to the end of our patience or of the budget."""
        if not self._spent(1.0):
            self.notes.append(
                f"From request {self._service.requests} on nothing but 502, 503 or 504 came back, for "
                f"{self._budget.back_seconds:.0f} s; the run ended there."
            )
            self._gone = True

    def _spent(self, share: float) -> bool:
        return self._share() >= share

    def _share(self) -> float:
        """How much of the budget is gone, by whichever ends first."""
        budget = self._budget
        sent = self._service.requests / budget.requests if budget.requests else 0.0
        return max(sent, self.seconds / budget.seconds if budget.seconds else 0.0)

    def _left(self) -> int:
        return MOST_SUSPICIONS if self._budget.requests is None else self._budget.requests - self._service.requests

    def _mark(self) -> None:
        point = self.progress()
        if not self.curve or self.curve[-1][1:] != point[1:]:
            self.curve.append(point)
