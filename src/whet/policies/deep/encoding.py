"""From the state of an agent to a row of numbers: the situation is one token, the agent's own fields are the others."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from whet.core.errors import RefusedInput
from whet.core.records import State
from whet.policies.deep.fields import Coding, Numbers, coding_of, followed_by_zeros
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Floats


class _Field(NamedTuple):
    path: tuple[str, ...]
    coding: Coding


class Encoder:
    """The layout follows from the type of the state: from its fields, their types and their order.

    >>> encoder = Encoder(ExecutorState)
    >>> row = encoder.row(state)  # encoder.layout.size numbers
    """

    def __init__(self, state_type: type[State], memories: int = 0, memory_width: int = 0) -> None:
        self.state_type = state_type
        fields = list(_fields(state_type, ()))
        width = max(_width(group) for group in (_of_situation(fields), *([field] for field in fields)))
        self.groups = [_of_situation(fields), *_packed([f for f in fields if f.path[0] != "situation"], width)]
        self.layout = Layout(
            tokens=len(self.groups),
            width=width,
            memories=memories,
            memory_width=memory_width,
            digest=_digest(self.groups, width, memories, memory_width),
        )
        # Decided once, so that a row needs few calls: one for all values, and one for the numbers of each.
        self._values = attrgetter(*(".".join(field.path) for group in self.groups for field in group))
        self._numbers = [coding for group in self.groups for coding in _filled(group, width)]
        self._no_memories = [0.0] * (self.layout.size - self.layout.state_size)

    @property
    def situation_size(self) -> int:
        """A row begins with as many numbers of the situation: the same ones for every agent."""
        return _width(self.groups[0])

    def row(self, state: State, memories: Sequence[Floats] = ()) -> Floats:
        """What was recalled comes behind; beyond what the layout has room for it is left out, the first are kept."""
        if type(state) is not self.state_type:
            raise RefusedInput(
                f"A {type(state).__name__} cannot be read as a {self.state_type.__name__}.", "Use its own encoder."
            )
        numbers: Numbers = []
        try:
            for numbers_of, value in zip(self._numbers, self._values(state), strict=True):
                numbers += numbers_of(value)
        except (KeyError, TypeError, OverflowError, AttributeError) as error:
            raise RefusedInput(f"This state cannot be encoded: {error!r}.", "Make it by `model_validate`.") from error
        row = np.array(numbers + self._no_memories, dtype=np.float32)
        for place, memory in enumerate(memories[: self.layout.memories]):
            self._put(row, place, memory)
        if not math.isfinite(row.dot(row)):
            raise RefusedInput("This state has numbers that are not finite.", "Unknown is None, not NaN.")
        return row

    def _put(self, row: Floats, place: int, memory: Floats) -> None:
        layout = self.layout
        if np.shape(memory) != (layout.memory_width,):
            raise RefusedInput(f"A memory has {layout.memory_width} numbers here, not {np.shape(memory)}.")
        first = layout.state_size + place * layout.memory_width
        row[first : first + layout.memory_width] = memory
        row[layout.size - layout.memories + place] = 1.0


def _fields(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[_Field]:
    """In the order in which they are declared; records inside of records are opened."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _fields(field.annotation, (*path, name))
        else:
            yield _Field((*path, name), coding_of(".".join((*path, name)), field))


def _of_situation(fields: Sequence[_Field]) -> list[_Field]:
    return [field for field in fields if field.path[0] == "situation"]


def _width(group: Sequence[_Field]) -> int:
    return sum(field.coding.size for field in group)


def _filled(group: Sequence[_Field], width: int) -> list[Callable[[Any], Numbers]]:
    """How each field becomes numbers; the last one's are followed by zeros, up to the width of a token."""
    *others, last = [field.coding for field in group]
    rest = width - _width(group)
    return [coding.numbers for coding in (*others, followed_by_zeros(last, rest) if rest else last)]


def _packed(fields: Sequence[_Field], width: int) -> list[list[_Field]]:
    """Neighbours share a token while they fit: what belongs together is mostly declared together."""
    groups: list[list[_Field]] = []
    for field in fields:
        if not groups or _width(groups[-1]) + field.coding.size > width:
            groups.append([])
        groups[-1].append(field)
    return groups


def _digest(groups: Sequence[Sequence[_Field]], width: int, memories: int, memory_width: int) -> str:
    told = [[(".".join(path), coding.size, coding.spell) for path, coding in group] for group in groups]
    return hashlib.sha256(json.dumps([told, width, memories, memory_width]).encode()).hexdigest()
