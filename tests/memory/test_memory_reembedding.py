"""Another embedder takes over while questions are answered, whoever is killed and however many do it at once."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from tests.forked import forked
from tests.memory.remembered import keep, memory, question

from whet.core.memories import Embedding, Memories, Wanted
from whet.core.ports import Store
from whet.memory import reembedding
from whet.memory.embedding import HashedEmbedder
from whet.memory.failures_triage import Triage
from whet.memory.reembedding import BATCH, BELIEVED_SECONDS, KEPT_SECONDS, Models, Reembedding
from whet.memory.remembering_failures import failure_memory
from whet.memory.retrieval import Retrieval
from whet.store import open_store

OLD = HashedEmbedder()
MANY = 3 * BATCH + 5
SHOP = Wanted(project="shop")


class Turned:
    """Hashed places in another order: no place of the one means anything to the other."""

    name = "turned-1"
    dimensions = OLD.dimensions

    def __init__(self, pause_seconds: float = 0.0, failures: int = 0) -> None:
        self.pause_seconds, self.failures = pause_seconds, failures
        self.begun = Event()

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.begun.set()
        time.sleep(self.pause_seconds)
        if self.failures:
            self.failures -= 1
            raise OSError("the disk is full")
        return [np.frombuffer(place, "<f4")[::-1].tobytes() for place in OLD.embed(texts)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path / 'whet.db'}")
    yield store
    store.close()


@pytest.fixture
def memories(store: Store) -> Memories:
    return store.memories


@pytest.fixture
def many(memories: Memories) -> Memories:
    return _with_many(memories)


@pytest.fixture
def shared(store_url: str) -> Iterator[Memories]:
    """In SQLite and in PostgreSQL, for other processes to open."""
    store = open_store(store_url)
    yield _with_many(store.memories)
    store.close()


def _with_many(memories: Memories) -> Memories:
    keep(memories, OLD, *(memory(f"failure in module {_word(number)}") for number in range(MANY)))
    return memories


def _word(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number)) * 3


def answering(models: Models) -> list[str]:
    models.look_again("shop")
    return [one.name for one in models.answering("shop")]


def test_the_old_places_answer_until_the_new_ones_are_all_there(many: Memories) -> None:
    new = Turned()
    models = Models(many, new, [OLD])
    retrieval = Retrieval(many, new, models)
    wanted = f"failure in module {_word(17)}"

    assert answering(models) == ["hashed-1"]
    assert retrieval.recall(question(wanted), 1)[0].memory.text == wanted

    some = many.without("shop", new.name, BATCH)
    many.place([one.id for one in some], new.name, new.embed([one.text for one in some]))
    keep(many, new, memory("known to the new one alone"))
    assert answering(models) == ["hashed-1", "turned-1"]
    for text in (wanted, "known to the new one alone"):
        assert retrieval.recall(question(text), 1)[0].memory.text == text

    assert Reembedding(many, new, models).catch_up("shop") == MANY - BATCH
    assert answering(models) == ["turned-1"]
    assert retrieval.recall(question(wanted), 1)[0].memory.text == wanted


def test_failures_of_the_same_cause_are_found_by_their_old_places(memories: Memories) -> None:
    said = "the lights went out in the cellar"
    keep(memories, OLD, failure_memory("shop", "tests/test_a.py::test_x", said, at=datetime.now(UTC), run_id="r"))
    new = Turned()
    triage = Triage(memories, new, models=Models(memories, new, [OLD]))
    assert [each.memory.about["test"] for each in triage.same_cause("shop", "", said)] == ["tests/test_a.py::test_x"]


def test_a_model_that_cannot_be_loaded_does_not_answer(many: Memories) -> None:
    new = Turned()
    assert answering(Models(many, new, [])) == ["turned-1"]
    recalled = Retrieval(many, new, Models(many, new, [])).recall(question("failure"), 3)
    assert len(recalled) == 3  # the newest


def test_what_another_process_changed_is_seen_after_a_while(many: Memories) -> None:
    now = [1000.0]
    models = Models(many, Turned(), [OLD], lambda: now[0])
    assert [one.name for one in models.answering("shop")] == ["hashed-1"]
    Reembedding(many, Turned()).catch_up("shop")
    assert [one.name for one in models.answering("shop")] == ["hashed-1"]
    now[0] += BELIEVED_SECONDS + 1
    assert [one.name for one in models.answering("shop")] == ["turned-1"]


def test_the_background_fills_in_every_project(many: Memories) -> None:
    keep(many, OLD, memory("elsewhere", project="other"))
    with Reembedding(many, Turned()):
        _until(lambda: many.models("shop").get("turned-1") == MANY and many.models("other").get("turned-1") == 1)
    assert many.without("shop", "turned-1", 1) == []


def test_stopping_waits_for_no_more_than_the_batch_under_way(many: Memories) -> None:
    new = Turned(pause_seconds=0.2)
    worker = Reembedding(many, new)
    worker.start()
    assert new.begun.wait(10)
    worker.stop()
    done = many.models("shop").get("turned-1", 0)
    assert 0 < done < MANY
    time.sleep(0.3)
    assert many.models("shop").get("turned-1", 0) == done
    with worker:
        _until(lambda: many.models("shop").get("turned-1") == MANY)


def test_what_fails_is_tried_again(many: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "RETRY_SECONDS", 0.01)
    with Reembedding(many, Turned(failures=2)):
        _until(lambda: many.models("shop").get("turned-1") == MANY)


def test_a_killed_process_is_gone_on_from(shared: Memories, store_url: str) -> None:
    child = forked(lambda: Reembedding(open_store(store_url).memories, Turned(pause_seconds=0.1)).catch_up("shop"))
    _until(lambda: shared.models("shop").get("turned-1", 0) > 0)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    got = shared.models("shop")["turned-1"]
    assert got < MANY
    assert Reembedding(shared, Turned()).catch_up("shop") == MANY - got
    assert shared.models("shop") == {"hashed-1": MANY, "turned-1": MANY}


def test_several_processes_at_once_do_no_harm(shared: Memories, store_url: str) -> None:
    children = [
        forked(lambda: Reembedding(open_store(store_url).memories, Turned(pause_seconds=0.02)).catch_up("shop"))
        for _ in range(3)
    ]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert shared.models("shop") == {"hashed-1": MANY, "turned-1": MANY}
    assert shared.count(SHOP) == MANY


def test_old_places_go_when_nobody_used_them_for_a_day(many: Memories) -> None:
    now = [1_000_000.0]
    new = Reembedding(many, Turned(), clock=lambda: now[0])
    new.catch_up("shop")
    assert set(many.models("shop")) == {"hashed-1", "turned-1"}

    now[0] += KEPT_SECONDS - 1
    Reembedding(many, OLD, clock=lambda: now[0]).catch_up("shop")  # a machine that still asks by the old one
    now[0] += 10
    new.catch_up("shop")
    assert set(many.models("shop")) == {"hashed-1", "turned-1"}

    now[0] += KEPT_SECONDS
    new.catch_up("shop")
    assert many.models("shop") == {"turned-1": MANY}
    assert many.count(SHOP) == MANY


def test_what_was_forgotten_meanwhile_gets_no_place(many: Memories) -> None:
    class Forgetting(Turned):
        def embed(self, texts: Sequence[str]) -> list[Embedding]:
            many.forget([one.id for one in many.newest(SHOP, 2)], "asked to")
            return super().embed(texts)

    Reembedding(many, Forgetting()).catch_up("shop")
    assert many.without("shop", "turned-1", 1) == []
    assert many.models("shop")["turned-1"] == many.count(SHOP) < MANY


def _until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
