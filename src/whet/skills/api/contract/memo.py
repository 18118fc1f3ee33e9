"""Results by the identity of what they were made from: schemas are dicts, which have no hash but live on."""

from collections.abc import Callable
from typing import Generic, TypeVar

from whet.skills.api.contract.model import Schema

Result = TypeVar("Result")
# Callers may hand in schemas of their own making; what was made from them must not pile up.
MOST_KEPT = 20_000


class Memo(Generic[Result]):
    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        # The schema is kept with its result: a freed one's identity may come again.
        self._kept: dict[int, tuple[Schema, Result]] = {}

    def get(self, schema: Schema, make: Callable[[Schema], Result]) -> Result:
        kept = self._kept.get(id(schema))
        if kept is not None:
            return kept[1]
        made = make(schema)
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[id(schema)] = (schema, made)
        return made
