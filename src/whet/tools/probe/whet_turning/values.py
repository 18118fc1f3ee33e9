"""Values as short texts by which two runs are compared.

Nothing of the project is called: neither its `__repr__` nor its properties, whatever a value's class says. Addresses,
and pytest's temporary folders, which are others in every process, are left out.
"""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict, deque
from itertools import chain, islice
from types import FunctionType, MemberDescriptorType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DEEPEST, MOST_PARTS, MOST_MEMBERS, MOST_ATTRIBUTES, LONGEST = 2, 24, 8, 16, 40
ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})

_CONTAINERS = frozenset({list, dict, tuple, set, deque, bytearray})

_OF_THE_RUN = re.compile(r"0x[0-9a-fA-F]{5,}|(?<=/pytest-)\d+(?=/)")
_SLOTS: dict[type, list[tuple[str, Any]]] = {}
_MADE_BY_A_CLASS_STATEMENT = 1 << 9
_TOLD_BY_PYTHON = frozenset({"datetime", "decimal"})  # whose texts are safe to ask for


def shown(value: Any) -> str:
    """At most so many parts, so that large things take no longer."""
    return _Shower().show(value, DEEPEST)


def glance(value: Any) -> Any:
    """Equal for a value that stayed as it was, as far as a short look tells: ten times as quick as showing it."""
    if type(value) in _CONTAINERS:
        return (id(value), len(value), *map(id, islice(value.values() if type(value) is dict else value, MOST_MEMBERS)))
    try:
        held = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return None
    if type(held) is not dict:  # a class has a view of one
        return None
    return (id(value), *((id(one), len(one)) if type(one) in _CONTAINERS else id(one) for one in dict.values(held)))


class _Shower:
    def __init__(self) -> None:
        self.left = MOST_PARTS

    def show(self, value: Any, depth: int) -> str:
        self.left -= 1
        kind = type(value)
        if kind in ATOMS:
            return _atom(value)
        if issubclass(kind, type):
            return type.__repr__(value)
        if kind.__module__ in _TOLD_BY_PYTHON:
            return repr(value)
        if depth == 0 or self.left <= 0:
            return str(kind.__name__)
        for base, members in _KINDS:
            if issubclass(kind, base):
                inner = ",".join(self._member(member, depth - 1) for member in members(value))
                return f"{kind.__name__}({inner})"
        inner = ",".join(self._member(member, depth - 1) for member in _attributes(value))
        return f"{kind.__name__}({inner})"

    def _member(self, member: Any, depth: int) -> str:
        name, value = member
        text = self.show(value, depth)
        return text if name is None else f"{self.show(name, depth)}:{text}"


def _atom(value: Any) -> str:
    if type(value) not in (str, bytes):
        return repr(value)
    text = value if type(value) is str else value.decode("latin-1")
    if "0x" in text or "/pytest-" in text:
        text = _OF_THE_RUN.sub("0", text)
    if len(text) <= LONGEST:
        return repr(text)
    return f"{text[:LONGEST]!r}…{len(text)}#{zlib.crc32(text.encode('utf-8', 'replace')):x}"


def _of_dict(value: Any) -> Iterator[tuple[Any, Any]]:
    yield None, dict.__len__(value)
    yield from islice(dict.items(value), MOST_MEMBERS)


def _of_ordered(value: Any) -> Iterator[tuple[Any, Any]]:
    """Which has an order of its own beside that of its being a dictionary."""
    yield None, dict.__len__(value)
    yield from ((key, dict.get(value, key)) for key in islice(OrderedDict.__iter__(value), MOST_MEMBERS))


def _of_row(kind: Any) -> Any:
    def members(value: Any) -> Iterator[tuple[Any, Any]]:
        yield None, kind.__len__(value)
        yield from ((None, member) for member in islice(kind.__iter__(value), MOST_MEMBERS))

    return members


def _of_set(kind: Any) -> Any:
    """In an order of its own: that of objects in a set is another in every process."""

    def members(value: Any) -> Iterator[tuple[Any, Any]]:
        yield None, kind.__len__(value)
        known = sorted(_atom(member) for member in kind.__iter__(value) if type(member) in ATOMS)
        yield from ((None, member) for member in known[:MOST_MEMBERS])

    return members


def _of_number(kind: Any) -> Any:
    return lambda value: iter([(None, kind.__repr__(value))])


def _of_text(value: Any) -> Iterator[tuple[Any, Any]]:
    yield None, str.__str__(value)


def _of_error(value: Any) -> Iterator[tuple[Any, Any]]:
    return ((None, argument) for argument in BaseException.args.__get__(value))  # type: ignore[attr-defined]


def _of_function(value: Any) -> Iterator[tuple[Any, Any]]:
    yield None, value.__name__
    yield from ((None, default) for default in value.__defaults__ or ())


def _attributes(value: Any) -> Iterator[tuple[Any, Any]]:
    try:
        found = dict.items(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        found = ()  # type: ignore[assignment]
    return islice(chain(found, _slots(value)), MOST_ATTRIBUTES)


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    kind = type(value)
    if kind not in _SLOTS:
        _SLOTS[kind] = [
            (name, member)
            for base in kind.__mro__
            if base.__flags__ & _MADE_BY_A_CLASS_STATEMENT
            for name, member in type.__getattribute__(base, "__dict__").items()
            if type(member) is MemberDescriptorType
        ]
    for name, member in _SLOTS[kind]:
        try:
            yield name, member.__get__(value)
        except AttributeError:  # not set yet
            yield name, None


_KINDS: tuple[tuple[Any, Any], ...] = (
    (OrderedDict, _of_ordered),
    (dict, _of_dict),
    (list, _of_row(list)),
    (tuple, _of_row(tuple)),
    (deque, _of_row(deque)),
    (bytearray, lambda value: iter([(None, bytes(memoryview(value)))])),
    (set, _of_set(set)),
    (frozenset, _of_set(frozenset)),
    (int, _of_number(int)),
    (float, _of_number(float)),
    (str, _of_text),
    (BaseException, _of_error),
    (FunctionType, _of_function),
    (ModuleType, lambda _value: iter(())),
)
