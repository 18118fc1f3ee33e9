"""Which lines each test executes, of which content of each file, within the caller's transaction."""

import hashlib
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, exists, select

from whet.core.errors import RefusedInput
from whet.core.records import now
from whet.core.sheets import Executed
from whet.store.escapes import digest_of
from whet.store.line_sets import line_count, to_lines, to_numbits
from whet.store.names import NameBook, known_numbers, numbered
from whet.store.renames import all_renames, resolved
from whet.store.sheet_schema import mapped_lines, mapped_sources, mapped_tests, names

LARGEST_SOURCE_BYTES = 64 * 2**20  # larger files are data
_BATCH = 500


class MappedFile(NamedTuple):
    file: str
    source: str  # digest of its content
    lines: bytes  # numbits


class MappedTest(NamedTuple):
    test: str
    at: datetime
    files: tuple[MappedFile, ...]  # by name

    @property
    def content(self) -> str:
        return hashlib.sha256(repr(self.files).encode()).hexdigest()

    @property
    def rank(self) -> tuple[datetime, str]:
        """Of two maps of one test the greater counts: the newest, wherever they were merged."""
        return self.at, self.content


def measured(lines: Mapping[str, Mapping[str, Collection[int]]], digests: Mapping[str, str]) -> list[MappedTest]:
    """`digests` of the files' contents, by file."""
    return [MappedTest(test, now(), _files(files, digests)) for test, files in lines.items()]


def _files(files: Mapping[str, Collection[int]], digests: Mapping[str, str]) -> tuple[MappedFile, ...]:
    return tuple(MappedFile(f, _source(f, digests), to_numbits(f, lines)) for f, lines in sorted(files.items()))


def _source(file: str, digests: Mapping[str, str]) -> str:
    if file not in digests:
        raise RefusedInput(f"Lines of {file!r} come without its content.", "Give the content that was executed.")
    return digests[file]


def source_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def save_sources(connection: Connection, contents: Mapping[str, bytes]) -> None:
    """By digest; those that are there stay."""
    if any(len(content) > LARGEST_SOURCE_BYTES for content in contents.values()):
        raise RefusedInput(
            "A mapped file is too large for a source.", f"At most {LARGEST_SOURCE_BYTES} bytes are kept."
        )
    known = source_numbers(connection, contents)
    rows = [{"digest": d, "content": zlib.compress(c)} for d, c in contents.items() if d not in known]
    if rows:
        connection.execute(mapped_sources.insert(), rows)


def save_tests(connection: Connection, given: Sequence[MappedTest]) -> None:
    """Each replaces what was known of its test. Their sources are there."""
    if not given:
        return
    numbers = numbered(connection, (n for each in given for n in (each.test, *(part.file for part in each.files))))
    sources = source_numbers(connection, {part.source for each in given for part in each.files})
    _forget(connection, [numbers[each.test] for each in given])
    connection.execute(mapped_tests.insert(), [_test_row(each, numbers[each.test]) for each in given])
    rows = [
        {"test": numbers[each.test], "file": numbers[part.file], "source": sources[part.source], "lines": part.lines}
        for each in given
        for part in each.files
    ]
    if rows:
        connection.execute(mapped_lines.insert(), rows)


def _test_row(each: MappedTest, number: int) -> dict[str, object]:
    lines = sum(line_count(part.lines) for part in each.files)
    return {"test": number, "lines": lines, "at": each.at, "content": each.content}


def forget_unused_sources(connection: Connection) -> None:
    used = exists().where(mapped_lines.c.source == mapped_sources.c.number)
    connection.execute(delete(mapped_sources).where(~used))


def source_numbers(connection: Connection, digests: Iterable[str]) -> dict[str, int]:
    wanted = list(digests)
    found: dict[str, int] = {}
    for start in range(0, len(wanted), _BATCH):
        query = select(mapped_sources.c.digest, mapped_sources.c.number)
        rows = connection.execute(query.where(mapped_sources.c.digest.in_(wanted[start : start + _BATCH])))
        found.update((digest, number) for digest, number in rows)
    return found


def source_content(connection: Connection, digest: str) -> bytes | None:
    packed = connection.execute(select(mapped_sources.c.content).where(mapped_sources.c.digest == digest)).scalar()
    return None if packed is None else zlib.decompress(packed)


def mapped_ranks(connection: Connection, tests: Iterable[str]) -> dict[str, tuple[datetime, str]]:
    """What decides between two maps of one test, for those of `tests` that are mapped."""
    wanted = list(tests)
    found: dict[str, tuple[datetime, str]] = {}
    for start in range(0, len(wanted), _BATCH):
        digests = [digest_of(test) for test in wanted[start : start + _BATCH]]
        query = select(names.c.name, mapped_tests.c.at, mapped_tests.c.content).join(names)
        rows = connection.execute(query.where(names.c.digest.in_(digests)))
        found.update((name, (at, content)) for name, at, content in rows)
    return found


def whole_map(connection: Connection) -> Iterator[MappedTest]:
    """By name of the test, few in memory at a time."""
    query = select(mapped_tests.c.test, mapped_tests.c.at, names.c.name).join(names)
    tests = sorted(connection.execute(query), key=lambda row: row.name)
    for start in range(0, len(tests), _BATCH):
        batch = tests[start : start + _BATCH]
        files = _files_of(connection, [row.test for row in batch])
        for row in batch:
            yield MappedTest(row.name, row.at, tuple(sorted(files.get(row.test, ()))))


def _files_of(connection: Connection, tests: Sequence[int]) -> dict[int, list[MappedFile]]:
    query = select(mapped_lines.c.test, names.c.name, mapped_sources.c.digest, mapped_lines.c.lines)
    joined = query.join(names, names.c.number == mapped_lines.c.file).join(mapped_sources)
    found: dict[int, list[MappedFile]] = {}
    for test, file, digest, lines in connection.execute(joined.where(mapped_lines.c.test.in_(tests))):
        found.setdefault(test, []).append(MappedFile(file, digest, bytes(lines)))
    return found


def mapped_lengths(connection: Connection) -> dict[str, int]:
    return dict(_shown(connection).values())


def executed_lines(connection: Connection, files: Collection[str]) -> list[Executed]:
    numbers = list(known_numbers(connection, {file: digest_of(file) for file in files}).values())
    shown, book = _shown(connection), NameBook(connection)
    found: list[Executed] = []
    for start in range(0, len(numbers), _BATCH):
        query = select(mapped_lines.c.test, mapped_lines.c.file, mapped_sources.c.digest, mapped_lines.c.lines)
        query = query.join(mapped_sources).where(mapped_lines.c.file.in_(numbers[start : start + _BATCH]))
        for test, file, digest, lines in connection.execute(query):
            if test in shown:
                found.append(Executed(shown[test][0], book.of([file])[0], digest, frozenset(to_lines(lines))))
    return sorted(found, key=lambda each: (each.test, each.file))


def _shown(connection: Connection) -> dict[int, tuple[str, int]]:
    """By number: present name and how many lines. Where several old names became one, the newest map counts."""
    renamed = resolved(all_renames(connection))
    query = select(mapped_tests.c.test, mapped_tests.c.lines, names.c.name).join(names)
    rows = connection.execute(query.order_by(mapped_tests.c.at, mapped_tests.c.content))
    newest = {renamed.get(name, name): (test, lines) for test, lines, name in rows}
    return {test: (name, lines) for name, (test, lines) in newest.items()}


def _forget(connection: Connection, tests: Sequence[int]) -> None:
    for start in range(0, len(tests), _BATCH):
        connection.execute(delete(mapped_tests).where(mapped_tests.c.test.in_(tests[start : start + _BATCH])))
