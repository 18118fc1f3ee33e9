"""kill -9 at any moment, also between the rows and the index: what is found is what is there."""

import os
import random
import signal
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from tests.forked import forked

from whet.checks.memories import HERE, MODEL, memory, somewhere
from whet.store import SqlStore, memory_index, memory_indexing, open_store
from whet.store.memory_blocks import live_numbers
from whet.store.memory_index_file import Index, IndexFile, laid_out
from whet.store.memory_rows import Space

KILLS = 200
SPACE = Space(1, 8)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a handful of places is many, and the index is looked after all the time."""
    laid_out(np.eye(2_000, 64, dtype=np.float32), 2_000)  # as after other tests: faiss has its pool of threads by now
    for module in (memory_indexing, memory_index):
        monkeypatch.setattr(module, "FEW_ROWS", 8)
    monkeypatch.setattr(memory_indexing, "_LOOK_EVERY", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # threads of a parent are not there in its children
    return f"sqlite:///{tmp_path / 'whet.db'}"


def _remember_and_forget(url: str, name: int, acknowledge: int) -> None:
    if name % 2:
        _die_between_the_two_writes(name // 2)
    store = open_store(url)
    for number in count():
        made = [memory(f"{name}/{number}/{n}") for n in range(5)]
        store.memories.keep(made, MODEL, [_place(each.source) for each in made])
        os.write(acknowledge, "".join(f"+{each.source}\n" for each in made).encode())
        if number % 2:
            store.memories.forget([made[0].id], "asked to")
            os.write(acknowledge, f"-{made[0].source}\n".encode())


def _die_between_the_two_writes(number: int) -> None:
    """When the index is saved for the n-th time: before, while, and after its file takes the old one's place."""
    save, saves, moment = IndexFile.save, count(), number % 3

    def save_and_die(file: IndexFile, index: Index) -> None:
        if next(saves) < number % 4:
            save(file, index)
            return
        if moment:
            save(IndexFile(file.unfinished) if moment == 1 else file, index)
        os.kill(os.getpid(), signal.SIGKILL)

    vars(memory_indexing)["IndexFile"] = type("Deadly", (IndexFile,), {"save": save_and_die})


def _place(source: str) -> bytes:
    return somewhere(hash(tuple(map(int, source.split("/")))) % 10**6)


def _kill_one(url: str, name: int, after_seconds: float) -> list[str]:
    """What it acknowledged before it was killed, so long after its first word."""
    reading, writing = os.pipe()
    child = forked(lambda: _remember_and_forget(url, name, writing))
    os.close(writing)
    early = os.read(reading, 65536).decode()
    if not name % 2:
        time.sleep(after_seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    with os.fdopen(reading) as rest:
        return (early + rest.read()).split()


def _index_is_of_the_rows(store: SqlStore, url: str) -> bool:
    """Whether there is an index; if so, it holds exactly the rows up to its watermark."""
    index = IndexFile(Path(url.removeprefix("sqlite:///") + "-memory-1.index")).load()
    if index is None:
        return False
    held = set(index.numbers().tolist())
    live = set(store._database.read(lambda connection: live_numbers(connection, SPACE)).tolist())
    assert held == {number for number in live if number <= index.about.watermark}
    return True


def _everything_is_found(store: SqlStore, said: list[str]) -> None:
    gone = {each[1:] for each in said if each[0] == "-"}
    stays = [each[1:] for each in said if each[0] == "+" and each[1:] not in gone]
    there = {each.source for each in store.memories.newest(HERE, 100_000)}
    assert not gone & there
    missing = [each.split("/") for each in set(stays) - there]
    assert len({child for child, _, _ in missing}) == len(missing)  # at most the one that each was forgetting
    assert all(int(batch) % 2 and place == "0" for _, batch, place in missing)
    for source in random.Random(len(said)).sample(sorted(set(stays) & there), 8):
        found = store.memories.nearest(HERE, MODEL, _place(source), 3)
        assert found[0].likeness > 0.999999
        assert not gone & {near.memory.source for near in found}


def test_rows_and_index_survive_200_kills(url: str) -> None:
    open_store(url).close()
    dice, said, indexed = random.Random(7), list[str](), 0
    for number in range(KILLS):
        said += _kill_one(url, number, dice.uniform(0, 0.02))
        with open_store(url) as store:
            indexed += _index_is_of_the_rows(store, url)
            if number % 20 == 19:
                _everything_is_found(store, said)
    assert KILLS // 4 < indexed < KILLS
    assert len(said) > 5 * KILLS
