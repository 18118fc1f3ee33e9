"""Matrices multiplied by one thread each.

Threads of a matrix library wait for each other by spinning: on a machine that is busy with tests, two of them are ten
times slower than one.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any

_counting = Lock()
_inside = 0
_limit: AbstractContextManager[Any] = nullcontext()


@contextmanager
def one_thread() -> Iterator[None]:
    """The first to come sets the limit of this process, the last to go lifts it. None is set without threadpoolctl."""
    global _inside, _limit
    with _counting:
        if _inside == 0:
            _limit = _libraries().limit(limits=1) if find_spec("threadpoolctl") else nullcontext()
            _limit.__enter__()
        _inside += 1
    try:
        yield
    finally:
        with _counting:
            _inside -= 1
            if _inside == 0:
                _limit.__exit__(None, None, None)


@cache
def _libraries() -> Any:
    return import_module("threadpoolctl").ThreadpoolController()
