"""Making what a request needs: when nothing of a kind lives, an operation that makes one comes first."""

from collections.abc import Iterator, Sequence

from whet.skills.api.contract.model import Operation
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
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

    def tell(self, operation: Operation, ok: bool) -> None:
        self._failed[operation.id] = 0.0 if ok else self._failed.get(operation.id, 0) + 1

    def _patient(self, operation: str) -> bool:
        """A maker that keeps failing is left alone for a while, not for ever."""
        failed = self._failed.get(operation, 0.0)
        self._failed[operation] = failed * _FORGIVING
        return failed < _PATIENCE

    def _lacking(self, made: Made) -> Iterator[str]:
        """Kinds that a slot would take its value from, if one lived."""
        for place, source in made.sources.items():
            slot = self._drafting.slot(made.draft.operation, place)
            if source is not Source.OBSERVED and slot is not None:
                yield from (kind for kind in self._dependencies.wanted(slot, _SURE) if not self._entities.lives(kind))
