"""The things one request is built on so far: what goes with them is preferred to strangers."""

from whet.skills.api.contract.model import Json
from whet.skills.api.learning.entities import Entity

_IDENTITIES = ("id", "uuid", "data.id")


class Company:
    """Nothing in it: everybody is welcome."""

    def __init__(self) -> None:
        self._members: set[int] = set()
        self._own: set[Json] = set()  # their identities
        self._told: set[Json] = set()  # and whatever they tell

    def __bool__(self) -> bool:
        return bool(self._members)

    def join(self, entity: Entity) -> None:
        if id(entity) not in self._members:
            self._members.add(id(entity))
            self._told.update(entity.fields.values())
            self._own.add(_identity(entity))
            self._own.discard(None)

    def welcomes(self, entity: Entity) -> bool:
        """One of them; or one of both names the other by its identity."""
        if id(entity) in self._members or _identity(entity) in self._told:
            return True
        return not self._own.isdisjoint(entity.fields.values())


def _identity(entity: Entity) -> Json:
    return next((entity.fields[name] for name in _IDENTITIES if name in entity.fields), None)
