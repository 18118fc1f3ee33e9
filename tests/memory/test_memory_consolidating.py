"""Facts are made, confirmed and let go in the store; doing it again changes nothing; pinned ones stay."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.memory.episodes import PROJECT, run, turn, when

from whet.core.memories import Kind, Memory, Wanted
from whet.memory.consolidating import consolidate, judged
from whet.memory.embedding import HashedEmbedder
from whet.memory.forgetting import Bound, forget
from whet.memory.remembering import keep
from whet.store.sql_store import SqlStore, open_store

BILLING = "tests/billing/test_invoice.py::test_total"


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path}/whet.db") as opened:
        yield opened


def lived(store: SqlStore, episodes: Sequence[Memory]) -> None:
    keep(store.memories, HashedEmbedder(), list(episodes))


def planted(first: int = 0, held: int = 14, against: int = 1) -> list[Memory]:
    fates = [True] * held + [False] * against
    broken = [run(first + n, [BILLING] if fails else [], ["src/prices.py"]) for n, fails in enumerate(fates)]
    return [*broken, *(run(first + 100 + n, [], ["src/login.py"]) for n in range(40))]


def facts(store: SqlStore) -> list[Memory]:
    return store.memories.newest(Wanted(project=PROJECT, kinds=(Kind.SEMANTIC,)), 100)


def test_a_fact_is_made_confirmed_and_let_go(store: SqlStore) -> None:
    lived(store, planted())
    first = consolidate(store.memories, HashedEmbedder(), PROJECT)
    (fact,) = facts(store)
    assert [each.id for each in first.made] == [fact.id]
    assert (fact.support, fact.against) == (14, 1)
    assert fact.text.startswith("Tests in tests/billing/test_invoice.py fail when src/prices.py changes: 14 of 15")

    again = consolidate(store.memories, HashedEmbedder(), PROJECT)
    assert (again.made, again.let_go, [each.id for each in again.confirmed]) == ((), (), [fact.id])
    assert facts(store) == [fact]

    lived(store, [run(500, [BILLING], ["src/prices.py"])])
    consolidate(store.memories, HashedEmbedder(), PROJECT)
    assert [(each.id, each.support) for each in facts(store)] == [(fact.id, 15)]

    lived(store, [run(600 + n, [], ["src/prices.py"]) for n in range(8)])
    last = consolidate(store.memories, HashedEmbedder(), PROJECT)
    assert [each.why for each in last.let_go] == [
        "it held 1 of 10 times lately, and 0% of the time without its condition"
    ]
    assert facts(store) == []
    forgotten = [each.payload for each in store.audit.entries() if fact.id in each.payload.get("ids", ())]
    assert "it held 1 of 10 times lately" in str(forgotten)
    assert "prices" not in str(forgotten)
    assert consolidate(store.memories, HashedEmbedder(), PROJECT).made == ()


def test_a_pinned_fact_that_ended_stays_with_its_true_numbers(embedded: SqlStore) -> None:
    lived(embedded, planted())
    consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    embedded.memories.pin(facts(embedded)[0].id, True)
    lived(embedded, [run(600 + n, [], ["src/prices.py"]) for n in range(8)])
    done = consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    (kept,) = facts(embedded)
    assert (done.let_go, [each.id for each in done.doubted]) == ((), [kept.id])
    assert (kept.pinned, kept.support, kept.against) == (True, 0, 9)


def test_a_fact_whose_episodes_were_forgotten_stays(embedded: SqlStore) -> None:
    lived(embedded, planted())
    consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    before = facts(embedded)
    forget(embedded.memories, PROJECT, when(200), Bound(keep=3, keep_days=1000))
    done = consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    assert (done.made, done.let_go, list(done.unchecked)) == ((), (), before)
    assert facts(embedded) == before


def test_procedures_are_made_too(embedded: SqlStore) -> None:
    steps = [
        turn(10 * n + place, action, agent=agent, reward=9.0 if n < 12 else 0.0, run_id=f"run-{n}")
        for n in range(40)
        for place, (agent, action) in enumerate((("executor", "run_all"), ("hunter", "x" if n < 12 else "y")))
    ]
    lived(embedded, steps)
    (made,) = consolidate(embedded.memories, HashedEmbedder(), PROJECT).made
    assert (made.kind, made.topic) == (Kind.PROCEDURAL, "procedure")
    assert "executor run_all → hunter x worked 12 of 12 times; otherwise 0 of 28." in made.text


def test_other_projects_and_peoples_notes_are_left_alone(embedded: SqlStore) -> None:
    note = run(1).model_copy(update={"kind": Kind.SEMANTIC, "topic": "note", "source": "note:1", "text": "mine"})
    theirs = [each.model_copy(update={"project": "elsewhere"}) for each in planted()]
    lived(embedded, [note, *theirs])
    done = consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    assert done == ((), (), (), (), ())
    assert facts(embedded) == [note]


def test_nothing_pinned_is_forgotten_even_when_it_was_pinned_a_moment_ago(embedded: SqlStore) -> None:
    lived(embedded, planted())
    chosen = embedded.memories.newest(Wanted(project=PROJECT), 3)
    looks = iter([list(embedded.memories.outlines(PROJECT))])
    for each in chosen:
        embedded.memories.pin(each.id, True)

    class AsItWas:
        """Somebody who looked before they were pinned."""

        def outlines(self, project: str) -> Iterator[object]:
            return iter(next(looks, []) or list(embedded.memories.outlines(project)))

        def __getattr__(self, name: str) -> object:
            return getattr(embedded.memories, name)

    forget(AsItWas(), PROJECT, when(0) + timedelta(days=4000), Bound(0, 1.0))  # type: ignore[arg-type]
    assert {each.id for each in embedded.memories.newest(Wanted(project=PROJECT), 100)} == {c.id for c in chosen}


def test_a_fact_that_is_pinned_while_it_is_judged_stays(embedded: SqlStore) -> None:
    lived(embedded, planted())
    consolidate(embedded.memories, HashedEmbedder(), PROJECT)
    (fact,) = facts(embedded)
    lived(embedded, [run(600 + n, [], ["src/prices.py"]) for n in range(8)])

    class PinnedMeanwhile:
        """Somebody pins it as soon as it was read."""

        def newest(self, wanted: Wanted, limit: int, offset: int = 0) -> list[Memory]:
            found = embedded.memories.newest(wanted, limit, offset)
            embedded.memories.pin(fact.id, True)
            return [each.model_copy(update={"pinned": False}) for each in found]

        def __getattr__(self, name: str) -> object:
            return getattr(embedded.memories, name)

    done = consolidate(PinnedMeanwhile(), HashedEmbedder(), PROJECT)  # type: ignore[arg-type]
    assert done.let_go == ()
    assert [each.id for each in facts(embedded)] == [fact.id]


def test_judging_is_a_function_of_the_episodes() -> None:
    episodes = planted()
    made = judged(PROJECT, episodes, {}).made
    known = {each.source: each for each in made}
    assert judged(PROJECT, episodes[::-1], {}).made == made
    assert judged(PROJECT, episodes, known).confirmed == made
