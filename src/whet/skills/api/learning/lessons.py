"""What one exchange teaches, and whom: each part of a request by its share."""

from dataclasses import dataclass

from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.blame import blamed
from whet.skills.api.learning.dependencies import Dependencies, Edge
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.novelty import News
from whet.skills.api.learning.paths import prefixes
from whet.skills.api.learning.readiness import Readiness
from whet.skills.api.learning.recall import Taken
from whet.skills.api.learning.sequencing import Sequencing, Step
from whet.skills.api.learning.sources import Sources
from whet.skills.api.learning.supply import Supply

_GONE = frozenset({404, 410})
_TAUGHT = 4.0
_WAS_GONE = 2.0  # how little a refusal says when what the path named was not there
_SAYS_LITTLE = 0.25  # what has found nothing may have looked for anything
_MOST_WAITING = 4
_NAMES_FAILED = 2.0  # refusals of an operation that never worked, after which names are no longer all that counts
_BACK = 0.3  # of what a request brought, to those that made what it was built on


@dataclass(frozen=True, slots=True)
class Lessons:
    sequencing: Sequencing
    supply: Supply
    drafting: Drafting
    sources: Sources
    dependencies: Dependencies
    entities: Entities
    readiness: Readiness

    def learn(self, step: Step, made: Made, exchange: Exchange, news: News) -> None:
        self.sequencing.tell(step, news.answer, news, self._patience(step, made, exchange))
        self.sequencing.saw(step.operation.id, news.answer)
        for taken in made.taken.values():
            self.sequencing.credit(taken.entity.made_by, _BACK * news.worth / len(made.taken))
        if step.kind is None:
            self.supply.tell(exchange)
            self._values(made, exchange)
            if not self.sequencing.worked(step.operation) and self.sequencing.refusals(step.operation) >= _NAMES_FAILED:
                self.dependencies.widen(step.operation.id)
            self.drafting.remember(made, exchange.ok)

    def _patience(self, step: Step, made: Made, exchange: Exchange) -> float:
        """More with what others wait for, and where a refusal said what is missing."""
        if step.kind is not None or exchange.ok:
            return 1.0
        taught = _TAUGHT if self.drafting.hints.listen(exchange) else 1.0
        if exchange.response.status in _GONE and any(place.startswith("path.") for place in made.taken):
            taught *= _WAS_GONE
        return taught * (1 + min(_MOST_WAITING, self.readiness.opens(step.operation, self.sequencing)))

    def things(self, made: Made, exchange: Exchange) -> None:
        """Only whether the things it was built on are still there."""
        for taken in made.taken.values():
            self._taken(taken, exchange, guilt=0.0)

    def _values(self, made: Made, exchange: Exchange) -> None:
        """All values share in a success; a refusal counts against those it is about."""
        places, sure = (set(made.sources), 1.0) if exchange.ok else blamed(exchange, made.sources)
        said = _SAYS_LITTLE if _found_nothing(exchange) else sure
        guilty = {place: made.sources[place] for place in places}
        self.sources.tell(exchange.operation.id, guilty, float(exchange.ok), sure)
        if exchange.ok or any(where.startswith("path.") for where in guilty):
            known = any(where.startswith("path.") for where in made.taken)
            self.sources.tell_path(exchange.operation.id, known, float(exchange.ok))
        for where, taken in made.taken.items():
            self._taken(taken, exchange, said if where in guilty else 0.0)
        self._creation(made, exchange)

    def _creation(self, made: Made, exchange: Exchange) -> None:
        """Whether a PUT makes what its path names; where what leads there is not known to be there, nobody knows."""
        named = [f"path.{name}" for _, name in prefixes(exchange.operation.path)]
        if exchange.operation.method != "PUT" or not named or named[-1] in made.taken:
            return
        if exchange.ok or (exchange.response.status in _GONE and all(one in made.taken for one in named[:-1])):
            self.sources.tell_creation(exchange.operation.id, exchange.ok)

    def _taken(self, taken: Taken, exchange: Exchange, guilt: float) -> None:
        edge = taken.edge
        gone, worked = exchange.response.status in _GONE, self.sequencing.worked(exchange.operation)
        if exchange.ok:
            self.entities.found(taken.entity)
        elif gone and worked and (edge is None or self.dependencies.trusted(edge)):
            # The way was right before: it is the thing that is gone.
            self.entities.not_found(taken.entity, taken.field)
            return
        elif gone and (worked or edge is None or self.dependencies.served(edge) or self.dependencies.is_plain(edge)):
            self.entities.doubt(taken.entity)
            if not worked:
                if guilt and edge is not None and _names_what_is_asked_for(edge):
                    self.dependencies.doubt(edge, guilt)
                return
        if guilt and edge is not None:
            self.dependencies.tell(edge, float(exchange.ok), guilt)


def _found_nothing(exchange: Exchange) -> bool:
    return exchange.ok and exchange.response.body.strip() == b"[]"


def _names_what_is_asked_for(edge: Edge) -> bool:
    """The last value of a path: those above it lead there, and others may have gone through them."""
    named = prefixes(edge.slot.operation.partition(" ")[2])
    return edge.slot.where == "path" and bool(named) and named[-1][1] == edge.slot.name
