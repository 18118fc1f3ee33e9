"""One run of `whet api`: known faults first, then exploring, then making what was found sure and small."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.explorer import Explorer, Seen
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.oracles.causes import root
from whet.skills.api.oracles.confirming import Confirming
from whet.skills.api.oracles.symptoms import cut_before_the_answer
from whet.skills.api.service import Service
from whet.skills.api.settled import is_fixed

_FOR_KNOWN = 0.2  # of the budget, at most, to look again at what earlier runs found
_FOR_CONFIRMING = 0.1  # of the budget, kept for the end
_MOST_PER_FAULT = 40
_FEWEST = 12
_MOST_SUSPICIONS = 2_000
_URGENCY = (
    Kind.CRASH, Kind.TIMEOUT, Kind.SERVER_ERROR, Kind.MISSING_AUTH, Kind.READ_AFTER_DELETE, Kind.LOST_UPDATE,
    Kind.NOT_CREATED, Kind.INVALID_ACCEPTED, Kind.VALID_REFUSED, Kind.SCHEMA_VIOLATION, Kind.UNDOCUMENTED_STATUS,
    Kind.UNDOCUMENTED_MEDIA,
)  # fmt: skip


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


@dataclass(slots=True)
class Suspected:
    suspicion: Suspicion
    steps: tuple[Exchange, ...]
    operations: dict[str, None]
    seen: int = 1
    told: bool = False  # among the faults already


class Over(Exception):
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
        self._gone = False  # for good: it is not waited for again
        self.operations = {operation.id: Told() for operation in operations}
        self._scope = frozenset(self.operations)
        self.suspected: dict[str, Suspected] = {}  # by root cause
        self.faults: list[Fault] = []
        self.fixed: list[Fault] = []
        self.not_retested = list(known)  # until they were
        self.curve: list[tuple[int, int, int]] = []
        self.notes: list[str] = []
        self._replayed: deque[Exchange] = deque(maxlen=_FEWEST)  # while a known fault is looked at

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def affected(self, fault: Fault) -> tuple[str, ...]:
        """The operations that showed the same root cause."""
        suspected = self.suspected.get(root(fault.suspicion.cause))
        return tuple(suspected.operations) if suspected else (fault.suspicion.operation,)

    def turns(self) -> Iterator[Exchange]:
        """Every exchange of exploring, for whoever shows progress. Ends with the budget."""
        try:
            self._look_again()
            for seen in self._explorer.turns():
                self._take_in(seen)
                yield seen.exchange
                if self._spent(1.0 - _FOR_CONFIRMING):
                    return
        except Over:
            return

    def conclude(self) -> None:
        """Confirm and make small what was suspected, the worst first, with what is left of the budget."""
        waiting = sorted(self.suspected.values(), key=lambda one: _URGENCY.index(one.suspicion.kind))
        for at, one in enumerate(waiting):
            share = self._left() // max(1, len(waiting) - at)
            self._tell(one, self._confirmed(one, min(_MOST_PER_FAULT, max(_FEWEST, share))))
        self._settle()
        self._mark()

    def _tell(self, one: Suspected, fault: Fault) -> None:
        """A connection that was cut once and not again is a note: networks do that too."""
        one.told = True
        if fault.confirmed or fault.suspicion.kind is not Kind.CRASH or self._gone:
            self.faults.append(fault)
        elif one.steps[-1].response.status is None:
            cut = one.steps[-1]
            self.notes.append(f"The connection was cut at request {cut.number} ({cut.operation.id}), but not again.")

    def abandon(self) -> None:
        """Broken off: what was suspected is told as it stands."""
        waiting = [one for one in self.suspected.values() if not one.told]
        self.faults += [Fault(one.suspicion, one.steps, confirmed=False, seen=one.seen) for one in waiting]
        self._settle()

    def _settle(self) -> None:
        """What was met again while exploring is neither fixed nor unknown, whatever the first look said."""
        self.fixed = [fault for fault in self.fixed if root(fault.suspicion.cause) not in self.suspected]
        self.not_retested = [one for one in self.not_retested if root(one.suspicion.cause) not in self.suspected]

    def progress(self) -> tuple[int, int, int]:
        """Requests sent, operations reached, causes suspected."""
        reached = sum(told.reached_at is not None for told in self.operations.values())
        return self._service.requests, reached, len(self.suspected)

    def send(self, draft: Draft) -> Exchange:
        """For everything but exploring: counted in the same budget."""
        if self._gone or self._spent(1.0):
            raise Over
        exchange = self._service.send(draft, fresh=True)  # so that a cut connection is no accident
        self._replayed.append(exchange)
        self._count(exchange)
        self._heal(exchange)
        return exchange

    def _look_again(self) -> None:
        """What earlier runs found: still there, or fixed. A crash is not asked for again."""
        for fault in list(self.not_retested):
            if fault.suspicion.kind is Kind.CRASH or not self._in_scope(fault) or self._spent(_FOR_KNOWN):
                continue
            self._replayed.clear()
            again = self._confirming.confirm(fault.suspicion, fault.steps, self.send, requests=_FEWEST)
            self._explorer.forget_writes()
            if again.confirmed:
                self._suspect(again.suspicion, again.steps)
            elif fault.confirmed and self._is_fixed(fault):
                self.fixed.append(fault)
            else:
                continue
            self.not_retested.remove(fault)

    def _is_fixed(self, fault: Fault) -> bool:
        """By any of the replays: the last one may have gone without the steps that make what it needs."""
        proof = fault.steps[-1]
        seen = [one for one in self._replayed if one.operation.id == proof.operation.id]
        return any(is_fixed(fault.suspicion.kind, proof, one) for one in seen)

    def _in_scope(self, fault: Fault) -> bool:
        return all(step.operation.id in self._scope for step in fault.steps)

    def _confirmed(self, one: Suspected, requests: int) -> Fault:
        try:
            # Whatever starts it again has done so before: one more crash proves which request it is.
            fault = self._confirming.confirm(one.suspicion, one.steps, self.send, requests, deadly=not self._gone)
        except Over:
            fault = Fault(one.suspicion, one.steps, confirmed=False)
        return Fault(fault.suspicion, fault.steps, fault.confirmed, one.seen)

    def _take_in(self, seen: Seen) -> None:
        self._count(seen.exchange)
        cut = cut_before_the_answer(seen.exchange)
        if cut is not None:
            self._suspect(cut, (*seen.story, seen.exchange))
        for suspicion in seen.suspicions:
            evidence = self._explorer.evidence(suspicion)
            self._suspect(suspicion, (*seen.story, *evidence, seen.exchange))
        self._mark()
        self._heal(seen.exchange)

    def _suspect(self, suspicion: Suspicion, steps: tuple[Exchange, ...]) -> None:
        known = self.suspected.get(root(suspicion.cause))
        if known is not None:
            known.seen += 1
            known.operations.setdefault(suspicion.operation)
        elif len(self.suspected) < _MOST_SUSPICIONS:
            self.suspected[root(suspicion.cause)] = Suspected(suspicion, steps, {suspicion.operation: None})

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

    def _spent(self, share: float) -> bool:
        budget = self._budget
        return (budget.requests is not None and self._service.requests >= share * budget.requests) or (
            budget.seconds is not None and self.seconds >= share * budget.seconds
        )

    def _left(self) -> int:
        return _MOST_SUSPICIONS if self._budget.requests is None else self._budget.requests - self._service.requests

    def _mark(self) -> None:
        point = self.progress()
        if not self.curve or self.curve[-1][1:] != point[1:]:
            self.curve.append(point)
