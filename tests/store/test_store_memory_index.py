"""The index beside a SQLite file follows from rows: whatever happens to it, what is found is what is there."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from whet.checks.memories import AT, HERE, MODEL, memory, somewhere, sources
from whet.core.memories import Kind, Memory, Wanted
from whet.store import SqlStore, memory_index, memory_indexing, open_store
from whet.store.memory_index_file import IndexFile

ROWS = 285
SEMANTIC = Wanted(project="shop", kinds=(Kind.SEMANTIC,))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where sixty places are many."""
    for module in (memory_indexing, memory_index):
        monkeypatch.setattr(module, "FEW_ROWS", 60)
    monkeypatch.setattr(memory_index, "MOST_HELD_ROWS", 240)
    monkeypatch.setattr(memory_indexing, "_LOOK_EVERY", 30)
    return f"sqlite:///{tmp_path / 'whet.db'}"


def numbered(first: int, count: int) -> list[Memory]:
    kinds = {True: Kind.SEMANTIC, False: Kind.EPISODIC}
    return [memory(f"{n}", kind=kinds[n % 90 == 0], at=AT + timedelta(seconds=n)) for n in range(first, first + count)]


def keep(store: SqlStore, first: int, count: int, shift: int = 0) -> None:
    for start in range(first, first + count, 30):
        made = numbered(start, min(30, first + count - start))
        store.memories.keep(made, MODEL, [somewhere(int(each.source) + shift) for each in made])


def index_file(url: str) -> IndexFile:
    return IndexFile(Path(url.removeprefix("sqlite:///") + "-memory-1.index"))


def recall(store: SqlStore, wanted: Wanted = HERE) -> float:
    right = 0
    for seed in range(5_000, 5_010):
        exact = store.memories.nearest(wanted, MODEL, somewhere(seed), 3, exact=True)
        right += len(set(sources(exact)) & set(sources(store.memories.nearest(wanted, MODEL, somewhere(seed), 3))))
    return right / 30


def test_an_index_is_made_and_finds_what_is_there(url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, 60)
        assert index_file(url).about() is None
        keep(store, 60, ROWS - 60)
        about = index_file(url).about()
        assert about is not None
        assert 60 < about.watermark < ROWS  # the last ones are searched beside it
        assert recall(store) >= 0.95
        assert recall(store, SEMANTIC) == 1.0
    with open_store(url) as store:
        assert recall(store) >= 0.95


def test_lists_are_laid_out_anew_when_there_are_many_more(url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, 90)
        first = index_file(url).about()
        keep(store, 90, 450)
        last = index_file(url).about()
        assert first is not None
        assert last is not None
        assert (first.trained_on, last.trained_on > 4 * first.trained_on) == (90, True)
        assert recall(store) >= 0.95


def test_another_process_s_index_is_taken_up(url: str) -> None:
    with open_store(url) as reader, open_store(url) as writer:
        keep(writer, 0, 45)
        assert recall(reader) == 1.0
        keep(writer, 45, ROWS)
        assert recall(reader) >= 0.95
        assert len(reader.memories._places._spaces[1]._tail) < 120  # type: ignore[attr-defined]


@pytest.mark.parametrize("left", [0, 1, 40, 0.5, 0.999])
def test_a_file_that_was_half_written_is_ignored_and_made_again(left: float, url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, ROWS)
    path = index_file(url).path
    content = path.read_bytes()
    path.write_bytes(content[: int(left if left >= 1 else left * len(content))])
    with open_store(url) as store:
        assert recall(store) >= 0.95
        assert index_file(url).load() is not None


def test_garbage_that_ends_like_an_index_is_ignored(url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, ROWS)
    path = index_file(url).path
    content = path.read_bytes()
    path.write_bytes(b"garbage!" + content[8:])
    with open_store(url) as store:
        assert recall(store) >= 0.95


def test_an_index_of_another_history_is_not_believed(url: str) -> None:
    """A backup of the rows was put back; the same numbers were given to other places since."""
    path = Path(url.removeprefix("sqlite:///"))
    with open_store(url) as store:
        keep(store, 0, 75)
    shutil.copy(path, path.with_name("backup"))
    with open_store(url) as store:
        keep(store, 75, 150)
    shutil.move(path.with_name("backup"), path)
    with open_store(url) as store:
        keep(store, 75, 27, shift=3)
        assert recall(store) >= 0.95
        keep(store, 102, 270, shift=3)
        assert recall(store) >= 0.95


def indexed(url: str) -> set[int]:
    index = index_file(url).load()
    assert index is not None
    return set(index.numbers().tolist())


def places(store: SqlStore, made: list[Memory]) -> set[int]:
    return set(store._database.read(lambda c: memory_indexing._places_of(c, [each.id for each in made]))[1])


def test_what_was_forgotten_or_moved_leaves_the_index(url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, ROWS)
        gone, moved = numbered(100, 20), numbered(0, 27)
        where, before = places(store, gone), indexed(url)
        assert where <= before
        assert store.memories.forget([each.id for each in gone], "asked to") == 20
        assert indexed(url) == before - where
        near = [sources(store.memories.nearest(HERE, MODEL, somewhere(n), 5)) for n in range(100, 120)]
        assert not {each.source for each in gone} & {each for found in near for each in found}
        where = places(store, moved)
        keep(store, 0, 27, shift=1)
        keep(store, ROWS, 120)
        assert not where & indexed(url)
        assert recall(store) >= 0.95


def test_a_model_s_index_goes_with_it(url: str) -> None:
    with open_store(url) as store:
        keep(store, 0, ROWS)
        store.memories.drop_model("shop", MODEL)
        assert index_file(url).stamp() is None
        keep(store, 0, ROWS)
        assert recall(store) >= 0.95


def test_without_faiss_everything_is_found_all_the_same(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(url) as store:
        keep(store, 0, 150)
    for module in (memory_indexing, memory_index):
        monkeypatch.setattr(module, "is_installed", lambda: False)
    with open_store(url) as store:
        keep(store, 150, ROWS)
        assert recall(store) == 1.0
        assert store.memories.forget([numbered(10, 1)[0].id], "asked to") == 1
        assert index_file(url).stamp() is None  # nobody here could take it out of there


def test_an_index_that_cannot_be_written_stops_nobody(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(IndexFile, "save", full)
    with open_store(url) as store:
        keep(store, 0, 90)
        assert store.memories.count(HERE) == 90
        assert recall(store) == 1.0
