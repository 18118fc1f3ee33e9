"""Tests that would notice being traced: those that measure time or memory, or use the tracing of Python themselves."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

import pytest

_MODULES = frozenset({"gc", "resource", "timeit", "tracemalloc"})
_NAMES = frozenset({"_getframe", "getprofile", "getrefcount", "getsizeof", "gettrace", "setprofile", "settrace"}) | {
    *("monotonic", "perf_counter", "perf_counter_ns", "process_time", "setrecursionlimit", "thread_time")
}
_FIXTURES = frozenset({"benchmark"})


def disturbed_by_tracing(item: pytest.Item) -> bool:
    """Judged by what its function names, and the functions of its module that it calls."""
    if not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        return True
    function = getattr(item, "function", None)
    function = getattr(function, "__func__", function)
    return isinstance(function, FunctionType) and any(map(_is_sensitive, _reached(function)))


def _reached(function: FunctionType) -> Iterator[FunctionType]:
    seen, waiting = {function.__code__}, [function]
    while waiting:
        one = waiting.pop()
        yield one
        for name in _names(one.__code__):
            called = one.__globals__.get(name)
            if isinstance(called, FunctionType) and called.__module__ == function.__module__:
                waiting += [called] if called.__code__ not in seen else []
                seen.add(called.__code__)


def _is_sensitive(function: FunctionType) -> bool:
    for name in _names(function.__code__):
        meant = function.__globals__.get(name)
        home = meant.__name__ if isinstance(meant, ModuleType) else str(getattr(meant, "__module__", ""))
        if name in _NAMES or name in _MODULES or home.lstrip("_") in _MODULES:
            return True
    return False


def _names(code: CodeType) -> Iterator[str]:
    """Of globals, attributes and imports, in functions inside as well."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
