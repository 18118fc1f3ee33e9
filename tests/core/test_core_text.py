"""Nothing from outside reaches a terminal raw."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whet.core.text import printable, printable_lines, whole_words

anything = st.text(st.characters(), max_size=60)
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def unsafe(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in UNSAFE]


@given(anything)
@example("\x1b]0;title\x07")
@example("a\u202eb\u2066c")
@example("\u2028\u2029\x85\x9b31m")
@example("\ud800")
@example("\U000e0041")
def test_nothing_unsafe_passes(text: str) -> None:
    assert unsafe(printable(text)) == []
    assert unsafe(printable_lines(text).replace("\n", "")) == []


def test_no_character_of_the_basic_plane_or_the_tags_passes_unsafe() -> None:
    every = "".join(map(chr, (*range(0x10000), *range(0xE0000, 0xE1000))))
    assert unsafe(printable(every, limit=len(every))) == []


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), max_size=60))
@example("tests/test_cart.py::test_total[3 × 2 – größer, 価格 😀]")
@example("C:\\new\\table")
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("\x1b[31m", "\\x1b[31m"), ("a\nb", "a\\nb"), ("a\tb", "a\\tb"), ("\u202e", "\\u202e"), ("\ud800", "\\ud800")],
)
def test_what_is_unsafe_is_shown_escaped(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@given(anything, st.integers(1, 40))
def test_it_is_cut_at_its_limit(text: str, limit: int) -> None:
    """Escapes count as well: a name of control characters may not take the whole screen."""
    assert len(printable(text, limit)) <= limit + 1


@pytest.mark.parametrize(
    ("text", "limit", "shown"), [("abc", 3, "abc"), ("abcd", 3, "abc…"), ("", 3, ""), ("abcd", 0, "…")]
)
def test_cutting(text: str, limit: int, shown: str) -> None:
    assert printable(text, limit) == shown


def test_it_can_be_printed_anywhere() -> None:
    printable("\ud800\udfff").encode("utf-8")


def test_lines_keep_their_breaks_and_tabs_become_blanks() -> None:
    assert printable_lines("a\tb\n\x1b[2Jc\n") == "a   b\n\\x1b[2Jc\n"


def test_lines_of_windows_are_lines() -> None:
    assert printable_lines("one\r\ntwo\r\n") == "one\ntwo\n"


def test_a_bare_return_cannot_overwrite_the_line() -> None:
    assert printable_lines("FAILED\rpassed") == "FAILED\\rpassed"


def test_many_lines_are_cut_as_a_whole() -> None:
    assert printable_lines("ab\ncd\nef", limit=4) == "ab\nc…"


def test_a_text_is_cut_where_a_word_ends() -> None:
    told = 'at "a b", then half'
    assert [whole_words(told, limit) for limit in (2, 5, 8, 16, len(told))] == [
        "",
        'at "',
        'at "a b"',
        'at "a b", then ',
        told,
    ]
