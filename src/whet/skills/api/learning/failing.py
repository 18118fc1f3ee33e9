"""Values that made an operation fail: what reads a parameter of that name there may read it in other operations too."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from whet.skills.api.contract.model import Json
from whet.skills.api.mutations.places import Place
from whet.skills.api.values.slots import NOTHING, Absent

_MOST_VALUES = 8  # for each name
_MOST_NAMES = 200
_LONGEST = 2_000  # as JSON: a longer one takes too much room to be kept, and mostly fails by its length
_PATIENCE = 4  # operations that take it without failing, after which a value is let go


@dataclass(slots=True)
class Value:
    value: Json
    family: str  # of the mutation that found it
    tried: set[str] = field(default_factory=set)  # operations
    failed: int = 1
    held: int = 0  # times that it did no harm

    @property
    def promise(self) -> float:
        return (self.failed + 1) / (self.failed + self.held + 2)


class Failing:
    """By part of the request and name (`order` of a query, `If-Match` of a header), and by what is written: true is
    not 1, and what is not a number is itself."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, Value]] = {}

    def value(self, operation: str, place: Place) -> Json | Absent:
        """The most promising one that this operation has not been sent there."""
        known = [one for one in self._known.get(_key(place), {}).values() if operation not in one.tried]
        return max(known, key=lambda one: one.promise).value if known else NOTHING

    def family(self, place: Place, value: Json) -> str:
        """Of the mutation that first put this value in such a place."""
        known = self._known.get(_key(place), {}).get(_text(value))
        return known.family if known else ""

    def tell(self, operation: str, place: Place, value: Json, failed: bool, family: str = "") -> bool:
        """What came of sending it; whether it is new that it fails."""
        values, text = self._known.get(_key(place), {}), _text(value)
        known = values.get(text)
        if known is None:
            return failed and self._learn(_key(place), text, Value(value, family, {operation}))
        known.tried.add(operation)
        known.failed += failed
        known.held += not failed
        if known.held - known.failed >= _PATIENCE:
            del values[text]
        return False

    def _learn(self, key: tuple[str, str], text: str, value: Value) -> bool:
        if not 0 < len(text) <= _LONGEST or (key not in self._known and len(self._known) >= _MOST_NAMES):
            return False
        values = self._known.setdefault(key, {})
        if len(values) < _MOST_VALUES:
            values[text] = value
        return text in values

    def kept(self) -> list[dict[str, Any]]:
        known = [(part, name, one) for (part, name), values in self._known.items() for one in values.values()]
        return [{"part": part, "name": name, **asdict(one), "tried": sorted(one.tried)} for part, name, one in known]

    def restore(self, kept: Iterable[Mapping[str, Any]]) -> None:
        for one in kept:
            value = Value(one["value"], one["family"], set(one["tried"]), one["failed"], one["held"])
            self._learn((one["part"], one["name"]), _text(one["value"]), value)


def merge_failing(kept: Iterable[Mapping[str, Any]], mine: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What two runs at once learned, in any order: each value once, tried where either tried it."""
    found: dict[str, Mapping[str, Any]] = {}
    for one in (*kept, *mine):
        name = json.dumps([one["part"], one["name"], one["value"]], sort_keys=True)
        other = found.get(name, one)
        larger = {count: max(one[count], other[count]) for count in ("failed", "held", "family")}
        found[name] = {**one, "tried": sorted({*one["tried"], *other["tried"]}), **larger}
    best = sorted(found, key=lambda name: (found[name]["held"] - found[name]["failed"], name))
    return [found[name] for name in best[: _MOST_NAMES * _MOST_VALUES]]


def _key(place: Place) -> tuple[str, str]:
    return place.where, place.name


def _text(value: Json) -> str:
    """Nothing for what JSON cannot say."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return ""
