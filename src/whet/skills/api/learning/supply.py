"""Making what a request needs: when nothing of a kind lives, an operation that makes one comes first."""

from collections.abc import Iterator, Sequence

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.dependencies import Dependencies, Edge
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.paths import collection_of
from whet.skills.api.values.slots import Slot, Source

_SURE = 0.5
_PATIENCE = 3  # failures in a row after which a maker is left alone,
_REST = 8  # for so many requests, and twice as long after each failure more
_LONGEST_REST = 512


class Supply:
    def __init__(
        self, operations: Sequence[Operation], entities: Entities, dependencies: Dependencies, drafting: Drafting
    ) -> None:
        self._entities, self._dependencies, self._drafting = entities, dependencies, drafting
        self._makers: dict[str, list[Operation]] = {}
        self._failed: dict[str, int] = {}  # in a row
        self._failed_at: dict[str, int] = {}
        self._refused_at: dict[str, int] = {}
        self._now = 0  # number of the last request
        for operation in operations:
            if operation.method in {"POST", "PUT"}:
                self._makers.setdefault(collection_of(operation.path), []).append(operation)

    def maker(self, made: Made) -> Operation | None:
        """An operation that worked before and makes what this request lacks; None when nothing lacks, or nobody can."""
        makers = (one for kind in self._lacking(made) for one in self._makers.get(kind, ()))
        able = (one for one in makers if one.id in self._drafting.worked and one is not made.draft.operation)
        return next((one for one in able if self._patient(one.id)), None)

    def tell(self, exchange: Exchange) -> None:
        """A search that works and finds nothing has made nothing, whatever it found before."""
        operation = exchange.operation
        young = self._entities.youngest(collection_of(operation.path), 1)
        made = exchange.ok and any(one.story[-1].number == exchange.number for one in young if one.story)
        self._failed[operation.id] = 0 if made else self._failed.get(operation.id, 0) + 1
        self._now = exchange.number
        self._failed_at[operation.id] = exchange.number
        if not exchange.ok:
            self._refused_at[operation.id] = exchange.number

    def _patient(self, operation: str) -> bool:
        """A maker that keeps failing is left alone for longer and longer, not for ever."""
        more = self._failed.get(operation, 0) - _PATIENCE
        rested = self._now - self._failed_at.get(operation, 0)
        return more < 0 or rested >= min(_LONGEST_REST, _REST * 2**more)

    def _lacking(self, made: Made) -> Iterator[str]:
        """Kinds that a slot would take its value from, if one lived; also where it had to do with something worse."""
        operation = made.draft.operation
        for place, source in made.sources.items():
            slot, taken = self._drafting.slot(operation, place), made.taken.get(place)
            if source is not Source.OBSERVED and slot is not None:
                yield from (kind for kind in self._dependencies.wanted(slot, _SURE) if not self._entities.lives(kind))
            elif taken is not None and taken.edge is not None and taken.edge.slot.required:
                yield from self._surer(taken.edge.slot) if taken.entity.doubtful else ()
                yield from self._better(taken.edge) if operation.id not in self._drafting.worked else ()

    def _surer(self, slot: Slot) -> Iterator[str]:
        """All of them may be gone with something else."""
        wanted = self._dependencies.wanted(slot, _SURE)
        return (kind for kind in wanted if all(one.doubtful for one in self._entities.alive(kind)))

    def _better(self, edge: Edge) -> Iterator[str]:
        """Another kind; or a new one of the same, where those of before were refused: they may be gone, or used up."""
        yield from (kind for kind in self._dependencies.better(edge, _SURE) if not self._entities.lives(kind))
        since = self._refused_at.get(edge.slot.operation, 0)
        if since and not any(
            one.story and one.story[-1].number > since for one in self._entities.youngest(edge.kind, 1)
        ):
            yield edge.kind
