"""Whether an operation can work now: what it needs exists, and nothing better has to come first."""

from collections.abc import Sequence

from whet.skills.api.contract.model import Operation
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.paths import collection_of, nameless, prefixes
from whet.skills.api.learning.sequencing import Sequencing
from whet.skills.api.values.slots import Slot

_PROMISING = 0.6
_PATIENCE = 4  # refusals after which an operation no longer keeps others waiting


class Readiness:
    def __init__(self, operations: Sequence[Operation], entities: Entities, dependencies: Dependencies) -> None:
        self._entities, self._dependencies = entities, dependencies
        self._promises: dict[Slot, tuple[int, bool]] = {}
        self._needs = {operation.id: _needed(operation) for operation in operations}
        self._waiting: dict[str, list[Operation]] = {}  # by the kind of thing they need
        for operation in operations:
            need = self._needs[operation.id]
            if need is not None:
                self._waiting.setdefault(need[0], []).append(operation)
        self._users = {one.id: _users(one, operations) for one in operations if one.method == "DELETE"}

    def ready(self, operation: Operation) -> bool:
        need = self._needs[operation.id]
        if need is None:
            return True
        kind, slot = need
        return self._entities.lives(kind) or self._promising(slot)

    def opens(self, operation: Operation, sequencing: Sequencing) -> int:
        """How many operations that never worked need what this one makes."""
        if operation.method not in {"POST", "PUT"}:
            return 0
        waiting = self._waiting.get(collection_of(operation.path), ())
        return sum(one is not operation and not sequencing.worked(one) for one in waiting)

    def _promising(self, slot: Slot) -> bool:
        """Asked at every turn of every operation, so remembered until new fields are met."""
        met = self._entities.fields.size
        known = self._promises.get(slot)
        if known is None or known[0] != met:
            known = self._promises[slot] = (met, self._dependencies.promise(slot) >= _PROMISING)
        return known[1]

    def waits(self, operation: Operation, sequencing: Sequencing) -> bool:
        """Deleting the last thing of its kind waits for what still needs one."""
        if operation.method != "DELETE":
            return False
        need = self._needs[operation.id]
        if need is None or self._entities.distinct(need[0], need[1].name, most=2) != 1:
            return False  # where nothing lives there is nothing to lose
        return sequencing.worked(operation) or any(
            not sequencing.worked(user) and sequencing.refusals(user) < _PATIENCE for user in self._users[operation.id]
        )


def _needed(operation: Operation) -> tuple[str, Slot] | None:
    """The deepest thing its path names; a PUT may make that one itself, and needs only what is above."""
    schemas = {one.name: one.schema for one in operation.parameters if one.where == "path"}
    named = [(prefix, name) for prefix, name in prefixes(operation.path) if name in schemas]
    if operation.method == "PUT" and operation.path.rstrip("/").endswith("}"):
        named = named[:-1]
    if not named:
        return None
    prefix, name = named[-1]
    return collection_of(prefix), Slot(operation.id, f"path.{name}", schemas[name], True)


def _users(deleting: Operation, operations: Sequence[Operation]) -> list[Operation]:
    return [
        one for one in operations if one.method != "DELETE" and nameless(one.path).startswith(nameless(deleting.path))
    ]
