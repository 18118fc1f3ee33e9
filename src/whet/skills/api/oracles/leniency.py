"""Whether a service that reads "5" as 5 does so on purpose.

Many frameworks read text as the number it spells, everywhere, and their contracts say integer all the same. That is a
habit and no fault. Where a service refuses such input in several places and takes it in one, that one is a slip. It is
counted for each type that is sent: who reads text as a number need not read a number as text.
"""

from collections import defaultdict

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.breaches import Breach, slot
from whet.skills.api.oracles.causes import LENIENTLY, cause, plain
from whet.skills.api.oracles.keeping import Keeping

REFUSED = 3  # places that refuse, before it counts as strict
FEW = 3  # times as many places that refuse as that accept
MOST = 5_000


class Leniency:
    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._refused: defaultdict[str, set[str]] = defaultdict(set)  # by the type that was sent
        self._accepted: defaultdict[str, set[str]] = defaultdict(set)

    def admit(self, exchange: Exchange, shown: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
        """The symptoms without what a lenient service accepts by habit."""
        if exchange.response.status in (400, 422) and self._forgivable(exchange):
            first = self._first(exchange)
            refused = self._refused[self._keeping.sent_as(exchange.draft, first)]
            if len(refused) < MOST:
                refused.add(cause(Kind.INVALID_ACCEPTED, exchange.operation.id, LENIENTLY + plain(slot(first))))
        return tuple(one for one in shown if not _lenient(one) or self._slip(one, exchange))

    def _forgivable(self, exchange: Exchange) -> bool:
        return exchange.draft.broken is not None and self._keeping.forgivable(exchange.draft)

    def _first(self, exchange: Exchange) -> Breach:
        first, *_ = self._keeping.broken(exchange.draft) or ()
        return first

    def _slip(self, shown: Suspicion, exchange: Exchange) -> bool:
        sent = self._keeping.sent_as(exchange.draft, self._first(exchange))
        accepted = self._accepted[sent]
        if len(accepted) < MOST:
            accepted.add(shown.cause)
        return len(self._refused[sent]) >= max(REFUSED, FEW * len(accepted))


def _lenient(shown: Suspicion) -> bool:
    return shown.kind is Kind.INVALID_ACCEPTED and f" | {LENIENTLY}" in shown.cause
