"""Where a failure first went another way: told and read again, compared, found through the store."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.memories import Kind, Memory
from whet.memory.embedding import HashedEmbedder
from whet.memory.failures import Turn, alike, read_failure, remembered_failure
from whet.memory.failures_triage import Triage
from whet.memory.failures_turning import measured, read, told, traits
from whet.store.sql_store import open_store

TEXT = "E   assert 3 == 4\n\ntests/test_cart.py:7: AssertionError"
PLUS_ONE = Turn("shop/cart.py:total+2", 12, "value", "whole", "3", "4")
texts = st.text(max_size=40)
turns = st.builds(Turn, texts, st.integers(0, 9999), st.sampled_from(["way", "value", "ended"]), texts, texts, texts)


def shares(one: Turn, other: Turn) -> float:
    return len(traits(one) & traits(other)) / len(traits(one) | traits(other))


@given(turns)
def test_a_turn_is_told_and_read_again(turn: Turn) -> None:
    again = read(told(turn))
    assert again is not None
    assert again[:4] == turn[:4]
    assert traits(again) == traits(turn), "what is left out says nothing"


@given(st.text(max_size=60) | st.from_regex(r"\[.{0,40}\]"))
def test_any_text_is_read(text: str) -> None:
    read(text)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '["a", "1", "way", "", "", ""]', '["a", 1, "odd", "", "", ""]', "[" * 9999]
)
def test_what_is_no_turn_is_none(text: str) -> None:
    assert read(text) is None


def test_what_was_measured() -> None:
    assert measured(None) is None
    same_way = measured({})
    assert same_way == Turn("")
    assert traits(same_way) == frozenset()
    found: dict[str, Any] = {"place": "a.py:f+1", "line": 3, "kind": "way", "name": "", "was": "x", "now": "y"}
    assert measured(found) == Turn("a.py:f+1", 3, "way", "", "x", "y")


def test_the_nearer_in_place_and_manner_the_more_is_shared() -> None:
    same = shares(PLUS_ONE, PLUS_ONE._replace(was="7", now="8"))
    other_manner = shares(PLUS_ONE, PLUS_ONE._replace(was="7", now="None"))
    other_line = shares(PLUS_ONE, PLUS_ONE._replace(place="shop/cart.py:total+5"))
    elsewhere = shares(PLUS_ONE, PLUS_ONE._replace(place="shop/cart.py:count+2"))
    assert same > other_manner > other_line > elsewhere == 0


def test_only_what_differs_within_a_value_counts() -> None:
    one = PLUS_ONE._replace(name="self", was="Cart('owner':'Ann','items':3)", now="Cart('owner':'Ann','items':4)")
    other = PLUS_ONE._replace(name="self", was="Cart('owner':'Bob','items':8)", now="Cart('owner':'Bob','items':9)")
    assert shares(one, other) > 0.7
    assert "Ann" not in told(one)


def test_a_turn_back_is_nearer_than_a_turn_elsewhere() -> None:
    way = Turn("a.py:f+1", 3, "way", "", "a.py:f+2\tline", "a.py:f+5\tline")
    back, on = way._replace(was=way.now, now=way.was), way._replace(now="a.py:f+9\tline")
    assert shares(way, way) > shares(way, back) > shares(way, on)


def test_one_place_comes_before_like_words() -> None:
    asked = read_failure("t1", TEXT, turned=PLUS_ONE)
    like_words = read_failure(
        "t2", TEXT.replace("3 == 4", "7 == 8"), turned=PLUS_ONE._replace(place="shop/rates.py:rate+1")
    )
    same_place = read_failure("t3", "E   KeyError: 'x'\n", turned=PLUS_ONE._replace(was="1", now="2"))
    others = [read_failure(f"o{n}", f"E   OSError: {n}\n", turned=Turn(f"a.py:f+{n}", n)) for n in range(20)]
    ranked = alike(asked, [like_words, same_place, *others])
    assert [one.candidate for one in ranked[:2]] == [1, 0]
    assert "both first go another way than when they pass at shop/cart.py:12" in ranked[0].why
    assert "another way" not in ranked[1].why


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (PLUS_ONE, "first differs at shop/cart.py:12: whole becomes 4 instead of 3."),
        (Turn("a.py:f+1", 3, "way", "", "a.py:f+2\tline", ""), "to its end instead of a.py:f+2 (line)."),
        (Turn(""), "goes the same way as when it passed"),
        (Turn("a.py:f+1", 3, "ended"), "ends after a.py:3"),
    ],
)
def test_people_read_it(turn: Turn, said: str) -> None:
    assert said in turn.sentence


def test_it_is_found_by_though_nothing_said_is_alike(store_url: str) -> None:
    def memory(test: str, text: str, turn: Turn) -> Memory:
        kept = remembered_failure(test, text, turned=turn)
        return Memory(
            project="shop", kind=Kind.EPISODIC, topic="failure", source=f"failure:{test}", text=text, cue=kept.cue,
            subjects=kept.subjects, about={"test": test, "turned": told(turn)}, at=datetime(2024, 5, 1, tzinfo=UTC),
        )  # fmt: skip

    wanted = memory("t::far", "E   zebra: stripes\n", PLUS_ONE)
    others = [memory(f"t::{n}", TEXT, PLUS_ONE._replace(place=f"x.py:f+{n}")) for n in range(150)]
    model = HashedEmbedder()
    with open_store(store_url) as store:
        made = [wanted, *others]
        store.memories.keep(made, model.name, model.embed([one.found_by() for one in made]))
        found = Triage(store.memories, model).same_cause("shop", "t::new", TEXT, turned=PLUS_ONE, limit=5)
    assert found[0].memory.id == wanted.id
