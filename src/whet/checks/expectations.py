"""Assertions of the contract suites: they speak for themselves without pytest and under `python -O`."""

import math
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


def expect(actual: object, expected: object, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r:.2000}, got {actual!r:.2000}")


def expect_close(actual: float, expected: float, what: str) -> None:
    if not math.isclose(actual, expected, rel_tol=1e-9, abs_tol=1e-12):
        raise AssertionError(f"{what}: expected about {expected!r}, got {actual!r}")


def expect_error(kind: type[Exception], call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    try:
        got = call(*args, **kwargs)
    except kind:
        return
    raise AssertionError(f"expected {kind.__name__}, got the answer {got!r}")
