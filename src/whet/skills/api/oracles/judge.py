"""Judging every exchange of a run.

    judge = Judge(contract, schemas)
    for suspicion in judge.judge(exchange):
        steps = (*judge.evidence(suspicion), exchange)

A false alarm costs more than a miss: a person who has looked into two of them stops looking. Every rule here gives the
service the benefit of the doubt, and says in its module what it forgives.
"""

from collections import OrderedDict

from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.leniency import Leniency
from whet.skills.api.oracles.outages import Outages
from whet.skills.api.oracles.refusals import Refusals
from whet.skills.api.oracles.symptoms import Symptoms

REMEMBERED = 500  # suspicions whose other exchanges are kept


class Judge:
    """Sees the exchanges of one run in their order; what it keeps is bounded by the number of operations."""

    def __init__(self, contract: Contract, schemas: Schemas) -> None:
        self.symptoms = Symptoms(contract, schemas)
        self._outages = Outages()
        self._leniency = Leniency(self.symptoms.keeping)
        self._refusals = Refusals(schemas)
        self._gone: OrderedDict[str, Exchange] = OrderedDict()

    def judge(self, exchange: Exchange) -> tuple[Suspicion, ...]:
        before = self._outages.last_answered()
        found = self._outages.admit(exchange, self.symptoms.of(exchange))
        if exchange.response.found_nobody and found and before is not None:
            self._remember(found[0], before)
        if exchange.response.status is None:
            return found
        return self._refusals.admit(exchange, self._leniency.admit(exchange, found))

    def probes(self, exchange: Exchange) -> list[Draft]:
        """What to send to learn whether a refusal of valid input is a fault; the caller decides whether it pays."""
        return self._refusals.probes(exchange)

    def evidence(self, suspicion: Suspicion) -> tuple[Exchange, ...]:
        """What the suspicion rests on besides the judged exchange: the request that works, or the last one answered."""
        if suspicion.kind is Kind.VALID_REFUSED:
            other = self._refusals.working(suspicion)
        else:
            other = self._gone.get(suspicion.cause)
        return () if other is None else (other,)

    def _remember(self, suspicion: Suspicion, last_answered: Exchange) -> None:
        self._gone[suspicion.cause] = last_answered
        if len(self._gone) > REMEMBERED:
            self._gone.popitem(last=False)
