"""What cannot be made again is deleted last: all that hangs on it would be out of reach for the rest of the run.

A service that comes with one workspace, and no operation to make another, has lost it for good after one DELETE.
"""

from collections.abc import Callable, Sequence

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.origins import READS, is_made
from whet.skills.api.learning.paths import collection_of, prefixes


class Sparing:
    def __init__(self, operations: Sequence[Operation], entities: Entities) -> None:
        self._entities = entities
        self._makers: dict[str, list[Operation]] = {}
        for operation in operations:
            if operation.method in {"POST", "PUT"}:
                self._makers.setdefault(collection_of(operation.path), []).append(operation)

    def spares(self, operation: Operation, worked: Callable[[Operation], bool]) -> bool:
        """The last one that was there before this run; all of them, where nobody makes such things."""
        if operation.method != "DELETE":
            return False
        kind = collection_of(operation.path)
        if not operation.path.rstrip("/").endswith("}"):
            made_anew = any(map(worked, self._makers.get(kind, ())))
            return not made_anew and any(self._was_there(one, "") for one in self._entities.alive(kind))
        name = prefixes(operation.path)[-1][1]
        if self._entities.distinct(kind, name, most=2) != 1:
            return False
        return any(self._was_there(one, name) for one in self._entities.alive(kind))

    def _was_there(self, thing: Entity, name: str) -> bool:
        """It came of nothing that was made in this run."""
        if any(step.operation.method not in READS for step in self._entities.story([thing])):
            return False
        return name not in thing.fields or not self._is_made_above(thing.kind, thing.fields[name])

    def _is_made_above(self, kind: str, own: Json) -> bool:
        """/tags/name/{name} is another way to one of /tags."""
        above = (things for other, things in self._entities.by_kind.items() if kind.startswith(other.rstrip("/") + "/"))
        return any(
            own in one.fields.values() and is_made(self._entities.story([one])) for things in above for one in things
        )
