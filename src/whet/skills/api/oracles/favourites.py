"""Values the contract lists and the service never takes.

For a slot with listed values (an enumeration, a boolean, the kind of an alternative) it is counted which of them valid
drafts got through with. One that was always refused, while others mostly get through, is refused for itself: told when
that many refusals in a row would come by chance less than once in a thousand.
"""

from dataclasses import dataclass, field

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.oracles.slots import Place, enumerated, schema_at, slots

CHANCE = 1e-3
ACCEPTED = 5  # drafts with other values, before anything is concluded
MOST_VALUES = 40


@dataclass(slots=True)
class _Tally:
    accepted: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    def never(self, value: str) -> bool:
        accepted, refused = sum(self.accepted.values()), sum(self.refused.values())
        times = self.refused.get(value, 0)
        if self.accepted.get(value) or accepted < ACCEPTED:
            return False
        otherwise_refused = (refused - times) / (accepted + refused - times)
        return max(otherwise_refused, 1 / accepted) ** times < CHANCE


class Favourites:
    """Of one operation."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._tallies: dict[Place, _Tally | None] = {}  # None: the slot has no listed values

    def count(self, draft: Draft, accepted: bool) -> None:
        for place, value in slots(draft).items():
            tally = self._tally(draft, place, value)
            if tally is not None:
                counts = tally.accepted if accepted else tally.refused
                if len(counts) < MOST_VALUES or repr(value) in counts:
                    counts[repr(value)] = counts.get(repr(value), 0) + 1

    def never_taken(self, draft: Draft) -> Place | None:
        """The slot of this draft whose listed value was always refused."""
        for place, value in slots(draft).items():
            tally = self._tallies.get(place)
            if tally is not None and tally.never(repr(value)):
                return place
        return None

    def _tally(self, draft: Draft, place: Place, value: Json) -> _Tally | None:
        if place not in self._tallies:
            schema = schema_at(self._schemas, draft, place) if place[0] != "path" else None
            self._tallies[place] = _Tally() if schema is not None and enumerated(schema, value) else None
        return self._tallies[place]
