"""What stands before the service and says 502, 503 or 504 in its place: the service is away, no request is to blame.

What tells that from a request which breaks the service: one that was answered before is not answered now either. It is
sent again with growing pauses until it is; then the request in question is. Where the known one is answered at once and
the request fails as before, the answer is its own, and the oracles judge it.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from whet.skills.api.exchange import Draft, Exchange

AWAY = frozenset({502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_WITHOUT_COMPARISON = 4.0  # seconds, as long as nothing was ever answered: it may be how the service is


class Away(Exception):
    """It did not come back in time."""


class Gateway:
    def __init__(
        self, send: Callable[[Draft], Exchange], pause: Callable[[float], object], patience_seconds: float
    ) -> None:
        self._send, self._pause, self._patience = send, pause, patience_seconds
        self._known: Draft | None = None  # the last plain reading that was answered
        self._own: set[tuple[str, int | None]] = set()  # operation and status that were the request's own doing
        self.times, self.seconds = 0, 0.0
        self.hear: Callable[[str], object] = lambda _: None

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange, or the one that took its place after waiting."""
        answer = (exchange.operation.id, exchange.response.status)
        if exchange.response.status not in AWAY:
            if exchange.ok and exchange.operation.method == "GET" and exchange.draft.mutation is None:
                self._known = exchange.draft
            return exchange
        if answer in self._own:
            return exchange
        at_once = self._known is not None and not _away(self._send(self._known))
        if not at_once and not self._waited_for(exchange):
            self._own.add(answer)
            return exchange
        again = self._send(exchange.draft)
        if at_once and again.response.status == exchange.response.status:
            self._own.add(answer)
            return again
        self.times += at_once
        return replace(again, response=replace(again.response, resent=True))

    def note(self) -> str | None:
        if not self.times:
            return None
        return (
            f"Something before the service answered 502, 503 or 504 in its place, {self.times} "
            f"time{'s' * (self.times > 1)}; it was waited for, {self.seconds:.1f} s in all, and not held against it."
        )

    def _waited_for(self, exchange: Exchange) -> bool:
        """False where there is nothing to compare with: nothing was ever answered."""
        probe, patience = self._known or exchange.draft, self._patience
        if self._known is None:
            patience = min(patience, _WITHOUT_COMPARISON)
        self.hear(f"{exchange.response.status} instead of an answer: waiting up to {patience:.0f} s for the service.")
        started, pause = time.monotonic(), _FIRST_PAUSE
        waited = 0.0
        while waited < patience:
            step = min(pause, patience - waited)
            self._pause(step)
            waited, pause = waited + step, min(2 * pause, _LONGEST_PAUSE)
            if not _away(self._send(probe)):
                self.times += 1
                self.seconds += time.monotonic() - started
                return True
        if self._known is None:
            return False
        raise Away


def _away(exchange: Exchange) -> bool:
    return exchange.response.status in AWAY or exchange.response.status is None
