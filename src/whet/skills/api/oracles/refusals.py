"""When a refusal of valid input is the service's fault.

Contracts leave things out: that an id must exist, that a name must be new, that an end comes after its start. One 400
to a draft that keeps to the contract is therefore weak evidence, and most of it would be false alarm. Three patterns
are strong, where the refusal speaks of nothing that depends on state:
- one slot, changed within what the contract says exactly (`slots.closed`), turns a request that works into one that is
  refused, and the refusal speaks of no other slot;
- a value the contract lists is always refused, and others are not (`favourites`);
- an operation whose drafts consist of such slots only has refused `NEVER` different ones alike and accepted none.
"""

import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.answers import valid
from whet.skills.api.oracles.causes import suspicion
from whet.skills.api.oracles.favourites import Favourites
from whet.skills.api.oracles.reading import readable
from whet.skills.api.oracles.slots import ABSENT, Place, closed, difference, placed, schema_at, slots
from whet.skills.api.oracles.symptoms import REFUSALS, excerpt

NEVER = 10
KEPT = 4  # working requests remembered of each operation
ASKED = 3  # times a slot is probed
_STATE = re.compile(
    r"already|exist|duplicat|unique|taken|not found|unknown|no such|conflict|expired|in use|permission|quota|exceed"
    r"|depend|foreign", re.IGNORECASE
)  # fmt: skip


@dataclass(slots=True)
class _History:
    favourites: Favourites
    accepted: deque[Exchange] = field(default_factory=lambda: deque(maxlen=KEPT))
    refused: dict[str, list[Draft]] = field(default_factory=dict)  # different drafts by cause, while none was accepted
    asked: Counter[Place] = field(default_factory=Counter)


class Refusals:
    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._by_operation: dict[str, _History] = {}
        self._working: dict[str, Exchange] = {}  # by cause: the request that works

    def admit(self, exchange: Exchange, shown: tuple[Suspicion, ...]) -> tuple[Suspicion, ...]:
        """The symptoms without refusals, and the refusals that stand."""
        history = self._history(exchange.operation.id)
        if exchange.ok:
            self._accepted(exchange, history)
        kept = tuple(one for one in shown if one.kind is not Kind.VALID_REFUSED)
        if len(kept) == len(shown):
            return kept
        return kept + self._standing(exchange, history, next(one for one in shown if one.kind is Kind.VALID_REFUSED))

    def _history(self, operation: str) -> _History:
        if operation not in self._by_operation:
            self._by_operation[operation] = _History(Favourites(self._schemas))
        return self._by_operation[operation]

    def _accepted(self, exchange: Exchange, history: _History) -> None:
        history.refused.clear()
        if valid(exchange.draft):
            history.accepted.append(exchange)
            history.favourites.count(exchange.draft, accepted=True)

    def working(self, refusal: Suspicion) -> Exchange | None:
        """The request that works and differs in one slot: the other half of the proof."""
        return self._working.get(refusal.cause)

    def probes(self, exchange: Exchange) -> list[Draft]:
        """Working requests with one slot of a refused draft each, to learn which one is refused. Asked once a slot."""
        history = self._by_operation.get(exchange.operation.id)
        if exchange.response.status not in REFUSALS or not valid(exchange.draft) or not history or not history.accepted:
            return []
        working, refused = history.accepted[-1].draft, exchange.draft
        places = difference(working, refused)
        if len(places) < 2:
            return []
        sent = slots(refused)
        open_places = (place for place in places if history.asked[place] < ASKED)
        new = list(islice((place for place in open_places if self._closed(refused, place, sent)), 2))
        history.asked.update(new)
        return [placed(working, place, sent.get(place, ABSENT)) for place in new]

    def _standing(self, exchange: Exchange, history: _History, shown: Suspicion) -> tuple[Suspicion, ...]:
        text = readable(exchange.response.body)[:4000]
        if _STATE.search(text):
            return ()
        history.favourites.count(exchange.draft, accepted=False)
        for working in reversed(history.accepted):
            places = difference(working.draft, exchange.draft)
            if len(places) == 1 and self._contradicts(exchange.draft, places[0], text):
                return (self._in_one_slot(working, exchange, places[0]),)
        never = history.favourites.never_taken(exchange.draft)
        if never is not None and history.accepted:
            return (self._in_one_slot(history.accepted[-1], exchange, never),)
        return () if history.accepted else self._never(exchange, history, shown)

    def _contradicts(self, draft: Draft, place: Place, text: str) -> bool:
        sent = slots(draft)
        others = {str(other[-1]) for other in sent if other != place and len(str(other[-1])) > 2}
        return self._closed(draft, place, sent) and not any(
            re.search(rf"\b{re.escape(name)}\b", text) for name in others
        )

    def _closed(self, draft: Draft, place: Place, sent: Mapping[Place, Json]) -> bool:
        value = sent.get(place, ABSENT)
        return place[0] != "path" and closed(schema_at(self._schemas, draft, place), str(place[-1]), value)

    def _in_one_slot(self, working: Exchange, exchange: Exchange, place: Place) -> Suspicion:
        value = slots(exchange.draft).get(place, ABSENT)
        slot = ".".join(map(str, place))
        told = "without it" if value is ABSENT else f"with {str(value)[:80]!r}"
        found = suspicion(
            exchange, Kind.VALID_REFUSED, slot, f"refuses what its contract allows in {slot}",
            f"It works with another {slot}; {told} it is answered {exchange.response.status}: {excerpt(exchange)}"
        )  # fmt: skip
        self._working[found.cause] = working
        return found

    def _never(self, exchange: Exchange, history: _History, shown: Suspicion) -> tuple[Suspicion, ...]:
        drafts = history.refused.setdefault(shown.cause, [])
        sent = slots(exchange.draft)
        if len(history.refused) > 1 or not all(self._closed(exchange.draft, place, sent) for place in sent):
            return ()
        if len(drafts) < NEVER and all(difference(one, exchange.draft) for one in drafts):
            drafts.append(exchange.draft)
        return (shown,) if len(drafts) >= NEVER else ()
