"""Noticing that we shut ourselves out: a write took our own rights away, and all that worked before is refused, or
fails: some services stumble over an account that is gone.

What is left of such a run shows little. The next one leaves the write alone.
"""

import re
from dataclasses import dataclass

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.origins import READS

_REFUSED = frozenset({401, 403})
_FAILS = 500
_ENDS = re.compile(
    r"/(?:log|sign)[-_]?(?:out|off)/?$|/(?:sessions?|tokens?|auth)/(?:revoke|end|invalidate)/?$", re.IGNORECASE
)
_SECRETS = r"(?:(?:api|access|auth)[-_]?)?(?:tokens?|keys?|passwords?|credentials?|secrets?)"
_ANEW = r"(?:re(?:set|voke|generate|new|create)|rotate|roll|invalidate|change)"
_OWN_SECRET = re.compile(rf"^[^{{]*/(?:{_ANEW}[-_]?(?:my[-_]?)?{_SECRETS}|{_SECRETS}/{_ANEW})/?$", re.IGNORECASE)
_OURSELVES = re.compile(
    r"^[^{]*/(?:me|self|myself|whoami|(?:current|own)[-_]?(?:user|account)|my[-_]?account)/?$", re.IGNORECASE
)
_SEVERAL = 5  # operations that worked and are refused now, before it is believed


@dataclass(frozen=True, slots=True)
class Lockout:
    write: Exchange
    since: int  # the first request that was refused
    operations: int  # that had worked, as many as were refused when it was noticed


class Lockouts:
    def __init__(self) -> None:
        self.known: set[str] = set()  # operations of earlier runs
        self.noticed: Lockout | None = None
        self._let_in: dict[str, int] = {}  # by operation: the last time
        self._shut: dict[
            str, tuple[int, Exchange | None]
        ] = {}  # what worked: since when it is refused, after which write
        self._last_write: Exchange | None = None

    def spares(self, operation: Operation) -> bool:
        return operation.id in self.known or ends_a_session(operation)

    def every(self) -> list[str]:
        return sorted(self.known | ({self.noticed.write.operation.id} if self.noticed is not None else set()))

    def listen(self, exchange: Exchange) -> None:
        """Only what was sent plainly, and as ourselves: odd headers are refused for themselves."""
        if self.noticed is not None or exchange.draft.credentials != "given":
            return
        name = exchange.operation.id
        if exchange.ok:
            self._let_in[name] = exchange.number
            self._shut.pop(name, None)
            if exchange.operation.method not in READS:
                self._last_write = exchange
        elif name in self._let_in and exchange.draft.mutation is None and _is_shut(exchange.response.status):
            self._shut.setdefault(name, (exchange.number, self._last_write))
            self._notice()

    def _notice(self) -> None:
        """One operation may be refused for reasons of its own; several in a row, and none of them let in again, not.
        But somebody whom half as many others let in meanwhile has not lost his rights: some services say 403 for
        what is not there."""
        since, write = sorted(self._shut.values(), key=lambda one: one[0])[-_SEVERAL:][0]
        let_in = sum(number > since for number in self._let_in.values())
        if len(self._shut) >= _SEVERAL and write is not None and 2 * let_in < len(self._shut):
            self.noticed = Lockout(write, since, len(self._shut))


def _is_shut(status: int | None) -> bool:
    return status in _REFUSED or (status is not None and status >= _FAILS)


def ends_a_session(operation: Operation) -> bool:
    """Its turn comes last: with a token that somebody gave there is no way back. What names nobody is about us."""
    if operation.method == "DELETE" and _OURSELVES.search(operation.path):
        return True
    return bool(_ENDS.search(operation.path) or _OWN_SECRET.search(operation.path))
