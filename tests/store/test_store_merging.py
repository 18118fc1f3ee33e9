"""Merging is a union: order, repetition and the way do not matter, on either database."""

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, update
from tests.store.histories import exported, file_of, pieces

from whet.checks.sheets import plain, sheet
from whet.core.sheets import Sheet, SheetKey, Snapshot
from whet.store import SqlStore, open_store
from whet.store.exchange import Extract
from whet.store.merging import Merged, merge_histories
from whet.store.sheet_schema import mapped_sources, mapped_tests, names, quarantine, renames, sheets, snapshots
from whet.store.suite_map import source_digest

Step = Callable[[SqlStore], object]
NAMES = st.sampled_from(["a", "b", "c", "d\0\ud800"])
SHEETS = st.builds(
    lambda number, tests, outcome, branch, near: sheet(
        number,
        tests=tests,
        outcomes=outcome * len(tests),
        seconds=[0.5] * len(tests),
        branch=branch,
        nearness=bytes(len(tests)) if near else None,
    ),
    st.integers(0, 4),
    st.lists(NAMES, unique=True, max_size=3),
    st.sampled_from("pf"),
    st.sampled_from(["main", None]),
    st.booleans(),
)
FILES = st.dictionaries(st.sampled_from(["f.py", "g.py"]), st.sets(st.integers(0, 9)))
LINES = st.dictionaries(NAMES, FILES, max_size=2)


def _adds(given: list[Sheet]) -> Step:
    return lambda store: store.sheets.add(given)


def _renames(given: dict[str, str]) -> Step:
    return lambda store: store.sheets.rename(given)


def _quarantines(test: str, reason: str | None) -> Step:
    return lambda store: store.sheets.release(test) if reason is None else store.sheets.quarantine(test, reason)


def _maps(lines: dict[str, dict[str, set[int]]], content: bytes) -> Step:
    return lambda store: store.sheets.map_tests(lines, {"f.py": content, "g.py": b"same"})


def _at_one_time(store: SqlStore) -> None:
    """Where times are equal, nobody is the newest."""
    with store._database.engine.begin() as connection:
        for table in (renames, quarantine, mapped_tests):
            connection.execute(update(table).values(at=datetime(2024, 1, 1, tzinfo=UTC)))


STEPS = st.one_of(
    st.lists(SHEETS, max_size=4).map(_adds),
    st.dictionaries(NAMES, NAMES, max_size=2).map(_renames),
    st.builds(_quarantines, NAMES, st.sampled_from([None, "slow", "flaky"])),
    st.builds(_maps, LINES, st.sampled_from([b"one", b"two"])),
    st.just(_at_one_time),
)
PASTS = st.lists(st.lists(STEPS, max_size=4), min_size=3, max_size=3)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SqlStore]]:
    folder = tmp_path_factory.mktemp("merging")
    with ExitStack() as stack:
        yield [stack.enter_context(open_store(f"sqlite:///{folder / str(number)}.db")) for number in range(5)]


@given(pasts=PASTS)
@settings(max_examples=15, deadline=None)
def test_it_does_not_matter_who_merges_whom(stores: list[SqlStore], pasts: list[list[Step]]) -> None:
    for store in stores:
        _empty(store)
    *parts, at_once, by_and_by = stores
    for part, steps in zip(parts, pasts, strict=True):
        for step in steps:
            step(part)
    with tempfile.TemporaryDirectory() as folder:
        one, two, three = (file_of(part, Path(folder) / f"{number}.whet") for number, part in enumerate(parts))
        _merging(at_once, [one, two, three])
        _merging(by_and_by, [three], [one, one], [two], [three, one])
        _merging(parts[0], [two], [three])
        _merging(parts[2], [file_of(parts[0], Path(folder) / "sum.whet")])
    for end in (by_and_by, parts[0], parts[2]):
        assert exported(end) == exported(at_once)
        assert [plain(each) for each in end.sheets.read()] == [plain(each) for each in at_once.sheets.read()]
        assert _told(end) == _told(at_once)


def _empty(store: SqlStore) -> None:
    with store._database.engine.begin() as connection:
        for table in (sheets, mapped_tests, mapped_sources, renames, quarantine, snapshots, names):
            connection.execute(delete(table))


def _merging(store: SqlStore, *rounds: Sequence[Path]) -> SqlStore:
    for paths in rounds:
        merge_histories(store.sheets, paths)
    return store


def _told(store: SqlStore) -> object:
    of = store.sheets
    return of.renamed(), of.quarantined(), of.mapped(), of.executed(["f.py", "g.py"]), of.branches()


def test_a_file_goes_from_either_database_to_either(store_url: str, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'one.db'}") as one, open_store(store_url) as two:
        _fill(one)
        merged = merge_histories(two.sheets, [file_of(one, tmp_path / "one.whet")])
        assert merged == Merged(sheets=2, results=6, renames=1, quarantine=1, mapped=1)
        assert exported(two) == exported(one)
        again = merge_histories(two.sheets, [tmp_path / "one.whet"])
        assert again == Merged(known=2)


def _fill(store: SqlStore) -> None:
    store.sheets.add([sheet(0), sheet(1, branch="topic", nearness=b"\0\x64\xff")])
    store.sheets.rename({"t.py::a": "t.py::z"})
    store.sheets.quarantine("t.py::b", "flaky")
    store.sheets.map_tests({"t.py::a": {"f.py": [1, 2]}}, {"f.py": b"content"})


VARIANTS: tuple[dict[str, Any], ...] = (
    {"tests": ("x", "y", "z")},
    {"outcomes": "fpp"},
    {"seconds": (9.0, 0.25, math.nan)},
    {"nearness": b"\0\0\0"},
    {"branch": None},
    {"commit": "c0ffee"},
    {"at": sheet(3).at},
    {"complete": False},
)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: next(iter(variant)))
def test_whatever_differs_between_runs_with_one_id_is_decided(
    variant: dict[str, Any], stores: list[SqlStore], tmp_path: Path
) -> None:
    one, two = stores[:2]
    for store, run in ((one, sheet(0)), (two, sheet(0, **variant))):
        _empty(store)
        store.sheets.add([run])
    _exchange(one, two, tmp_path)


DECREES: tuple[Callable[[SqlStore, str], object], ...] = (
    lambda store, word: store.sheets.rename({"old": word}),
    lambda store, word: store.sheets.quarantine("test", word),
    lambda store, word: store.sheets.map_tests({"test": {"f.py": [1]}}, {"f.py": word.encode()}),
)


@pytest.mark.parametrize("decree", DECREES, ids=["rename", "quarantine", "map"])
def test_words_of_one_moment_are_decided(
    decree: Callable[[SqlStore, str], object], stores: list[SqlStore], tmp_path: Path
) -> None:
    one, two = stores[:2]
    for store, word in ((one, "one"), (two, "two")):
        _empty(store)
        decree(store, word)
        _at_one_time(store)
    _exchange(one, two, tmp_path)


def _exchange(one: SqlStore, two: SqlStore, folder: Path) -> None:
    files = [file_of(store, folder / f"{number}.whet") for number, store in enumerate((one, two))]
    assert files[0].read_bytes() != files[1].read_bytes()
    merge_histories(one.sheets, [files[1]])
    merge_histories(two.sheets, [files[0]])
    assert exported(one) == exported(two)
    assert _told(one) == _told(two)


def test_sources_that_nobody_needs_any_more_are_gone(stores: list[SqlStore], tmp_path: Path) -> None:
    one, two = stores[:2]
    for store, content in ((one, b"older"), (two, b"newer")):
        _empty(store)
        store.sheets.map_tests({"test": {"f.py": [1]}}, {"f.py": content})
    _exchange(one, two, tmp_path)
    for store in (one, two):
        kept = [store.sheets.source(source_digest(content)) for content in (b"older", b"newer")]
        assert kept == [None, b"newer"]


def test_of_two_runs_with_one_id_the_same_one_counts_everywhere(store_url: str, tmp_path: Path) -> None:
    mine, other = sheet(0, outcomes="ppp"), sheet(0, outcomes="fff")
    with open_store(store_url) as one, open_store(f"sqlite:///{tmp_path / 'two.db'}") as two:
        one.sheets.add([mine, sheet(1)])
        two.sheets.add([other])
        for store in (one, two):
            store.sheets.keep("lane", Snapshot(1, SheetKey(mine.at, mine.id), b"learned"))
        files = [file_of(store, tmp_path / f"{number}.whet") for number, store in enumerate((one, two))]
        merged = [merge_histories(store.sheets, files) for store in (one, two)]
        assert sorted((each.sheets, each.results, each.replaced) for each in merged) in (
            [(0, 0, 0), (1, 3, 1)],
            [(0, 0, 1), (1, 3, 0)],
        )
        assert exported(one) == exported(two)
        replaced = [store.sheets.snapshot("lane") is None for store in (one, two)]
        assert replaced == [bool(each.replaced) for each in merged], "a snapshot of what was replaced must go"


def test_snapshots_survive_a_merge_unless_names_change(tmp_path: Path) -> None:
    learned = Snapshot(1, sheet(5).key, b"learned")
    with open_store(f"sqlite:///{tmp_path / 'one.db'}") as one, open_store(f"sqlite:///{tmp_path / 'two.db'}") as two:
        one.sheets.add([sheet(5)])
        one.sheets.keep("lane", learned)
        two.sheets.add([sheet(1)])
        merge_histories(one.sheets, [file_of(two, tmp_path / "runs.whet")])
        assert one.sheets.snapshot("lane") == learned
        assert one.sheets.count(upto=learned.last) == 2, "by which its reader sees that an older run came in"
        two.sheets.rename({"t.py::a": "t.py::z"})
        merge_histories(one.sheets, [file_of(two, tmp_path / "names.whet")])
        assert one.sheets.snapshot("lane") is None


@pytest.mark.parametrize(
    ("extract", "ids", "mapped"),
    [
        (Extract(branches={"topic"}, with_map=False), ["run 1"], {}),
        (Extract(since=sheet(1).at), ["run 1", "run 2"], {"t.py::z": 2}),
    ],
)
def test_an_extract_holds_what_was_asked_for(
    extract: Extract, ids: list[str], mapped: dict[str, int], store_url: str, tmp_path: Path
) -> None:
    with open_store(store_url) as store, open_store(f"sqlite:///{tmp_path / 'other.db'}") as other:
        _fill(store)
        store.sheets.add([sheet(2, branch=None, tests=("unnamed branch", "b", "c"))])
        (tmp_path / "extract.whet").write_bytes(exported(store, extract))
        merge_histories(other.sheets, [tmp_path / "extract.whet"])
        assert [each.id for each in other.sheets.read()] == ids
        assert other.sheets.mapped() == mapped
        assert (other.sheets.quarantined(), other.sheets.renamed()) == ({"t.py::b": "flaky"}, {"t.py::a": "t.py::z"})


def test_an_extract_gives_no_other_names_away(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as store:
        store.sheets.add([sheet(0), sheet(1, branch="topic", tests=("secret", "b", "c"))])
        (header, _), (names, _), *_ = pieces(exported(store, Extract(branches={"main"})))
        assert (header["sheets"], names["names"]) == (1, list(sheet(0).tests))
