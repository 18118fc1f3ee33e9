"""Which lines differ between two contents, and where a line of the one stands in the other."""

from hypothesis import given
from hypothesis import strategies as st

from whet.tools.lines import Block, carried, changed_lines, differing

CONTENTS = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"    d"]), max_size=30).map(b"\n".join)


def test_changed_added_and_removed() -> None:
    before, after = b"one\ntwo\nthree\nfour\nfive\nsix\n", b"one\n2\nthree\nfour\nmore\nfive\nsix\n"
    old, new = changed_lines(before, after)
    assert old == {2, 4, 5}  # a line came in between 4 and 5
    assert new == {2, 5}


def test_at_the_ends() -> None:
    assert changed_lines(b"one\n", b"zero\none\n") == (frozenset({1}), frozenset({1}))
    assert changed_lines(b"one\n", b"one\ntwo\n") == (frozenset({1}), frozenset({2}))
    assert changed_lines(b"", b"one\ntwo\n") == (frozenset(), frozenset({1, 2}))


def test_line_ends_do_not_matter() -> None:
    assert changed_lines(b"one\r\ntwo\r\n", b"one\ntwo") == (frozenset(), frozenset())


def test_lines_move_with_what_comes_before_them() -> None:
    source, target = b"one\ntwo\nthree\n", b"zero\nhalf\none\n2\nthree\n"
    assert carried({1}, source, target) == {3}
    assert carried({2}, source, target) == {4}
    assert carried({3}, source, target) == {5}


def test_a_huge_rewrite_is_not_matched_line_by_line() -> None:
    before = b"".join(b"old %d\nsame\n" % n for n in range(5000))
    after = b"".join(b"new %d\nsame\n" % n for n in range(5000))
    assert differing(before, after) == [Block(0, 9999, 0, 9999)]  # the last line is the same


@given(content=CONTENTS, numbers=st.sets(st.integers(1, 30)))
def test_nothing_moves_within_the_same_content(content: bytes, numbers: set[int]) -> None:
    present = {n for n in numbers if n <= len(content.splitlines())}
    assert carried(present, content, content) == present
    assert changed_lines(content, content) == (frozenset(), frozenset())


@given(before=CONTENTS, after=CONTENTS)
def test_what_did_not_change_is_the_same_text_on_both_sides(before: bytes, after: bytes) -> None:
    old, new = before.splitlines(), after.splitlines()
    gone = {n for block in differing(before, after) for n in range(block.start + 1, block.end + 1)}
    for number in set(range(1, len(old) + 1)) - gone:
        (there,) = carried({number}, before, after)
        assert new[there - 1] == old[number - 1]
