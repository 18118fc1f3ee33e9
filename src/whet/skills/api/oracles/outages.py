"""Telling a request that breaks the service from a service that is away.

Silence is catching: after a request that hangs or kills the service, the next ones are silent too and are not to blame.
So only the first silence counts until the service has answered again. A service that cannot be reached any more is
held against the request before, the last it answered. And 503 is how a healthy service says "not now": it becomes a
suspicion only where one operation says it again and again while others are served in between.
"""

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.causes import suspicion

UNAVAILABLE = 503
REPEATS = 3  # so many 503 of one operation, each with another answer of the service since the one before


class Outages:
    def __init__(self) -> None:
        self._silent = False
        self._last_answered: Exchange | None = None
        self._served = 0  # answers other than 503
        self._refusals: dict[str, tuple[int, int]] = {}  # by operation: how often, and `_served` at the last

    def admit(self, exchange: Exchange, shown: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
        """What of the symptoms is this request's own doing."""
        status = exchange.response.status
        if status is None:
            return self._silence(exchange, shown)
        self._silent, self._last_answered = False, exchange
        if status != UNAVAILABLE:
            self._served += 1
            return shown
        return shown if self._unavailable_again(exchange) else ()

    def _silence(self, exchange: Exchange, shown: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
        first, self._silent = not self._silent, True
        if not first:
            return ()
        before = self._last_answered
        if exchange.response.found_nobody and before is not None:
            title, detail = (
                "is the last request before the service was gone",
                "Nothing could be reached after it.",
            )
            return (suspicion(before, Kind.CRASH, "service gone", title, detail),)
        return shown

    def last_answered(self) -> Exchange | None:
        return self._last_answered

    def _unavailable_again(self, exchange: Exchange) -> bool:
        if exchange.operation.answer(UNAVAILABLE) is not None or exchange.response.header("retry-after") is not None:
            return False
        times, served = self._refusals.get(exchange.operation.id, (0, -1))
        if self._served > served:
            times += 1
        self._refusals[exchange.operation.id] = (times, self._served)
        return times >= REPEATS
