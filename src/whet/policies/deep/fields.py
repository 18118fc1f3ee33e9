"""How one field of a state becomes numbers, decided by its type alone, so that every state of a type has one layout."""

import enum
import hashlib
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from whet.core.errors import RefusedInput

Numbers = list[float]
_HUNDRED = math.log1p(100.0)
_BUCKETS = 32  # names are not known from the type; enough that the agents there are have one each


class Coding(NamedTuple):
    """`spell` says what its numbers mean, and goes into the digest of the layout.

    `table` has the numbers of every value, where these can be listed: looking them up is quicker than anything else.
    """

    size: int
    spell: str
    numbers: Callable[[Any], Numbers]
    table: Mapping[Any, Numbers] | None = None


def coding_of(name: str, field: FieldInfo) -> Coding:
    """Refused when the type has no coding: leaving a field out silently would hide it from the policy."""
    return _coding(name, field.annotation, field.metadata)


def _coding(name: str, annotation: Any, metadata: Sequence[Any]) -> Coding:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _coding(name, arguments[0], [*metadata, *arguments[1:]])
    if origin in (Union, types.UnionType):
        return _optional(name, arguments, metadata)
    if choices := _choices(annotation):
        return _one_hot(choices)
    if annotation in (int, float):
        return _number(metadata)
    if origin in (tuple, list, set, frozenset):
        return _names() if str in arguments else _count()
    if origin is dict or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return _counted_names() if arguments[0] is str and _is_number(arguments[1]) else _count()
    raise RefusedInput(
        f"The field {name!r} of type {annotation} has no coding for deep policies.",
        "Make it a number, a boolean, a literal, an enum, or a collection of these.",
    )


def _optional(name: str, arguments: Sequence[Any], metadata: Sequence[Any]) -> Coding:
    """One number more, which is 1 where the value is unknown; the others are then 0."""
    known = [each for each in arguments if each is not type(None)]
    if len(known) != 1:
        raise RefusedInput(f"The field {name!r} is one of several types.", "Give it one type, or None beside it.")
    inner = _coding(name, known[0], metadata)
    if len(known) == len(arguments):
        return inner
    size, spell, unknown = inner.size + 1, f"unknown?{inner.spell}", [1.0, *[0.0] * inner.size]
    if inner.table is not None:
        return _listed(size, spell, {None: unknown} | {value: [0.0, *row] for value, row in inner.table.items()})
    return Coding(size, spell, lambda value: unknown if value is None else [0.0, *inner.numbers(value)])


def followed_by_zeros(coding: Coding, count: int) -> Coding:
    size, rest = coding.size + count, [0.0] * count
    if coding.table is not None:
        return _listed(size, coding.spell, {value: row + rest for value, row in coding.table.items()})
    return Coding(size, coding.spell, lambda value: coding.numbers(value) + rest)


def _choices(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return (False, True)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return tuple(annotation)
    return ()


def _one_hot(choices: tuple[Any, ...]) -> Coding:
    rows = {choice: [float(i == place) for i in range(len(choices))] for place, choice in enumerate(choices)}
    return _listed(len(choices), f"one of {[str(choice) for choice in choices]}", rows)


def _listed(size: int, spell: str, table: Mapping[Any, Numbers]) -> Coding:
    return Coding(size, spell, table.__getitem__, table)


def _number(metadata: Sequence[Any]) -> Coding:
    """Between two bounds, where it is between them; a number of any size, by its logarithm."""
    lowest, highest = _bound(metadata, "ge"), _bound(metadata, "le")
    if lowest is None or highest is None or highest <= lowest:
        return Coding(1, "signed log", lambda value: [squash(value)])
    span = highest - lowest
    return Coding(1, f"from {lowest} to {highest}", lambda value: [(value - lowest) / span])


def squash(value: float) -> float:
    """sign · ln(1 + |value|) / ln(101): resolves near zero, a hundred is 1 and a million only 3."""
    return math.copysign(math.log1p(abs(value)) / _HUNDRED, value)


def _bound(metadata: Sequence[Any], side: Literal["ge", "le"]) -> float | None:
    """Bounds may stand beside the type or, where it is optional, inside of it."""
    flat = [part for each in metadata for part in (each.metadata if isinstance(each, FieldInfo) else (each,))]
    found = [float(getattr(each, side)) for each in flat if getattr(each, side, None) is not None]
    return found[-1] if found else None


def _is_number(annotation: Any) -> bool:
    return annotation in (int, float) or (
        get_origin(annotation) is Annotated and get_args(annotation)[0] in (int, float)
    )


def _count() -> Coding:
    return Coding(1, "count", lambda values: [squash(len(values))])


def _names() -> Coding:
    """How many, and which: each name has a bucket of its own, or shares it (Weinberger et al., 2009)."""
    return Coding(1 + _BUCKETS, f"names in {_BUCKETS}", lambda names: _buckets(len(names), ((n, 1.0) for n in names)))


def _counted_names() -> Coding:
    return Coding(1 + _BUCKETS, f"counted names in {_BUCKETS}", lambda told: _buckets(len(told), told.items()))


def _buckets(count: int, told: Iterable[tuple[str, float]]) -> Numbers:
    numbers = [squash(count), *[0.0] * _BUCKETS]
    for name, value in told:
        numbers[1 + _bucket(name)] += squash(value)
    return numbers


def _bucket(name: str) -> int:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % _BUCKETS
