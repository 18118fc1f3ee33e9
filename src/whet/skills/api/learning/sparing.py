"""Sparing the last thing of its kind that nobody here can make again.

A service that comes with one workspace, and no operation to make another, has little left to test once that is gone.
"""

from collections.abc import Callable, Sequence

from whet.skills.api.contract.model import Operation
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.paths import collection_of, prefixes


class Sparing:
    def __init__(self, operations: Sequence[Operation], entities: Entities) -> None:
        self._entities = entities
        self._makers: dict[str, list[Operation]] = {}
        for operation in operations:
            if operation.method in {"POST", "PUT"}:
                self._makers.setdefault(collection_of(operation.path), []).append(operation)

    def spares(self, operation: Operation, worked: Callable[[Operation], bool]) -> bool:
        if operation.method != "DELETE":
            return False
        kind = collection_of(operation.path)
        if any(map(worked, self._makers.get(kind, ()))):
            return False
        if not operation.path.rstrip("/").endswith("}"):  # all of them
            return self._entities.lives(kind)
        return self._entities.distinct(kind, prefixes(operation.path)[-1][1], most=2) == 1
