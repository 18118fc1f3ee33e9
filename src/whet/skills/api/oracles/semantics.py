"""Whether what the service says it did is so: created things can be read, deleted ones cannot, updates stay.

Two ways: `judge` notices it in what the run happens to send, `probes` says what to send to find out. A promise is only
held against the service while nothing else was written in between: ids are used again, parents take their children
along, and no caller could tell whose doing it was. So the latest write is all that has to be remembered, with the last
reading of every path.

    semantics = Semantics(contract, schemas)
    for suspicion in semantics.judge(exchange):
        steps = (*semantics.evidence(suspicion), exchange)
    drafts = semantics.probes(exchange)

Forgiven: 202 and every answer that speaks of later, of archives or of marks; a thing that still is there but changed
(soft deletion); dry runs; reading with a query, without credentials, or from a cache.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator
from urllib.parse import unquote

from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.answers import valid
from whet.skills.api.oracles.causes import suspicion
from whet.skills.api.oracles.created import Reading, last_parameter, reading_draft
from whet.skills.api.oracles.promises import Write, filled, not_created, still_there
from whet.skills.api.oracles.reading import parsed
from whet.skills.api.oracles.routing import Routing
from whet.skills.api.oracles.slots import Place, enumerated, schema_at, slots
from whet.skills.api.oracles.updates import lost
from whet.skills.api.oracles.versions import Versions

REMEMBERED = 500  # readings and suspicions
SHAPES, LOOKS = 5_000, 2  # of writes; and how often each is looked into at first
LARGEST = 64_000  # bytes of an answer worth remembering
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_REHEARSED = re.compile(r"dry|soft|archiv|preview|validate|simulat|test_only|check_only|async", re.IGNORECASE)


class Semantics:
    """Sees the exchanges of one run in their order."""

    def __init__(self, contract: Contract, schemas: Schemas) -> None:
        self._schemas = schemas
        self._routing = Routing(contract)
        self._reading = Reading(contract)
        self._read: OrderedDict[str, Exchange] = OrderedDict()  # by path: what was last told of it
        self._readers: dict[str, Draft] = {}  # by operation: a reading that worked
        self._versions = Versions()
        self._looked: Counter[tuple[str, ...]] = Counter()
        self._latest: Write | None = None
        self._evidence: OrderedDict[str, tuple[Exchange, ...]] = OrderedDict()

    def judge(self, exchange: Exchange) -> tuple[Suspicion, ...]:
        if exchange.response.status is None:
            self.forget()  # a service that died may have forgotten too
            return ()
        if exchange.request.method in _SAFE_METHODS:
            return self._look(exchange)
        found = self._overwrote(exchange)
        self._wrote(exchange)
        return found

    def probes(self, exchange: Exchange) -> list[Draft]:
        """The reading that tells whether the write just judged is so; none where nothing could be concluded."""
        write = self._latest
        if write is None or write.exchange is not exchange:
            return []
        if (write.before is None and exchange.operation.method != "POST") or not self._new_enough(exchange.draft):
            return []
        reading = reading_draft(write.reader, write.values, self._readers.get(write.reader.id))
        again = self._versions.probe(write.path, exchange)
        return [draft for draft in (reading, again) if draft is not None]

    def forget(self) -> None:
        """Begin anew: something was, or may have been, done to the service that this has not seen."""
        self._latest = None
        self._read.clear()
        self._versions = Versions()

    def _new_enough(self, draft: Draft) -> bool:
        """The first writes of each shape, then ever fewer: requests are better spent on what was not looked into."""
        key = (draft.operation.id, *(_shape(place, value) for place, value in slots(draft).items()))
        if key not in self._looked and len(self._looked) >= SHAPES:
            return False
        self._looked[key] += 1
        times = self._looked[key]
        return times <= LOOKS or times & (times - 1) == 0

    def evidence(self, of: Suspicion) -> tuple[Exchange, ...]:
        """The reading before and the write, which the judged exchange contradicts."""
        return self._evidence.get(of.cause, ())

    def _overwrote(self, exchange: Exchange) -> tuple[Suspicion, ...]:
        path = self._path(exchange)
        found = self._versions.overwritten(path, exchange) if self._routing.sure(exchange) else None
        self._versions.see(path, exchange)
        if found is None:
            return ()
        self._keep(found[0].cause, found[1])
        return (found[0],)

    def _wrote(self, exchange: Exchange) -> None:
        status = exchange.response.status
        if status is not None and 300 <= status < 500:
            return  # refused: nothing was written
        self._latest = self._promise(exchange) if self._plain_write(exchange) else None
        if self._latest is not None:
            self._read.pop(self._latest.path, None)
        if self._latest is not None and exchange.operation.method == "POST":
            self._remember(self._latest.path, exchange)

    def _plain_write(self, exchange: Exchange) -> bool:
        draft, body = exchange.draft, exchange.draft.body
        names = (*draft.query, *draft.headers, *(body if isinstance(body, dict) else ()))
        rehearsed = any(_REHEARSED.search(str(name)) for name in names)
        done = exchange.ok and exchange.response.status != 202 and draft.credentials == "given"
        return done and not rehearsed and self._routing.sure(exchange)

    def _promise(self, exchange: Exchange) -> Write | None:
        if exchange.operation.method == "POST":
            made = self._reading.created(exchange)
            path = filled(*made) if made else ""
            return Write(exchange, path, *made, None) if made else None
        reader, path = self._reading.same(exchange.operation), self._path(exchange)
        if reader is None or exchange.operation.method not in ("PUT", "PATCH", "DELETE"):
            return None
        if exchange.operation.method == "DELETE" and self._is_a_setting(exchange.draft):
            return None
        return Write(exchange, path, reader, exchange.draft.path, self._read.get(path))

    def _is_a_setting(self, draft: Draft) -> bool:
        """The contract lists what may stand at the end of its path: deleted, such a thing has its default again."""
        name = last_parameter(draft.operation.path)
        schema = schema_at(self._schemas, draft, ("path", name))
        return schema is not None and enumerated(schema, draft.path.get(name))

    def _look(self, exchange: Exchange) -> tuple[Suspicion, ...]:
        if exchange.request.method != "GET" or not self._plain_reading(exchange):
            return ()
        path, found = self._path(exchange), tuple(self._broken(exchange))
        if exchange.ok and len(exchange.response.body) <= LARGEST:
            self._readers[exchange.operation.id] = exchange.draft
            self._versions.see(path, exchange)
            self._remember(path, exchange)
        return found

    def _plain_reading(self, exchange: Exchange) -> bool:
        required = {one.name for one in exchange.operation.parameters if one.required}
        plain = valid(exchange.draft) and set(exchange.draft.query) <= required
        return plain and exchange.response.header("age") is None and self._routing.sure(exchange)

    def _broken(self, exchange: Exchange) -> Iterator[Suspicion]:
        write = self._latest
        if write is None or write.path != self._path(exchange):
            return
        self._latest = None  # kept or not, the promise was for the next reading
        method, found = write.exchange.operation.method, None
        if method == "POST" and exchange.response.status in (404, 410):
            found = not_created(write, exchange)
        elif method == "DELETE" and exchange.ok:
            found = still_there(write, exchange)
        elif method in ("PUT", "PATCH") and exchange.ok:
            found = self._lost(write, exchange)
        if found is not None:
            before = () if write.before is None else (write.before,)
            self._keep(found.cause, (*before, write.exchange))
            yield found

    def _lost(self, write: Write, exchange: Exchange) -> Suspicion | None:
        if write.before is None or not valid(write.exchange.draft):
            return None
        before, after = parsed(write.before.response.body), parsed(exchange.response.body)
        one = next(lost(self._schemas, write.exchange.draft, before, after), None)
        if one is None:
            return None
        detail = f"{one.field} was set to {str(one.sent)[:80]!r} and is still {str(one.kept)[:80]!r}."
        return suspicion(write.exchange, Kind.LOST_UPDATE, "the old value stays", "loses what it was given", detail)

    def _path(self, exchange: Exchange) -> str:
        return unquote(self._routing.path(exchange))

    def _remember(self, path: str, exchange: Exchange) -> None:
        self._read[path] = exchange
        self._read.move_to_end(path)
        if len(self._read) > REMEMBERED:
            self._read.popitem(last=False)

    def _keep(self, cause: str, exchanges: tuple[Exchange, ...]) -> None:
        self._evidence[cause] = exchanges
        if len(self._evidence) > REMEMBERED:
            self._evidence.popitem(last=False)


def _shape(place: Place, value: Json) -> str:
    return f"{place} {value}" if isinstance(value, bool) else str(place)
