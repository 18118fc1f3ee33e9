"""What cannot be made again is deleted last: all that hangs on it would be out of reach for the rest of the run.

A service that comes with one workspace, and no operation to make another, has lost it for good after one DELETE. And
accounts that were there before are not written to: one of them may be our own, and lets nobody in under a new name.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.origins import READS, identities
from whet.skills.api.learning.paths import collection_of, prefixes

_PASSWORD = re.compile(r"passw|passphrase|pwd", re.IGNORECASE)


def takes_a_password(schemas: Schemas, operation: Operation) -> bool:
    bodies = (schemas.merged(body.schema).get("properties") for body in operation.bodies)
    return any(
        _PASSWORD.search(name) for properties in bodies if isinstance(properties, Mapping) for name in properties
    )


class Sparing:
    def __init__(self, operations: Sequence[Operation], entities: Entities, schemas: Schemas) -> None:
        self._entities = entities
        self._makers: dict[str, list[Operation]] = {}
        for operation in operations:
            if operation.method in {"POST", "PUT"}:
                self._makers.setdefault(collection_of(operation.path), []).append(operation)
        self._accounts = {
            kind for kind, makers in self._makers.items() if any(takes_a_password(schemas, one) for one in makers)
        }

    def spares(self, operation: Operation, worked: Callable[[Operation], bool]) -> bool:
        """Until the end: what was there before this run, and all of them where nobody makes such things."""
        if operation.method != "DELETE":
            return self.spares_accounts(operation)
        kind = collection_of(operation.path)
        if not operation.path.rstrip("/").endswith("}"):
            made_anew = any(map(worked, self._makers.get(kind, ())))
            return not made_anew and any(self._was_there(one, "") for one in self._entities.alive(kind))
        name, alive = prefixes(operation.path)[-1][1], self._entities.alive(kind)
        return bool(alive) and all(self._was_there(one, name) for one in alive)

    def spares_to_the_last(self, operation: Operation) -> bool:
        """An account that was there before may be our own: there is no way back."""
        kind = collection_of(operation.path)
        return kind in self._accounts and self.spares(operation, lambda _: False)

    def spares_accounts(self, operation: Operation) -> bool:
        """A write to an account, while all that live are to be left alone."""
        named = self._account(operation)
        alive = self._entities.alive(named[0]) if named else []
        return bool(alive) and all(self._leaves_alone(operation.id, one) for one in alive)

    def _leaves_alone(self, operation_id: str, entity: Entity) -> bool:
        """Whether this is an account that was there before, or our own, and the operation writes to it."""
        if operation_id.partition(" ")[0] in READS or entity.kind not in self._accounts:
            return False
        return self._entities.is_own(entity) or not self._entities.is_made(entity)

    def account_named(self, draft: Draft) -> str | None:
        """The part of a path by which it would write to such an account, however it came by its name."""
        kind, name = self._account(draft.operation) or ("", "")
        own, left = str(draft.path.get(name)), (one for one in self._entities.alive(kind))
        alone = (one for one in left if self._leaves_alone(draft.operation.id, one))
        known = any(own in map(str, (one.fields.get(field) for field in identities(kind))) for one in alone)
        return name if known else None

    def _account(self, operation: Operation) -> tuple[str, str] | None:
        """The kind, and what the path calls it."""
        named = ((collection_of(prefix), name) for prefix, name in prefixes(operation.path))
        return next((one for one in named if one[0] in self._accounts), None)

    def _was_there(self, thing: Entity, name: str) -> bool:
        """It came of nothing that was made in this run."""
        if self._entities.is_made(thing):
            return False
        return name not in thing.fields or not self._is_made_above(thing.kind, thing.fields[name])

    def _is_made_above(self, kind: str, own: Json) -> bool:
        """/tags/name/{name} is another way to one of /tags."""
        above = (things for other, things in self._entities.by_kind.items() if kind.startswith(other.rstrip("/") + "/"))
        return any(own in one.fields.values() and self._entities.is_made(one) for things in above for one in things)
