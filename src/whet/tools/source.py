"""What Python source says about itself, read by `ast`. Files that do not parse have nothing to say."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from whet.core.records import Count, Record

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.comprehension)


class Function(Record):
    """A function or method: qualified name, its lines, McCabe complexity, names it calls.

    `start` is the line of its first decorator, `definition` that of `def`, `body` the first that a call runs.
    """

    name: str
    start: Count
    definition: Count
    body: Count
    end: Count
    complexity: Count
    calls: tuple[str, ...]


def functions(path: Path) -> tuple[Function, ...]:
    tree = _parsed(path)
    return () if tree is None else tuple(_functions(tree, ""))


def imports(path: Path) -> set[str]:
    """Full names of imported modules and of names imported from them; relative ones keep their dots."""
    tree = _parsed(path)
    found: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(_imported(node))
    return found


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    module = "." * node.level + (node.module or "")
    if node.module:
        yield module
    for alias in node.names:
        if alias.name != "*":
            yield f"{module}{'.' if node.module else ''}{alias.name}"


def _parsed(path: Path) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are not ours to report
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _functions(node: ast.AST, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield _function(child, prefix + child.name)
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


def _function(node: _Definition, name: str) -> Function:
    own = list(_own_nodes(node))
    return Function(
        name=name,
        start=min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
        definition=node.lineno,
        body=_first_statement(node).lineno,
        end=node.end_lineno or node.lineno,
        complexity=1 + sum(_decisions(part) for part in own),
        calls=tuple(sorted({called for part in own if (called := _called(part))})),
    )


def _first_statement(node: _Definition) -> ast.stmt:
    documented = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
    return node.body[1] if documented else node.body[0]


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What belongs to a function itself; functions and classes inside it count for themselves."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _Definition | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        return 0 if isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None else 1
    return 1 if isinstance(node, _BRANCHES) else 0


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else None
