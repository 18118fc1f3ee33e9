"""What an item of a replay is made of: a few named columns, each with a type and a shape."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from whet.core.errors import RefusedInput

Array = NDArray[Any]
Batch = Mapping[str, Array]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_TYPES = ("bool", "float16", "float32", "float64", *_INTEGERS)  # no objects: they would have to be pickled


@dataclass(frozen=True)
class Column:
    """For example `Column("state", "float32", (64,))`, or `Column("reward", "float32")` for one number an item."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            _refuse_schema(f"{self.name!r} cannot name a column", "small letters, digits and _")
        if self.dtype not in _TYPES:
            _refuse_schema(f"the column {self.name!r} cannot be of {self.dtype!r}", ", ".join(_TYPES))
        if any(length < 1 for length in self.shape):
            _refuse_schema(f"the column {self.name!r} cannot have the shape {self.shape}", "lengths of 1 or more")

    @cached_property
    def type(self) -> np.dtype[Any]:
        return np.dtype(self.dtype)

    def problem(self, values: Array, rows: int) -> str | None:
        """Why these cannot be `rows` values of this column."""
        if not isinstance(values, np.ndarray) or values.dtype != self.type:
            given = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            return f"{self.name!r} is {given} where {self.dtype} is needed"
        if values.shape != (rows, *self.shape):
            return f"{self.name!r} has the shape {values.shape} where {(rows, *self.shape)} is needed"
        if self.type.kind == "f" and not are_finite(values):
            return f"{self.name!r} has values that are not finite"
        return None


MASS = Column("mass", "float64")


def are_finite(values: Array) -> bool:
    """A sum of squares is quick, and finite where nothing is too large; only where it is not, each is looked at."""
    flat = values.reshape(-1)
    return math.isfinite(flat.dot(flat)) or bool(np.isfinite(values).all())


@dataclass(frozen=True)
class Schema:
    """What `Replay.add` takes and `Replay.sample` gives: these columns, no more and no fewer."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.stored]
        if not self.columns or len(set(names)) < len(names):
            _refuse_schema(f"it has the columns {names}", f"one or more columns, each named once, none {MASS.name!r}")

    @property
    def stored(self) -> tuple[Column, ...]:
        """The columns of a saved replay: the items', and the mass by which each is drawn."""
        return (*self.columns, MASS)

    @np.errstate(over="ignore", invalid="ignore")
    def rows(self, batch: Batch) -> int:
        """How many items these are. Refused when they are none of this schema's."""
        names = {column.name for column in self.columns}
        if batch.keys() != names:
            refuse(f"it has the columns {sorted(batch)} where {sorted(names)} are needed")
        first = batch[self.columns[0].name]
        rows = len(first) if isinstance(first, np.ndarray) and first.ndim else 0
        for column in self.columns:
            if problem := column.problem(batch[column.name], rows):
                refuse(problem)
        return rows


def refuse(problem: str, remedy: str = "Give one numpy array a column, of the schema's type and shape.") -> NoReturn:
    raise RefusedInput(f"The replay refused this, and nothing was changed: {problem}.", remedy)


def _refuse_schema(problem: str, allowed: str) -> NoReturn:
    raise RefusedInput(f"This schema was refused: {problem}.", f"Allowed: {allowed}.")
