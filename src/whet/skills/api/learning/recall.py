"""Values from what the service showed before, for one request: its slots agree with each other."""

from dataclasses import dataclass

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.learning.company import Company
from whet.skills.api.learning.dependencies import Dependencies, Edge
from whet.skills.api.learning.entities import Entity
from whet.skills.api.learning.paths import prefix_of, prefixes
from whet.skills.api.values.slots import NOTHING, Absent, Slot


@dataclass(frozen=True, slots=True)
class Taken:
    """Where a slot's value came from. Without an edge it was settled by the thing another slot chose."""

    value: Json
    edge: Edge | None
    entity: Entity

    @property
    def field(self) -> str | None:
        return None if self.edge is None else self.edge.field


class Recall:
    """One request in the making. The deepest path parameter chooses first: its thing settles those above it."""

    def __init__(self, operation: Operation, dependencies: Dependencies) -> None:
        self._operation = operation
        self._dependencies = dependencies
        self._settled: dict[str, tuple[Json, Entity]] = {}  # by path prefix
        self._company = Company()
        self.taken: dict[str, Taken] = {}

    def observed(self, slot: Slot) -> Json | Absent:
        known = self.taken.get(slot.place)
        if known is None:
            known = self._path_value(slot) if slot.where == "path" else self._chosen(slot)
            if known is None:
                return NOTHING
            self.taken[slot.place] = known
        return known.value

    def _path_value(self, slot: Slot) -> Taken | None:
        if not self._settled:
            self._settle_from_the_deepest()
        prefix = prefix_of(self._operation.path, slot.name)
        if prefix in self._settled:
            value, entity = self._settled[prefix]
            return self.taken.get(slot.place) or Taken(value, None, entity)
        return self._chosen(slot)

    def _settle_from_the_deepest(self) -> None:
        schemas = {one.name: one.schema for one in self._operation.parameters if one.where == "path"}
        for prefix, name in reversed(prefixes(self._operation.path)):
            if name not in schemas:
                continue
            taken = self._chosen(Slot(self._operation.id, f"path.{name}", schemas[name], True))
            if taken is not None:
                self.taken[f"path.{name}"] = taken
                self._settled[prefix] = (taken.value, taken.entity)
                above = ((where, value) for where, value in taken.entity.place.items() if prefix.startswith(where))
                for where, value in above:
                    self._settled.setdefault(where, (value, taken.entity))
                return

    def _chosen(self, slot: Slot) -> Taken | None:
        beside = {prefix: value for prefix, (value, _) in self._settled.items()} if slot.where == "path" else {}
        chosen = self._dependencies.choose(slot, beside, self._company)
        if chosen is None:
            return None
        edge, entity = chosen
        self._company.join(entity)
        return Taken(entity.fields[edge.field], edge, entity)
