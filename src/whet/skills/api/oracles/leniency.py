"""Whether a service that reads "5" as 5 does so on purpose.

Many frameworks read text as the number it spells, everywhere, and their contracts say integer all the same. That is a
habit and no fault. Where a service refuses such input in several places and takes it in one, that one is a slip.
"""

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.breaches import slot
from whet.skills.api.oracles.causes import LENIENTLY, cause, plain
from whet.skills.api.oracles.keeping import Keeping

REFUSED = 3  # places that refuse, before it counts as strict
FEW = 3  # times as many places that refuse as that accept
MOST = 5_000


class Leniency:
    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._refused: set[str] = set()
        self._accepted: set[str] = set()

    def admit(self, exchange: Exchange, shown: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
        """The symptoms without what a lenient service accepts by habit."""
        if exchange.response.status in (400, 422) and len(self._refused) < MOST and self._forgivable(exchange):
            self._refused.add(self._place(exchange))
        return tuple(one for one in shown if not _lenient(one) or self._slip(one))

    def _forgivable(self, exchange: Exchange) -> bool:
        return exchange.draft.broken is not None and self._keeping.forgivable(exchange.draft)

    def _place(self, exchange: Exchange) -> str:
        """Named as the suspicion would be if it had been accepted."""
        first, *_ = self._keeping.broken(exchange.draft) or ()
        return cause(Kind.INVALID_ACCEPTED, exchange.operation.id, LENIENTLY + plain(slot(first)))

    def _slip(self, accepted: Suspicion) -> bool:
        if len(self._accepted) < MOST:
            self._accepted.add(accepted.cause)
        return len(self._refused) >= max(REFUSED, FEW * len(self._accepted))


def _lenient(shown: Suspicion) -> bool:
    return shown.kind is Kind.INVALID_ACCEPTED and f" | {LENIENTLY}" in shown.cause
