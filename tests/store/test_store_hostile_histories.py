"""Files that are broken, cut off or made to do harm are refused with a sentence, and leave no trace."""

import gzip
import math
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.histories import Piece, exported, file_of, packed, pieces

from whet.checks.sheets import sheet
from whet.core.errors import RefusedInput
from whet.store import SqlStore, open_store
from whet.store.merging import merge_histories

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Three runs, renames, quarantined tests and a map, said in another order than they stand in the file."""
    folder = tmp_path_factory.mktemp("good")
    with open_store(f"sqlite:///{folder / 'whet.db'}") as store:
        store.sheets.add([sheet(0), sheet(1, nearness=bytes(3)), sheet(2)])
        store.sheets.rename({"c": "d", "a": "b"})
        store.sheets.quarantine("t.py::b", "flaky")
        store.sheets.quarantine("a", "slow")
        store.sheets.map_tests({"t.py::a": {"f.py": [1], "g.py": [2]}}, {"f.py": b"content", "g.py": b"other"})
        return exported(store)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('mine') / 'whet.db'}") as opened:
        opened.sheets.add([sheet(7)])
        yield opened


def _refused(store: SqlStore, path: Path, *before: Path) -> str:
    known = exported(store)
    with pytest.raises(RefusedInput) as refusal:
        merge_histories(store.sheets, [*before, path])
    assert exported(store) == known
    message = str(refusal.value)
    assert message.startswith(f"{path} was refused, and nothing was merged: ")
    assert len(message) < len(str(path)) + 400
    return message


def _place(given: list[Piece], kind: str) -> int:
    return next(place for place, (line, _) in enumerate(given) if line["kind"] == kind)


def _changed(kind: str, /, **fields: Any) -> Callable[[list[Piece]], None]:
    def change(given: list[Piece]) -> None:
        given[_place(given, kind)][0].update(fields)

    return change


def _raw(kind: str, change: Callable[[bytes], bytes]) -> Callable[[list[Piece]], None]:
    def work(given: list[Piece]) -> None:
        place = _place(given, kind)
        given[place] = given[place][0], change(given[place][1])

    return work


def _seconds(value: float) -> Callable[[list[Piece]], None]:
    """Of three results: 12 bytes of steps, 3 letters, then the seconds."""
    return _raw("sheet", lambda raw: raw[:15] + struct.pack("<f", value) + raw[19:])


def _twice(kind: str) -> Callable[[list[Piece]], None]:
    def change(given: list[Piece]) -> None:
        given.insert(_place(given, kind), given[_place(given, kind)])
        counted = {"names": "names", "sheet": "sheets", "rename": "renames", "source": "sources", "map": "mapped"}
        given[0][0][counted[kind]] += 3 if kind == "names" else 1

    return change


def _without(kind: str) -> Callable[[list[Piece]], None]:
    def change(given: list[Piece]) -> None:
        given.pop(_place(given, kind))

    return change


def _last_first(given: list[Piece]) -> None:
    given.insert(1, given.pop(_place(given, "map")))


SPOILED: dict[str, tuple[Callable[[list[Piece]], None], str]] = {
    "newer": (_changed("whet-history", version=2), "it has version 2; this version of whet reads 1"),
    "versionless": (_changed("whet-history", version=None), "it has version None"),
    "stranger": (_changed("whet-history", kind="else"), "it is no history"),
    "huge counts": (_changed("whet-history", sheets=10**15), "sheets: Input should be less"),
    "huge sheet": (_changed("sheet", results=10**12), "more tests than there are names"),
    "negative count": (_changed("sheet", results=-1), "results: Input should be greater"),
    "huge source": (_changed("source", bytes=10**12), "bytes: Input should be less"),
    "more than said": (_changed("whet-history", sheets=2), "more sheets than its header says"),
    "less than said": (_changed("whet-history", sheets=4), "its end and its header differ"),
    "unknown field": (_changed("sheet", surprise=1), "surprise: Extra inputs"),
    "unknown line": (_changed("sheet", kind="sheep"), "sheep"),
    "wrong type": (_changed("sheet", id=["x"]), "id: Input should be a valid string"),
    "no zone": (_changed("sheet", at="2024-01-01T00:00:00"), "timezone"),
    "future": (_changed("rename", at="9999-12-31T00:00:00+00:00"), "which is to come"),
    "edge of time": (_changed("sheet", at="9999-12-31T23:59:59-05:00"), "outside of the calendar"),
    "negative seconds": (_seconds(-1.0), "cannot take -1.0 seconds"),
    "infinite seconds": (_seconds(math.inf), "cannot take inf seconds"),
    "strange letter": (_raw("sheet", lambda raw: raw[:12] + b"P" + raw[13:]), "it has the outcomes ['P']"),
    "no letter": (_raw("sheet", lambda raw: raw[:12] + b"\xff" + raw[13:]), "ascii"),
    "unknown test": (_raw("sheet", lambda raw: b"\xff\0\0\0" + raw[4:]), "tests that are not there"),
    "negative test": (_raw("sheet", lambda raw: b"\xff\xff\xff\xff" + raw[4:]), "tests that are not there"),
    "wide test": (_raw("sheet", lambda raw: b"\xff\xff\xff\x7f" * 2 + raw[8:]), "too large"),
    "test twice": (_raw("sheet", lambda raw: raw[:4] + bytes(4) + raw[8:]), "names tests twice"),
    "names twice": (_twice("names"), "its names are out of order"),
    "sheet twice": (_twice("sheet"), "its sheets are out of order"),
    "rename twice": (_twice("rename"), "its renames are out of order"),
    "source twice": (_twice("source"), "its sources are out of order"),
    "map twice": (_twice("map"), "its mapped are out of order"),
    "wrong order": (_last_first, "its map names what is not there"),
    "other content": (_raw("source", lambda raw: bytes(len(raw))), "does not match its digest"),
    "no file": (_changed("map", files=[[99, 0, ""]]), "its map names what is not there"),
    "no bits": (_changed("map", files=[[0, 0, "§"]]), "ASCII"),
    "files twice": (_changed("map", files=[[0, 0, ""], [0, 0, ""]]), "out of order"),
    "no end": (_without("end"), "it ends too early"),
    "two headers": (lambda given: given.insert(1, given[0]), "it has two headers"),
    "more after the end": (lambda given: given.append(given[-1]), "more follows"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_is_refused(name: str, good: bytes, store: SqlStore, tmp_path: Path) -> None:
    spoil, reason = SPOILED[name]
    given = pieces(good)
    spoil(given)
    (tmp_path / "good.whet").write_bytes(good)
    (tmp_path / "bad.whet").write_bytes(packed(given))
    message = _refused(store, tmp_path / "bad.whet", tmp_path / "good.whet")
    assert reason in message


def test_what_is_no_file_of_ours_is_refused(good: bytes, store: SqlStore, tmp_path: Path) -> None:
    path = tmp_path / "file.whet"
    assert "no such file" in _refused(store, tmp_path / "missing")
    assert "it is no file" in _refused(store, tmp_path)
    for content in (b"", b"hello", good[:10], gzip.compress(b""), gzip.compress(b"{}\n"), gzip.compress(b"\0" * 999)):
        path.write_bytes(content)
        _refused(store, path)
    path.write_bytes(good + b"and more")
    _refused(store, path)


def test_every_file_that_was_cut_off_is_refused(good: bytes, store: SqlStore, tmp_path: Path) -> None:
    whole = tmp_path / "whole.whet"
    whole.write_bytes(good)
    cut = tmp_path / "cut.whet"
    for length in range(len(good) - 1, 0, -97):
        cut.write_bytes(good[:length])
        _refused(store, cut, whole)


def test_a_flipped_bit_does_not_get_in(good: bytes, store: SqlStore, tmp_path: Path) -> None:
    path = tmp_path / "flipped.whet"
    for place in range(20, len(good), 83):
        path.write_bytes(good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :])
        _refused(store, path)


def _nothing_but_zeros() -> Iterator[bytes]:
    yield from [bytes(MEGABYTE)] * 100


def _one_long_name(good: bytes) -> Iterator[bytes]:
    yield gzip.decompress(good).partition(b"\n")[0] + b'\n{"kind":"names","names":["'
    yield from [b"a" * MEGABYTE] * 100


def _deep(good: bytes) -> Iterator[bytes]:
    yield gzip.decompress(good).partition(b"\n")[0] + b'\n{"kind":"names","names":'
    yield b"[" * 7 * MEGABYTE + b"\n"


def _names_without_end(good: bytes) -> Iterator[bytes]:
    header = pieces(good)[0][0] | {"names": 5_000_000}
    yield gzip.decompress(packed([(header, b"")]))
    for number in range(200):
        yield b'{"kind":"names","names":["%03d%s"]}\n' % (number, b"a" * MEGABYTE)


@pytest.mark.parametrize("bomb", ["zeros", "name", "deep", "names"])
def test_bombs_are_refused_within_bounds(bomb: str, good: bytes, store: SqlStore, tmp_path: Path) -> None:
    made = {
        "zeros": _nothing_but_zeros(),
        "name": _one_long_name(good),
        "deep": _deep(good),
        "names": _names_without_end(good),
    }
    path = tmp_path / "bomb.whet"
    with gzip.open(path, "wb", 1) as target:
        for part in made[bomb]:
            target.write(part)
    reasons = {"zeros": "it is no history", "name": "a line is too long", "deep": "recursion", "names": "too long"}
    tracemalloc.start()
    assert reasons[bomb] in _refused(store, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 110 * MEGABYTE
    assert path.stat().st_size < 2 * MEGABYTE


def test_nobody_waits_for_the_store_while_a_file_is_refused(good: bytes, store: SqlStore, tmp_path: Path) -> None:
    """Another writer holds the store meanwhile; waiting for it would take two minutes."""
    (tmp_path / "cut.whet").write_bytes(good[:-20])
    with store._database.engine.connect().execution_options(whet_writes=True) as writer, writer.begin():
        assert "ended before" in _refused(store, tmp_path / "cut.whet")


def test_a_file_with_nothing_in_it_is_fine(store: SqlStore, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'empty.db'}") as empty:
        assert set(merge_histories(store.sheets, [file_of(empty, tmp_path / "empty.whet")])) == {0}
    assert len(pieces((tmp_path / "empty.whet").read_bytes())) == 2
