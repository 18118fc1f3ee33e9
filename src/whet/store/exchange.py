"""Taking a store's history elsewhere: one file that any other store can merge."""

import gzip
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, func, select

from whet.core.errors import WhetError
from whet.core.records import Record
from whet.core.sheets import Sheet
from whet.store import sheet_rows, suite_map
from whet.store.escapes import canonical_json
from whet.store.exchange_lines import (
    LONGEST_LINE_BYTES,
    EndLine,
    Header,
    MapLine,
    NamesLine,
    QuarantineLine,
    RenameLine,
    SheetLine,
    SourceLine,
    bits_text,
)
from whet.store.names import NameBook
from whet.store.packing import Columns
from whet.store.renames import all_renames, all_words
from whet.store.sheet_schema import mapped_lines, mapped_sources, mapped_tests, sheets
from whet.store.sheets import SqlSheets

_NAMES_PER_LINE = 500
_LEVEL = 6


class Exported(NamedTuple):
    sheets: int
    results: int


@dataclass(frozen=True)
class Extract:
    """What of a history is taken. None: all branches, all times."""

    branches: Collection[str | None] | None = None
    since: datetime | None = None
    with_map: bool = True

    def which(self) -> ColumnElement[bool]:
        chosen = sheet_rows.matching(self.branches)
        return chosen if self.since is None else chosen & (sheets.c.at >= self.since)


def export_history(source: SqlSheets, target: BinaryIO, extract: Extract) -> Exported:
    """One moment of the store. The same content gives the same bytes, whatever way it came together."""
    return source.database.read(lambda connection: _export(connection, target, extract))


def _export(connection: Connection, target: BinaryIO, extract: Extract) -> Exported:
    content = _Content(connection, extract)
    with gzip.GzipFile("", "wb", _LEVEL, target, mtime=0) as packed:
        for written in content.lines():
            packed.write(written)
    return Exported(content.sheets, content.results)


class _Content:
    """What goes into the file. Its names are sorted, and numbered by their place."""

    def __init__(self, connection: Connection, extract: Extract) -> None:
        self._connection = connection
        self._extract = extract
        self.sheets = self.results = 0
        numbers = self._numbers_used()
        by_number = dict(zip(numbers, NameBook(connection).of(numbers), strict=True))
        self._names = sorted(by_number.values())
        self._places = {name: place for place, name in enumerate(self._names)}
        self._place_of = {number: self._places[name] for number, name in by_number.items()}
        self._renames = sorted(all_renames(connection).values(), key=lambda each: each.old)
        self._words = sorted(all_words(connection).values(), key=lambda each: each.test)
        self._digests = sorted(connection.scalars(select(mapped_sources.c.digest))) if extract.with_map else []

    def lines(self) -> Iterator[bytes]:
        yield _line(self._header())
        for start in range(0, len(self._names), _NAMES_PER_LINE):
            yield _line(NamesLine.model_construct(names=tuple(self._names[start : start + _NAMES_PER_LINE])))
        for head, columns in sheet_rows.stream(self._connection, self._extract.which()):
            yield _line(_sheet_line(head, columns))
            numbers = array("i", map(self._place_of.__getitem__, columns.numbers))
            yield columns._replace(numbers=numbers).packed()
        for rename in self._renames:
            yield _line(RenameLine.model_construct(**rename._asdict()))
        for word in self._words:
            yield _line(QuarantineLine.model_construct(**word._asdict()))
        if self._extract.with_map:
            yield from self._map()
        yield _line(EndLine())

    def _numbers_used(self) -> list[int]:
        """Of all names that occur. Counts the sheets on the way."""
        used: set[int] = set()
        for _, columns in sheet_rows.stream(self._connection, self._extract.which()):
            used.update(columns.numbers)
            self.sheets, self.results = self.sheets + 1, self.results + len(columns.numbers)
        if self._extract.with_map:
            used.update(self._connection.scalars(select(mapped_tests.c.test)))
            used.update(self._connection.scalars(select(mapped_lines.c.file).distinct()))
        return sorted(used)

    def _header(self) -> Header:
        mapped = select(func.count()).select_from(mapped_tests)
        try:
            return Header(
                names=len(self._names),
                sheets=self.sheets,
                results=self.results,
                renames=len(self._renames),
                quarantine=len(self._words),
                sources=len(self._digests),
                mapped=self._connection.execute(mapped).scalar_one() if self._extract.with_map else 0,
            )
        except ValidationError as error:
            raise _too_much(f"{error.errors()[0]['loc'][0]}") from error

    def _map(self) -> Iterator[bytes]:
        for digest in self._digests:
            content = suite_map.source_content(self._connection, digest) or b""
            yield _line(SourceLine(digest=digest, bytes=len(content)))
            yield content
        sources = {digest: place for place, digest in enumerate(self._digests)}
        for each in suite_map.whole_map(self._connection):
            files = tuple((self._places[f.file], sources[f.source], bits_text(f.lines)) for f in each.files)
            yield _line(MapLine(test=self._places[each.test], at=each.at, files=files))


def _sheet_line(head: Sheet, columns: Columns) -> SheetLine:
    return SheetLine.model_construct(
        id=head.id,
        at=head.at,
        source=head.source,
        branch=head.branch,
        commit=head.commit,
        code_version=head.code_version,
        complete=head.complete,
        results=len(columns.numbers),
        nearness=columns.nearness is not None,
    )


def _line(record: Record) -> bytes:
    """Built without validation, which reads escaped text; what is written is escaped here."""
    fields = {name: getattr(record, name) for name in type(record).model_fields}
    told = canonical_json(fields).encode("ascii") + b"\n"
    if len(told) > LONGEST_LINE_BYTES:
        raise _too_much("the length of a name")
    return told


def _too_much(what: str) -> WhetError:
    return WhetError(
        f"This history is too large for one file: {what}.", "Take less: see --branch, --since and --without-map."
    )
