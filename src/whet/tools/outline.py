"""The functions and classes of Python source, with the lines they take and the names they go by."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Definition(NamedTuple):
    """`start` is the line of its first decorator, `header` the last before its documentation or body, `body` the
    first that a call runs, `end` its last."""

    name: str  # qualified: Class.method
    is_class: bool
    start: int
    header: int
    body: int
    end: int
    decorators: tuple[str, ...]  # as written


@lru_cache(maxsize=512)
def outline(content: bytes) -> tuple[Definition, ...] | None:
    """Outermost first, in order; None when it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are not ours to report
            return tuple(_definitions(ast.parse(content).body, ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(statements: Sequence[ast.stmt], prefix: str) -> Iterator[Definition]:
    for statement in statements:
        if isinstance(statement, _Function | ast.ClassDef):
            yield _definition(statement, prefix)
            yield from _definitions(statement.body, f"{prefix}{statement.name}.")
        else:
            for block in _blocks(statement):
                yield from _definitions(block, prefix)


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Definitions may stand inside `if`, `try`, `with`, loops and `match`."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(statement, field, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _definition(node: _Function | ast.ClassDef, prefix: str) -> Definition:
    documented = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
    return Definition(
        name=prefix + node.name,
        is_class=isinstance(node, ast.ClassDef),
        start=min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
        header=max(node.lineno, node.body[0].lineno - 1),
        body=node.body[documented].lineno,
        end=node.end_lineno or node.lineno,
        decorators=tuple(map(ast.unparse, node.decorator_list)),
    )
