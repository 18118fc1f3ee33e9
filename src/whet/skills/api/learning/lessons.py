"""What one exchange teaches, and whom: each part of a request by its share."""

from dataclasses import dataclass

from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.blame import blamed, weight
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.mutating import Mutating
from whet.skills.api.learning.novelty import News
from whet.skills.api.learning.recall import Taken
from whet.skills.api.learning.sequencing import Sequencing, Step
from whet.skills.api.learning.sources import Sources
from whet.skills.api.learning.supply import Supply
from whet.skills.api.mutations.places import Place

_GONE = frozenset({404, 410})
_BACK = 0.3  # of what a request brought, to those that made what it was built on


@dataclass(frozen=True, slots=True)
class Lessons:
    sequencing: Sequencing
    supply: Supply
    drafting: Drafting
    mutating: Mutating
    sources: Sources
    dependencies: Dependencies
    entities: Entities

    def learn(self, step: Step, place: Place, made: Made, exchange: Exchange, news: News) -> None:
        """`place` is what a mutation changed."""
        self.sequencing.tell(step, exchange.response.status, news)
        self.sequencing.saw(step.operation.id, exchange.response.status)
        for taken in made.taken.values():
            self.sequencing.credit(taken.entity.made_by, _BACK * news.worth / len(made.taken))
        if step.kind is None:
            self.supply.tell(step.operation, exchange.ok)
            self.drafting.hints.listen(exchange)
            self._values(made, exchange)
            self.drafting.remember(made, exchange.ok)
        else:
            self.mutating.tell(step.kind, place, news.worth)

    def things(self, made: Made, exchange: Exchange) -> None:
        """Only whether the things it was built on are still there."""
        for taken in made.taken.values():
            self._taken(taken, exchange, guilty=False)

    def _values(self, made: Made, exchange: Exchange) -> None:
        """All values share in a success; a refusal counts against those it is about."""
        guilty = made.sources if exchange.ok else {p: made.sources[p] for p in blamed(exchange, made.sources)}
        self.sources.tell(exchange.operation.id, guilty, float(exchange.ok), weight(exchange))
        if exchange.ok or any(where.startswith("path.") for where in guilty):
            known = any(where.startswith("path.") for where in made.taken)
            self.sources.tell_path(exchange.operation.id, known, float(exchange.ok))
        for where, taken in made.taken.items():
            self._taken(taken, exchange, where in guilty)

    def _taken(self, taken: Taken, exchange: Exchange, guilty: bool) -> None:
        if exchange.ok:
            self.entities.found(taken.entity)
        elif exchange.response.status in _GONE and (taken.edge is None or self.dependencies.trusted(taken.edge)):
            self.entities.not_found(taken.entity)
            return  # the way was right before: it is the thing that is gone
        if guilty and taken.edge is not None:
            self.dependencies.tell(taken.edge, float(exchange.ok), weight(exchange))
