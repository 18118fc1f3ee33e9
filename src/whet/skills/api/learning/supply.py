"""Making what a request needs: when nothing of a kind lives, an operation that makes one comes first."""

from collections.abc import Iterator, Sequence

from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.dependencies import Dependencies, Edge
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.paths import collection_of
from whet.skills.api.values.slots import Source

_SURE = 0.5
_PATIENCE = 3.0  # failures in a row after which a maker is left alone
_FORGIVING = 0.95


class Supply:
    def __init__(
        self, operations: Sequence[Operation], entities: Entities, dependencies: Dependencies, drafting: Drafting
    ) -> None:
        self._entities, self._dependencies, self._drafting = entities, dependencies, drafting
        self._makers: dict[str, list[Operation]] = {}
        self._failed: dict[str, float] = {}
        self._refused_at: dict[str, int] = {}
        for operation in operations:
            if operation.method in {"POST", "PUT"}:
                self._makers.setdefault(collection_of(operation.path), []).append(operation)

    def maker(self, made: Made) -> Operation | None:
        """An operation that worked before and makes what this request lacks; None when nothing lacks, or nobody can."""
        for kind in self._lacking(made):
            for operation in self._makers.get(kind, ()):
                able = operation.id in self._drafting.worked and operation is not made.draft.operation
                if able and self._patient(operation.id):
                    return operation
        return None

    def tell(self, exchange: Exchange) -> None:
        """A search that works and finds nothing has made nothing."""
        operation = exchange.operation
        made = exchange.ok and self._entities.lives(collection_of(operation.path))
        self._failed[operation.id] = 0.0 if made else self._failed.get(operation.id, 0) + 1
        if not exchange.ok:
            self._refused_at[operation.id] = exchange.number

    def _patient(self, operation: str) -> bool:
        """A maker that keeps failing is left alone for a while, not for ever."""
        failed = self._failed.get(operation, 0.0)
        self._failed[operation] = failed * _FORGIVING
        return failed < _PATIENCE

    def _lacking(self, made: Made) -> Iterator[str]:
        """Kinds that a slot would take its value from, if one lived; also where it had to do with something worse."""
        operation = made.draft.operation
        for place, source in made.sources.items():
            slot, taken = self._drafting.slot(operation, place), made.taken.get(place)
            if source is not Source.OBSERVED and slot is not None:
                yield from (kind for kind in self._dependencies.wanted(slot, _SURE) if not self._entities.lives(kind))
            elif operation.id not in self._drafting.worked and taken is not None and taken.edge is not None:
                yield from self._better(taken.edge, taken.entity) if taken.edge.slot.required else ()

    def _better(self, edge: Edge, entity: Entity) -> Iterator[str]:
        """Another kind; or a new one of the same, where those of before were refused: they may be gone, or used up."""
        yield from (kind for kind in self._dependencies.better(edge, _SURE) if not self._entities.lives(kind))
        since = self._refused_at.get(edge.slot.operation, 0)
        if entity.doubtful or (
            since
            and not any(one.story and one.story[-1].number > since for one in self._entities.youngest(edge.kind, 1))
        ):
            yield edge.kind
