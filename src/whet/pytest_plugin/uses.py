"""What tests hold while they run: fixtures that outlive one test, and collectors with a set-up of their own."""

from __future__ import annotations

import dis
import unittest
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

import pytest

_SCOPES = ("class", "module", "package", "session")
# Attributes of `request` that cannot ask for another fixture.
_HARMLESS = frozenset({"addfinalizer", "applymarker", "cls", "config", "fixturename", "fixturenames", "function"}) | {
    *("instance", "keywords", "module", "node", "param", "param_index", "path", "raiseerror", "scope", "session")
}
_TABLES = ("_arg2fixturedefs", "_arg2node2fixturedefs", "_arg2nodeid2fixturedefs")
_CLASS_SETUP = ("setUpClass", "tearDownClass")
# By which rewritten asserts show a value.
_SHOWING = frozenset({"_saferepr", "_should_repr_global_name"})
_VARIABLES = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF", "LOAD_FROM_DICT", "STORE_FAST_LOAD_FAST")
_PACKAGE_SETUP = ("setUpModule", "setup_module", "tearDownModule", "teardown_module")


class Use(NamedTuple):
    """One test needs `resource`, with that parameter, which lives as long as the collector `node` is not left."""

    resource: int  # the fixture's definition, or the collector itself
    node: pytest.Collector
    parameter: object
    needs: tuple[int, ...]  # resources that take this one with them


class Uses:
    """Asks pytest. Built once per collection; tests of one function share most of the answer."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._held: dict[tuple[int, int], tuple[list[Any], bool]] = {}
        self._collectors: dict[int, list[Use]] = {}
        self._asks_for_more: dict[int, bool] = {}
        self._parameters: dict[int, Parameters] = {}
        self._long_lived = [d for d in _all_definitions(session._fixturemanager) if d.scope in _SCOPES[:3]]

    def of(self, item: pytest.Item) -> list[Use]:
        held = list(self._of_collectors(item.parent))
        info = getattr(item, "_fixtureinfo", None)
        if info is None:
            return held
        definitions, dynamic = self._definitions(item, info)
        for definition in definitions:
            held.extend(self._use(item, definition, info))
        if dynamic:
            known = {id(d) for d in definitions}
            visible = [d for d in self._long_lived if id(d) not in known and _visible(d, item)]
            for definition in visible:
                held.extend(self._use(item, definition, info))
        return held

    def _definitions(self, item: pytest.Item, info: Any) -> tuple[list[Any], bool]:
        """Long-lived fixtures the item requests, those first that others need; and whether it may ask for more."""
        key = (id(info), id(item.parent))
        if key not in self._held:
            found = list(_requested(info))
            function = getattr(item, "function", None)
            # A doctest can ask for any fixture, and so can whoever has the request.
            dynamic = function is None or self._dynamic(function) or any(self._dynamic(d.func) for d in found)
            self._held[key] = [d for d in found if d.scope in _SCOPES], dynamic
        return self._held[key]

    def _dynamic(self, function: Any) -> bool:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if code is None or getattr(function, "__module__", "").startswith("_pytest."):
            return False
        if id(code) not in self._asks_for_more:
            self._asks_for_more[id(code)] = _hands_on_request(code)
        return self._asks_for_more[id(code)]

    def _use(self, item: pytest.Item, definition: Any, info: Any) -> Iterator[Use]:
        node = _owner(item, definition)
        if node is None or _does_nothing(definition, node):
            return
        callspec = getattr(item, "callspec", None)
        name = definition.argname
        parameter = None
        if callspec is not None and name in callspec.params:
            parameter = self._parameters.setdefault(id(definition), Parameters()).number(callspec.params[name])
        needs = tuple(id(found[-1]) for other in definition.argnames if (found := info.name2fixturedefs.get(other)))
        yield Use(id(definition), node, parameter, needs)

    def _of_collectors(self, node: pytest.Collector | None) -> list[Use]:
        if node is None:
            return []
        if id(node) not in self._collectors:
            own = [Use(id(node), node, None, ())] if _has_setup(node) else []
            self._collectors[id(node)] = [*self._of_collectors(node.parent), *own]
        return self._collectors[id(node)]


class Parameters:
    """Numbers for parameter values: equal ones get the same, as pytest keeps a fixture whose parameter is equal."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._others: list[object] = []

    def number(self, value: Any) -> int:
        try:
            return self._numbers.setdefault(value, len(self._numbers))
        except Exception:  # values of any kind: they may not be hashable, or refuse to be compared
            return self._by_comparing(value)

    def _by_comparing(self, value: object) -> int:
        for place, other in enumerate(self._others):
            if other is value or _equal(other, value):
                return -1 - place
        self._others.append(value)
        return -len(self._others)


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # an array of truths, or worse; then only identity counts
        return False


def _all_definitions(manager: Any) -> Iterator[Any]:
    """Every fixture there is. Where pytest keeps them differs between versions; it is asked by name nowhere."""
    waiting = [getattr(manager, name) for name in _TABLES if hasattr(manager, name)]
    if not waiting:
        raise LookupError("this version of pytest keeps its fixtures in a place that Whet does not know")
    while waiting:
        held = waiting.pop()
        if isinstance(held, Mapping):
            waiting.extend(held.values())
        elif isinstance(held, list | tuple):
            waiting.extend(held)
        else:
            yield held


def _requested(info: Any) -> Iterator[Any]:
    """The definitions behind the closure of names: the nearest one, and what it overrides if it asks for that."""
    for name in info.names_closure:
        for definition in reversed(info.name2fixturedefs.get(name) or ()):
            yield definition
            if name not in definition.argnames:
                break


def _owner(item: pytest.Item, definition: Any) -> pytest.Collector | None:
    """The collector whose end ends the fixture; None when that is the test itself."""
    if definition.scope == "session":
        return item.session
    if definition.scope == "package":
        packages = (node for node in item.iter_parents() if isinstance(node, pytest.Package))
        return next((node for node in packages if node.nodeid == definition.baseid), item.session)
    return item.getparent(pytest.Module if definition.scope == "module" else pytest.Class)


def _does_nothing(definition: Any, node: pytest.Collector) -> bool:
    """pytest gives every unittest class a fixture for setUpClass, also where that is the empty one it inherits."""
    if not definition.argname.startswith("_unittest_setUpClass_fixture"):
        return False
    inherited = (getattr(unittest.TestCase, name).__func__ for name in _CLASS_SETUP)
    own = (getattr(getattr(node.obj, name, None), "__func__", None) for name in _CLASS_SETUP)  # type: ignore[attr-defined]
    return all(one is other for one, other in zip(own, inherited, strict=True))


def _visible(definition: Any, item: pytest.Item) -> bool:
    base = definition.baseid
    return not base or any(node.nodeid == base for node in item.listchain())


def _has_setup(node: pytest.Collector) -> bool:
    if isinstance(node, pytest.Package):
        module = node.path / "__init__.py"
        return any(name in module.read_text(errors="replace") for name in _PACKAGE_SETUP) if module.is_file() else False
    kind = type(node)
    return kind.setup is not pytest.Collector.setup or kind.teardown is not pytest.Collector.teardown


def _hands_on_request(code: CodeType) -> bool:
    """Whether a function does anything with `request` but read what is harmless."""
    if "request" in (*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *code.co_freevars):
        code_line = list(dis.get_instructions(code))
        for at, one in enumerate(code_line):
            loaded = one.opname.startswith(_VARIABLES) and _mentions_request(one.argval)
            if loaded and not _harmless(one, code_line[max(0, at - 2) : at], code_line[at + 1 : at + 2]):
                return True
    return any(_hands_on_request(part) for part in code.co_consts if isinstance(part, CodeType))


def _mentions_request(value: object) -> bool:
    return value == "request" or (isinstance(value, tuple) and "request" in value)


def _harmless(one: dis.Instruction, before: list[dis.Instruction], after: list[dis.Instruction]) -> bool:
    if one.opname == "LOAD_CLOSURE" or any(step.argval in _SHOWING for step in before):
        return True  # a function inside is looked at for itself
    read = [step.argval for step in after if step.opname in ("LOAD_ATTR", "LOAD_METHOD")]
    return one.argval == "request" and bool(read) and read[0] in _HARMLESS
