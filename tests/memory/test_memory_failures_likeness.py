"""Failures of one cause come first, the reason is said, and the store is asked for no more than it must be."""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.memories import Kind, Memory
from whet.memory.embedding import HashedEmbedder
from whet.memory.failures import alike, diverged, read_failure, remembered_failure
from whet.memory.failures_culprits import ASSERTED, DEEPEST, NAMED, culprits
from whet.memory.failures_lines import read, told
from whet.memory.failures_triage import Triage
from whet.store.sql_store import SqlStore, open_store

DEEP = """def test_{name}():
        cart = make_cart()
>       cart.{call}

tests/test_cart.py:{line}:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def {function}(self):
>       {code}
E       {error}: {message}

shop/cart.py:{at}: {error}"""
PLAIN = """def test_{name}():
>       assert {asserted} == {right}
E       assert {wrong} == {right}

tests/test_cart.py:{line}: AssertionError"""


def deep(name: str, at: int, message: str = "3", error: str = "KeyError") -> str:
    return DEEP.format(
        name=name, call=f"pay({at})", line=40 + len(name), function="pay", code="return rates[key]", error=error,
        message=message, at=at,
    )  # fmt: skip


def plain(name: str, asserted: str, wrong: str, right: str) -> str:
    return PLAIN.format(name=name, asserted=asserted, wrong=wrong, right=right, line=30)


def test_the_same_place_comes_before_the_same_test_s_looks() -> None:
    asked = read_failure("tests/test_cart.py::test_a", deep("a", 12))
    same_place = read_failure("tests/test_cart.py::test_other", deep("other", 12, "'seven'"))
    same_test = read_failure("tests/test_cart.py::test_a", deep("a", 90, "no stock", "ValueError"))
    ranked = alike(asked, [same_test, same_place])
    assert [one.candidate for one in ranked] == [1, 0]
    assert "both come through shop/cart.py:12" in ranked[0].why


def test_lines_tell_apart_what_text_does_not() -> None:
    text = plain("total", "total(cart)", "3", "4")
    asked = read_failure("t1", text, frozenset({"+shop/cart.py:7", "-shop/cart.py:9"}))
    other = read_failure("t2", text, frozenset({"+shop/rates.py:3"}))
    same = read_failure("t3", text, frozenset({"+shop/cart.py:7"}))
    ranked = alike(asked, [other, same])
    assert [one.candidate for one in ranked] == [1, 0]
    assert "both execute shop/cart.py:7, which they do not when they pass" in ranked[0].why


def test_a_failure_without_diverged_lines_is_not_like_one_with_them_unless_they_were_not_measured() -> None:
    text = plain("total", "total(cart)", "3", "4")
    asked = read_failure("t1", text, frozenset({"+shop/cart.py:7"}))
    none, unknown = read_failure("t2", text, frozenset()), read_failure("t3", text, None)
    assert [one.candidate for one in alike(asked, [none, unknown])] == [1, 0]


def test_rare_lines_count_more_than_common_ones() -> None:
    text = plain("total", "total(cart)", "3", "4")
    asked = read_failure("t", text, frozenset({"+a.py:1", "+a.py:2"}))
    common = [read_failure(f"c{n}", text, frozenset({"+a.py:1", f"+b.py:{n}"})) for n in range(20)]
    rare = read_failure("r", text, frozenset({"+a.py:2", "+b.py:99"}))
    assert alike(asked, [*common, rare])[0].candidate == 20


def test_suspects_stand_in_for_lines() -> None:
    covered = {"t1": {"shop/cart.py:Cart.total"}, "t2": {"shop/cart.py:Cart.total"}, "t3": {"shop/site.py:page"}}
    said = plain("x", "outcome", "3", "4")
    asked, near, far = (read_failure(test, said) for test in ("t1", "t2", "t3"))
    assert [one.candidate for one in alike(asked, [far, near], covered)] == [1, 0]
    assert [one.candidate for one in alike(asked, [far, near])] == [0, 1], "nothing tells them apart"


def test_suspicion_by_what_is_met_and_named() -> None:
    failure = read_failure("tests/test_cart.py::test_a", deep("a", 12))
    suspicion = culprits(
        failure, ["shop/cart.py:Cart.pay", "shop/cart.py:pay_later", "shop/cart.py:make_cart", "shop/x.py:test_x"]
    )
    assert suspicion["shop/cart.py:Cart.pay"] == 1 + DEEPEST + ASSERTED
    assert suspicion["shop/cart.py:pay_later"] == 1
    assert suspicion["shop/cart.py:make_cart"] == 1 + NAMED


def test_what_is_left_out_counts_only_where_the_function_still_ran() -> None:
    green = {"a.py": [2, 3, 4, 12, 13]}
    failing = {"a.py": [2, 4, 5]}
    assert diverged(green, failing, {"a.py": [(2, 6), (12, 14)]}) == {"+a.py:5", "-a.py:3"}


def test_of_functions_within_functions_the_inner_one_counts() -> None:
    outer_still_runs = diverged({"a.py": [1, 4, 9]}, {"a.py": [1, 9]}, {"a.py": [(1, 9), (4, 5)]})
    assert outer_still_runs == frozenset()


places = st.frozensets(
    st.builds(
        "{}{}:{}".format, st.sampled_from("+-"), st.sampled_from(["a.py", "b:c.py", "d-1.py"]), st.integers(1, 60)
    )
)


@given(places)
def test_lines_are_told_and_read_again(lines: frozenset[str]) -> None:
    assert read(told(lines)) == lines


@given(st.text(max_size=200))
def test_any_text_is_read_as_lines(text: str) -> None:
    assert len(read(text)) <= 10_000 * (len(text) + 1)


def test_nothing_to_compare_with() -> None:
    assert alike(read_failure("t", "E   x\n"), []) == []
    (one,) = alike(read_failure("", ""), [read_failure("", "")])
    assert 0 <= one.likeness <= 1
    assert one.why


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=80), st.none() | places), min_size=2, max_size=8))
def test_likeness_is_a_number_between_0_and_1(given_failures: list[tuple[str, str, frozenset[str] | None]]) -> None:
    first, *others = (read_failure(*one) for one in given_failures)
    ranked = alike(first, others)
    assert sorted(one.candidate for one in ranked) == list(range(len(others)))
    likenesses = [one.likeness for one in ranked]
    assert all(np.isfinite(likenesses))
    assert likenesses == sorted(likenesses, reverse=True)
    assert all(0 <= likeness <= 1 for likeness in likenesses)


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url) as opened:
        yield opened


def memory(project: str, test: str, text: str, lines: frozenset[str] | None = None) -> Memory:
    kept = remembered_failure(test, text, lines)
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="failure",
        source=f"failure:{test}",
        text=f"{test} failed:\n{text}",
        cue=kept.cue,
        subjects=kept.subjects,
        about={"test": test} | ({} if lines is None else {"lines": told(lines)}),
        at=datetime(2024, 5, 1, tzinfo=UTC),
    )


def remember(store: SqlStore, *memories: Memory) -> None:
    model = HashedEmbedder()
    store.memories.keep(memories, model.name, model.embed([one.found_by() for one in memories]))


def test_the_store_is_asked_and_the_best_come_first(store: SqlStore) -> None:
    same = [memory("shop", f"t::test_{n}", deep(n, 12, repr(n))) for n in ("one", "two", "three")]
    others = [memory("shop", f"t::test_{n}", deep(f"n{n}", 100 + n, "no stock", "ValueError")) for n in range(30)]
    remember(store, *same, *others, memory("elsewhere", "t::test_one", deep("one", 12)))
    found = Triage(store.memories, HashedEmbedder()).same_cause("shop", "t::test_new", deep("new", 12), limit=5)
    assert {one.memory.id for one in found[:3]} == {one.id for one in same}
    assert {one.memory.project for one in found} == {"shop"}
    assert found[0].score >= found[-1].score


def test_lines_are_found_by_though_nothing_said_is_alike(store: SqlStore) -> None:
    line = frozenset({"+shop/cart.py:7"})
    wanted = memory("shop", "t::test_far", plain("far", "zebra()", "None", "'stripes'"), line)
    said = plain("new", "total(cart)", "3", "4")
    remember(store, wanted, *(memory("shop", f"t::test_{n}", said, frozenset({f"+x.py:{n}"})) for n in range(150)))
    found = Triage(store.memories, HashedEmbedder()).same_cause("shop", "t::test_new", said, line, limit=5)
    assert found[0].memory.id == wanted.id
