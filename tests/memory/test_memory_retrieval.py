"""What is recalled, in which order, and why."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.remembered import NOW, keep, memory, question

from whet.core.memories import Kind, Memories, Memory, Recalled, Wanted
from whet.core.ports import Store
from whet.memory.embedding import HashedEmbedder, embedder
from whet.memory.retrieval import Retrieval, to_recollections
from whet.memory.retrieval_ranking import Candidate, ranked
from whet.store import open_store

HASHED = HashedEmbedder()
TIMEOUT = "test_checkout: TimeoutError: the payment service did not answer in time"
TAX = "test_tax: AssertionError: assert 19 == 7, the tax of books"
LOGIN = "test_login: KeyError: 'csrf' in the session of the user"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path / 'whet.db'}")
    yield store
    store.close()


@pytest.fixture
def each_memories(store_url: str) -> Iterator[Memories]:
    """Of SQLite and of PostgreSQL in turn."""
    store = open_store(store_url)
    yield store.memories
    store.close()


@pytest.fixture
def memories(store: Store) -> Memories:
    return store.memories


@pytest.fixture
def retrieval(memories: Memories) -> Retrieval:
    return Retrieval(memories, HASHED)


def texts(recalled: list[Recalled]) -> list[str]:
    return [one.memory.text for one in recalled]


def test_nothing_is_recalled_of_nothing(retrieval: Retrieval) -> None:
    assert retrieval.recall(question()) == []
    assert retrieval.recall(question("a timeout", "test:a")) == []
    assert to_recollections([]) == ()


def test_what_is_alike_comes_first(each_memories: Memories) -> None:
    retrieval = Retrieval(each_memories, HASHED)
    keep(each_memories, HASHED, memory(TIMEOUT, 90), memory(TAX, 1), memory(LOGIN, 2))
    recalled = retrieval.recall(question("TimeoutError: payment service did not answer"))
    assert texts(recalled)[0] == TIMEOUT
    assert set(texts(recalled)) == {TIMEOUT, TAX, LOGIN}
    assert re.search(r"^0\.[5-9]\d alike; happened 90 days ago$", recalled[0].why)


def test_what_is_about_the_same_comes_first(memories: Memories, retrieval: Retrieval) -> None:
    about = ("test:tests/test_tax.py::test_books", "file:src/tax.py")
    keep(memories, HASHED, memory(TIMEOUT, 1), memory(TAX, 200, subjects=about), memory(LOGIN, 2))
    recalled = retrieval.recall(question("", *about, "exception:ValueError"))
    assert texts(recalled)[0] == TAX
    assert recalled[0].why == "about the same test and file; happened 200 days ago"


def test_without_a_question_the_newest_come_first(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, memory(TIMEOUT, 9), memory(TAX, 1), memory(LOGIN, 4))
    assert texts(retrieval.recall(question(), limit=2)) == [TAX, LOGIN]
    assert retrieval.recall(question(" \n\t"), limit=1)[0].why == "happened 1 day ago"


def test_no_more_than_was_asked_for(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, *(memory(f"{TIMEOUT} {word}") for word in ("once", "often", "never")))
    assert len(retrieval.recall(question(TIMEOUT), limit=2)) == 2
    assert retrieval.recall(question(TIMEOUT), limit=0) == []


def test_what_was_found_deep_in_two_ways_is_found(memories: Memories, retrieval: Retrieval) -> None:
    """Neither the newest nor first by likeness or subject, but the only one with both."""
    subject = "file:src/prices.py"
    many = [memory(f"{TIMEOUT} in shop {word}") for word in ("alpha", "beta", "gamma", "delta", "eta", "theta")]
    about = [memory(f"{word} of {LOGIN}", subjects=(subject,)) for word in ("one", "two", "three", "four")]
    both = memory(f"{TIMEOUT} when prices change in the shop", 3, subjects=(subject,))
    keep(memories, HASHED, *many, *about, both)
    assert texts(retrieval.recall(question(TIMEOUT, subject), limit=1)) == [both.text]


def test_near_duplicates_once_and_counted(memories: Memories, retrieval: Retrieval) -> None:
    again = [memory(f"{TIMEOUT} after {seconds} s at 0x7f{seconds}ab", 10 - seconds) for seconds in range(4)]
    keep(memories, HASHED, *again, memory(TAX))
    recalled = retrieval.recall(question(TIMEOUT))
    assert len(recalled) == 2
    assert recalled[0].memory.text == again[3].text  # the newest of them
    assert recalled[0].why.endswith("; 3 more like it")


def test_many_duplicates_do_not_hide_the_others(memories: Memories, retrieval: Retrieval) -> None:
    again = [memory(f"{TIMEOUT} after {number} s", 1, subjects=("test:a",)) for number in range(70)]
    keep(memories, HASHED, *again, memory(TAX, 30), memory(LOGIN, 30))
    recalled = retrieval.recall(question(TIMEOUT, "test:a"), limit=3)
    assert len(recalled) == 3
    assert recalled[0].why.endswith("; 69 more like it")


class Counting:
    """Memories that tell how many were asked of them, and how."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self.asked: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self._memories, name)
        if name not in ("nearest", "sharing", "newest"):
            return answer

        def counted(*arguments: Any) -> Any:
            self.asked.append((name, arguments[-1]))
            return answer(*arguments)

        return counted


def test_what_all_says_the_same_is_looked_for_once_more_and_no_further(memories: Memories) -> None:
    """However many say the same: what is similar is asked for three times as many, nothing else is asked again."""
    keep(memories, HASHED, *(memory(f"{TIMEOUT} after {number} s", 1, subjects=("test:a",)) for number in range(300)))
    counting = Counting(memories)
    retrieval = Retrieval(counting, HASHED)
    assert len(retrieval.recall(question(TIMEOUT, "test:a"), limit=3)) == 1
    assert counting.asked == [("nearest", 30), ("sharing", 30), ("newest", 30), ("nearest", 90)]
    counting.asked = []
    assert len(retrieval.recall(question("", "test:a"), limit=3)) == 1
    assert counting.asked == [("sharing", 30), ("newest", 30), ("sharing", 90), ("newest", 90)]


def test_a_fact_is_no_duplicate_of_what_happened(memories: Memories, retrieval: Retrieval) -> None:
    fact = memory(TIMEOUT, kind=Kind.SEMANTIC, topic="fact", support=14, against=1)
    keep(memories, HASHED, memory(TIMEOUT), fact)
    reasons = {one.memory.kind: one.why for one in retrieval.recall(question(TIMEOUT))}
    assert reasons[Kind.SEMANTIC] == "1.00 alike; known since 1 day ago; held 14 of 15 times"
    assert reasons[Kind.EPISODIC] == "1.00 alike; happened 1 day ago"


def test_what_often_did_not_hold_comes_later(memories: Memories, retrieval: Retrieval) -> None:
    good = memory(f"{TIMEOUT}: run it again alone", kind=Kind.PROCEDURAL, topic="procedure", support=9, against=1)
    bad = memory(f"{TIMEOUT}: run it again at once", kind=Kind.PROCEDURAL, topic="procedure", support=1, against=9)
    keep(memories, HASHED, bad, good)
    assert texts(retrieval.recall(question(TIMEOUT))) == [good.text, bad.text]


def test_looking_is_no_use(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, memory(TIMEOUT))
    retrieval.recall(question(TIMEOUT))
    assert memories.newest(Wanted(project="shop"), 1)[0].used == 0
    retrieval.recall(question(TIMEOUT), is_use=True)
    (used,) = retrieval.recall(question(TIMEOUT), is_use=True)
    assert used.why.endswith("; used once")
    assert memories.newest(Wanted(project="shop"), 1)[0].used == 2


def test_another_projects_memories_are_not_recalled(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, memory(TIMEOUT, project="other", subjects=("test:a",)))
    assert retrieval.recall(question(TIMEOUT, "test:a")) == []


def test_memories_without_a_place_of_this_model(memories: Memories) -> None:
    """Kept by hashes; a sentence model asks, and cannot be answered by its own places."""
    keep(memories, HASHED, memory(TIMEOUT), memory(TAX))
    recalled = Retrieval(memories, embedder("minilm")).recall(question("payment service TimeoutError"))
    assert texts(recalled)[0] == TIMEOUT
    assert "alike" in recalled[0].why


def test_a_secret_in_the_question_is_what_it_was_when_remembered(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, memory("login failed with password=[password] for [e-mail]"))
    (recalled,) = retrieval.recall(question("login failed with password=hunter2 for bob@example.com"))
    assert recalled.why.startswith("1.00 alike")


def test_any_question_is_answered(each_memories: Memories) -> None:
    retrieval = Retrieval(each_memories, HASHED)
    keep(each_memories, HASHED, memory(TIMEOUT))
    for text in ("\0", "\ud800", "x" * 50_000, "'; drop table memories; --", "%_\\"):
        assert texts(retrieval.recall(question(text))) == [TIMEOUT]
        assert texts(retrieval.recall(question("", f"test:{text[:100]}"))) == [TIMEOUT]


def test_recollections_weigh_one_together(memories: Memories, retrieval: Retrieval) -> None:
    keep(memories, HASHED, memory(TIMEOUT), memory(TAX), memory("long " * 200))
    recalled = retrieval.recall(question(TIMEOUT))
    kept = to_recollections(recalled)
    assert [one.memory for one in kept] == [one.memory.id for one in recalled]
    assert sum(one.weight for one in kept) == pytest.approx(1)
    assert kept[0].weight == max(one.weight for one in kept)
    assert max(len(one.text) for one in kept) == 300


def test_recollections_of_what_scored_nothing_weigh_the_same() -> None:
    nothing = [Recalled(memory(text), 0.0, "") for text in ("a", "b")]
    assert [one.weight for one in to_recollections(nothing)] == [0.5, 0.5]


memories_of_any_kind = st.builds(
    memory,
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(lambda text: bool(text.strip())),
    st.floats(-10, 4000),
    importance=st.floats(0, 1),
    support=st.integers(0, 100),
    against=st.integers(0, 100),
    subjects=st.sampled_from([(), ("test:a",), ("test:a", "file:b")]),
)
shares = st.none() | st.floats(-1, 1.001)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(memories_of_any_kind, shares, shares), max_size=12), st.sampled_from(["", "a question"]))
def test_ranking_loses_and_invents_nothing(
    given_ones: list[tuple[Memory, float | None, float | None]], text: str
) -> None:
    candidates = [Candidate(one, likeness, shared) for one, likeness, shared in given_ones]
    best = ranked(candidates, question(text, "test:a"), NOW, 12)
    assert all(0 <= one.score <= 1 for one in best)
    assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)
    told = [one.memory.id for one in best] + [repeat.id for one in best for repeat in one.repeats]
    assert sorted(told) == sorted(one.id for one, _, _ in given_ones)


def test_a_memory_of_tomorrow_is_as_of_now() -> None:
    (one,) = ranked([Candidate(memory(TIMEOUT, -3))], question(), NOW + timedelta(days=1), 1)
    assert one.score <= 1
