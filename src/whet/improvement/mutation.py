"""Small real changes to source code, of the kind people make by mistake. One token each; the rest stays as it is."""

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_COMPARISONS = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "==": "!=", "!=": "=="}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "//": "*", "/": "*"}


class Mutation(NamedTuple):
    """Replace `old` with `new` at one place."""

    line: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: str) -> str:
        lines = source.split("\n")
        text = lines[self.line - 1]
        lines[self.line - 1] = text[: self.start] + self.new + text[self.end :]
        return "\n".join(lines)


def mutations(source: str) -> list[Mutation]:
    """Every mutation this source offers, in order. Lines with non-ASCII text are left alone: ast counts bytes there."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    lines = source.split("\n")
    found = (m for node in ast.walk(tree) for m in _of(node, lines))
    return sorted(m for m in found if lines[m.line - 1].isascii())


def _of(node: ast.AST, lines: list[str]) -> Iterator[Mutation]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _between(node.left, node.comparators[0], _COMPARISONS, lines)
    elif isinstance(node, ast.BinOp):
        yield from _between(node.left, node.right, _ARITHMETIC, lines)
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.end_col_offset is not None:
        old = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
        if old.isdigit():
            yield Mutation(node.lineno, node.col_offset, node.end_col_offset, old, str(node.value + 1))


def _between(left: ast.expr, right: ast.expr, table: dict[str, str], lines: list[str]) -> Iterator[Mutation]:
    """The operator between two operands on one line."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    between = lines[right.lineno - 1][left.end_col_offset : right.col_offset]
    operator = between.strip(" ()")
    if operator in table:
        start = left.end_col_offset + between.index(operator)
        yield Mutation(right.lineno, start, start + len(operator), operator, table[operator])


def mutate(file: Path, rng: random.Random) -> Mutation | None:
    """Apply one random mutation to the file; None when it offers none."""
    source = read_source(file)
    offered = mutations(source)
    if not offered:
        return None
    chosen = rng.choice(offered)
    write_source(file, chosen.apply(source))
    return chosen


def read_source(file: Path) -> str:
    """As it is, line endings and odd bytes included."""
    return file.read_bytes().decode("utf-8", "surrogateescape")


def write_source(file: Path, source: str) -> None:
    file.write_bytes(source.encode("utf-8", "surrogateescape"))
