"""The fields of an agent's state, one by one, as numbers that can be compared or as names that can be counted.

What a number means and how it is scaled is the deep policies' own coding, so that one unit is the same everywhere: a
hundred times as much for what has no bounds, the whole range for what has.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from whet.core.records import State
from whet.policies.deep.fields import Coding, coding_of

_NUMBERS = ("signed log", "count", "from ")
_UNKNOWN = "unknown?"


class Feature(NamedTuple):
    """`number` is None for a name. `bounded` numbers cannot be further out than their type allows."""

    name: str
    path: tuple[str, ...]
    number: Callable[[Any], float] | None
    bounded: bool

    def raw(self, state: State) -> Any:
        value: Any = state
        for part in self.path:
            value = getattr(value, part)
        return value

    def value(self, state: State) -> float | None:
        """Of a number: scaled, or None when it is unknown."""
        raw = self.raw(state)
        return None if raw is None or self.number is None else self.number(raw)

    def shown(self, state: State) -> str:
        """For people; of collections that are counted, the count."""
        raw = self.raw(state)
        if raw is None:
            return "unknown"
        if self.number is not None:
            return f"{raw if isinstance(raw, int | float) else len(raw):.4g}"
        return raw if isinstance(raw, str) else json.dumps(raw, sort_keys=True, default=str)


@cache
def features(state_type: type[State]) -> tuple[Feature, ...]:
    """In the order in which they are declared; records inside of records are opened.

    RefusedInput when a field has no coding.
    """
    return tuple(_features(state_type, ()))


def _features(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[Feature]:
    for name, field in model.model_fields.items():
        here = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _features(field.annotation, here)
        else:
            yield _feature(here, coding_of(".".join(here), field))


def _feature(path: tuple[str, ...], coding: Coding) -> Feature:
    spell = coding.spell.removeprefix(_UNKNOWN)
    name = ".".join(path).removeprefix("situation.")
    number = (lambda raw: float(coding.numbers(raw)[-1])) if spell.startswith(_NUMBERS) else None
    return Feature(name, path, number, bounded=not spell.startswith(("signed log", "count")))
