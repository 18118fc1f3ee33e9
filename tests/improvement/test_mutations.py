"""Mutations: one token, and Python still reads the file."""

import ast
import io
import random
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.improvement.mutation import mutate, mutations

SOURCE = '''
"""1 + 1 in words."""
LIMIT = 10  # 3 < 4

def price(n, text="2 + 2"):
    if (n) >= (LIMIT):
        return n * 2 // 3
    total = (n
             + 1)
    label = f"{n - 1} of {LIMIT}"
    return -n if n == 0 else total - 0x1F, label, 1_000
'''


def tokens(source: str) -> list[str]:
    return [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)]


def check_one_token(source: str) -> int:
    before, offered = tokens(source), mutations(source)
    for mutation in offered:
        changed = mutation.apply(source)
        ast.parse(changed)
        after = tokens(changed)
        assert len(after) == len(before)
        differing = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert len(differing) == 1, mutation
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    return len(offered)


def test_every_mutation_changes_one_token_of_the_code() -> None:
    assert check_one_token(SOURCE) >= 8
    said = {(m.old, m.new) for m in mutations(SOURCE)}
    assert {(">=", ">"), ("*", "+"), ("//", "*"), ("==", "!="), ("10", "11")} <= said
    untouched = {mutation.line for mutation in mutations(SOURCE)}
    assert 2 not in untouched


operands = st.sampled_from(["a", "7", "(b)", "f(1)", "'x'", "a[0]", 'f"{a + 1}"', 'f"{a:>{3}}"'])
operators = st.sampled_from(["+", "-", "*", "/", "//", "<", "<=", "==", "!=", "**", "%", "and", "is not"])


@given(st.lists(st.tuples(operands, operators, operands), min_size=1, max_size=4), st.sampled_from(["", "  "]))
def test_generated_code_is_changed_in_one_token(parts: list[tuple[str, str, str]], gap: str) -> None:
    check_one_token("".join(f"r{i} = {a}{gap} {op} {gap}{b}\n" for i, (a, op, b) in enumerate(parts)))


@pytest.mark.parametrize("source", ["def broken(:\n", "", "name = 'no numbers'\n", "ä = 1 + 1\n"])
def test_what_offers_nothing_stays_as_it_is(tmp_path: Path, source: str) -> None:
    file = tmp_path / "code.py"
    file.write_text(source, encoding="utf-8")
    assert mutate(file, random.Random(1)) is None
    assert file.read_text(encoding="utf-8") == source


def test_line_endings_stay(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_bytes(b"a = 1\r\nb = a\r\nc = b\r\n")
    assert mutate(file, random.Random(1)) is not None
    assert file.read_bytes() == b"a = 2\r\nb = a\r\nc = b\r\n"
