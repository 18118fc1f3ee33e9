"""Whether a service that keeps versions heeds them: a write that names an old version must not overwrite a newer one.

Only where the contract says so (it documents 412, or declares If-Match), and only while the version that holds is
known: after a write whose answer names none, the next reading has to tell it first.
"""

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.causes import suspicion

PATHS, EACH = 500, 3
PROBES = 3  # of each operation
_CONDITION = "if-match"


@dataclass(slots=True)
class _Seen:
    """The versions of one path, the latest last, each with the exchange that told it."""

    told: OrderedDict[str, Exchange] = field(default_factory=OrderedDict)
    written: Exchange | None = None  # the latest write
    sure: bool = True  # nothing was written since the latest was told


class Versions:
    def __init__(self) -> None:
        self._by_path: OrderedDict[str, _Seen] = OrderedDict()
        self._probed: dict[str, int] = {}

    def see(self, path: str, exchange: Exchange) -> None:
        """Take in what an answer tells of the version of its path."""
        tag = exchange.response.header("etag")
        if not exchange.ok or (tag is None and path not in self._by_path):
            return
        seen = self._by_path.setdefault(path, _Seen())
        self._by_path.move_to_end(path)
        if len(self._by_path) > PATHS:
            self._by_path.popitem(last=False)
        if exchange.operation.method != "GET":
            seen.written = exchange
        if tag is None:
            seen.sure = seen.sure and exchange.operation.method == "GET"
            return
        seen.told[tag], seen.sure = exchange, True
        seen.told.move_to_end(tag)
        while len(seen.told) > EACH:
            seen.told.popitem(last=False)

    def overwritten(self, path: str, exchange: Exchange) -> tuple[Suspicion, tuple[Exchange, ...]] | None:
        """The suspicion, with what told the old version, made the new one and told it; asked before `see`."""
        named, seen = _named(exchange), self._by_path.get(path)
        if not exchange.ok or named is None or seen is None or not seen.sure or not _promised(exchange.operation):
            return None
        latest = next(reversed(seen.told))
        if named not in seen.told or named == latest:
            return None
        detail = f"If-Match named {named[:60]}, but {latest[:60]} is there; it answered {exchange.response.status}."
        found = suspicion(exchange, Kind.LOST_UPDATE, "an old version passes", "overwrites a newer version", detail)
        behind = (seen.told[named], seen.written, seen.told[latest])
        return found, tuple({one.number: one for one in behind if one is not None}.values())

    def probe(self, path: str, exchange: Exchange) -> Draft | None:
        """The same write again, naming the version before it."""
        seen, operation = self._by_path.get(path), exchange.operation
        if seen is None or not seen.sure or len(seen.told) < 2 or not _promised(operation):
            return None
        if self._probed.get(operation.id, 0) >= PROBES or operation.method not in ("PUT", "PATCH"):
            return None
        self._probed[operation.id] = self._probed.get(operation.id, 0) + 1
        return _naming(exchange.draft, list(seen.told)[-2])


def _named(exchange: Exchange) -> str | None:
    return next((value for name, value in exchange.request.headers if name.lower() == _CONDITION), None)


def _promised(operation: Operation) -> bool:
    declared = any(one.where == "header" and one.name.lower() == _CONDITION for one in operation.parameters)
    return declared or any(answer.status == "412" for answer in operation.answers)


def _naming(draft: Draft, version: str) -> Draft:
    for one in draft.operation.parameters:
        if one.where == "header" and one.name.lower() == _CONDITION:
            return replace(draft, headers={**draft.headers, one.name: version})
    return replace(draft, extra=(("If-Match", version),))
