"""Taking in what other stores exported: all of it or nothing, in any order, as often as one likes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from whet.store import sheet_rows, suite_map
from whet.store.engine import Database
from whet.store.exchange_reading import HistoryFile, Part, Source
from whet.store.names import Numbering
from whet.store.packing import Filed
from whet.store.renames import Rename, Word, all_renames, all_words, save_renames, save_words
from whet.store.sheets import SqlSheets
from whet.store.suite_map import MappedTest

T = TypeVar("T")
_SOURCES_AT_ONCE = 20
_TESTS_AT_ONCE = 500


class Merged(NamedTuple):
    """What changed. `replaced`: runs that were known with other content, of which the same one counts everywhere."""

    sheets: int = 0
    results: int = 0
    known: int = 0
    replaced: int = 0
    renames: int = 0
    quarantine: int = 0
    mapped: int = 0

    def plus(self, other: "Merged") -> "Merged":
        return Merged(*(mine + its for mine, its in zip(self, other, strict=True)))


def check_histories(paths: Sequence[Path]) -> None:
    """Refuses what is no history, or is damaged, with a sentence."""
    for path in paths:
        for _ in HistoryFile(path).parts():
            pass


def merge_histories(target: SqlSheets, paths: Sequence[Path]) -> Merged:
    """Files are read twice: once to be checked, so that nobody waits for the store while one is being refused."""
    check_histories(paths)

    def work(connection: Connection) -> Merged:
        return reduce(Merged.plus, (_merge(connection, target.database, path) for path in paths), Merged())

    return target.write(work)


def _merge(connection: Connection, database: Database, path: Path) -> Merged:
    history = HistoryFile(path)
    done = Merged()
    for kind, parts in groupby(history.parts(), key=type):
        done = done.plus(_take(connection, database, history, kind, parts))
    suite_map.forget_unused_sources(connection)
    return done


def _take(
    connection: Connection, database: Database, history: HistoryFile, kind: type[Part], parts: Iterable[Part]
) -> Merged:
    if kind is Filed:
        sheets = (each for each in parts if isinstance(each, Filed))
        new = sheet_rows.insert(connection, sheets, Numbering(connection, history.names), merging=True)
        return Merged(**new._asdict())
    if kind is Rename:
        return Merged(renames=_renames(connection, database, [each for each in parts if isinstance(each, Rename)]))
    if kind is Word:
        return Merged(quarantine=_words(connection, database, [each for each in parts if isinstance(each, Word)]))
    if kind is Source:
        for batch in _batches((each for each in parts if isinstance(each, Source)), _SOURCES_AT_ONCE):
            suite_map.save_sources(connection, {each.digest: each.content for each in batch})
        return Merged()
    tests = _batches((each for each in parts if isinstance(each, MappedTest)), _TESTS_AT_ONCE)
    return Merged(mapped=sum(_mapped(connection, batch) for batch in tests))


def _renames(connection: Connection, database: Database, given: Sequence[Rename]) -> int:
    known = all_renames(connection)
    newer = [each for each in given if each.old not in known or known[each.old].rank < each.rank]
    save_renames(connection, database, newer)
    if newer:
        sheet_rows.forget_snapshots(connection)
    return len(newer)


def _words(connection: Connection, database: Database, given: Sequence[Word]) -> int:
    known = all_words(connection)
    newer = [each for each in given if each.test not in known or known[each.test].rank < each.rank]
    save_words(connection, database, newer)
    return len(newer)


def _mapped(connection: Connection, given: Sequence[MappedTest]) -> int:
    known = suite_map.mapped_ranks(connection, (each.test for each in given))
    newer = [each for each in given if each.test not in known or known[each.test] < each.rank]
    suite_map.save_tests(connection, newer)
    return len(newer)


def _batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
