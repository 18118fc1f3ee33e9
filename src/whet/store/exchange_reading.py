"""Reading a history file somebody else made: every line is checked before anything of it is used.

Nothing in a file is believed. Lines, sources and texts have limits, everything is counted against the header
and must stand in its order, so that a file that unpacks to far more than it holds is refused where that shows.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from whet.core.errors import RefusedInput
from whet.core.records import now
from whet.core.sheets import Sheet
from whet.store.exchange_lines import (
    LARGEST_SOURCES_BYTES,
    LARGEST_TEXT_CHARACTERS,
    LINES,
    LONGEST_LINE_BYTES,
    VERSION,
    EndLine,
    Header,
    Line,
    MapLine,
    NamesLine,
    QuarantineLine,
    RenameLine,
    SheetLine,
    SourceLine,
    bits_of,
)
from whet.store.packing import Columns, Filed, content_digest
from whet.store.renames import Rename, Word
from whet.store.suite_map import MappedFile, MappedTest

_ORDER = (Header, NamesLine, SheetLine, RenameLine, QuarantineLine, SourceLine, MapLine, EndLine)
_CLOCKS_DIFFER_BY = timedelta(days=1)


class Source(NamedTuple):
    digest: str
    content: bytes


Part = Filed | Rename | Word | Source | MappedTest


class HistoryFile:
    """One reading of one file. `names` is complete before the first sheet comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.names: list[str] = []
        self._sources: list[str] = []
        self._counts = dict.fromkeys(("names", "sheets", "results", "renames", "quarantine", "sources", "mapped"), 0)
        self._last: tuple[int, Any] = (-1, None)  # the stage of the last line, and what it is ordered by
        self._characters = self._source_bytes = 0
        self._latest = now() + _CLOCKS_DIFFER_BY

    def parts(self) -> Iterator[Part]:
        """In the order of the file. RefusedInput as soon as something is wrong with it."""
        try:
            if not self._path.is_file():
                raise ValueError("it is no file" if self._path.exists() else "there is no such file")
            with gzip.open(self._path, "rb") as self._file:
                yield from self._parts()
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(each) for each in first["loc"][1:])
            raise self._refusal(f"{where + ': ' if where else ''}{first['msg']}") from None
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise self._refusal(str(error)) from error

    def _parts(self) -> Iterator[Part]:
        header = self._header()
        while not isinstance(given := self._line(), EndLine):
            part = self._part(given)
            if more := [name for name, count in self._counts.items() if count > getattr(header, name)]:
                raise ValueError(f"it holds more {more[0]} than its header says")
            if part is not None:
                yield part
        short = [name for name, count in self._counts.items() if count != getattr(header, name)]
        if short or self._file.read(1):
            raise ValueError(f"its end and its header differ ({', '.join(short) or 'more follows'})")

    def _header(self) -> Header:
        told = self._file.readline(LONGEST_LINE_BYTES)
        if not told.startswith(b"{") or b'"whet-history"' not in told:
            raise ValueError("it is no history")
        version = from_json(told).get("version")
        if version != VERSION:
            raise ValueError(f"it has version {version!r:.20}; this version of whet reads {VERSION}")
        header = LINES.validate_json(told)
        if not isinstance(header, Header):
            raise ValueError("it has no header")
        return header

    def _line(self) -> Line:
        told = self._file.readline(LONGEST_LINE_BYTES + 1)
        if len(told) > LONGEST_LINE_BYTES:
            raise ValueError("a line is too long")
        if not told.endswith(b"\n"):
            raise ValueError("it ends too early")
        return LINES.validate_json(told)

    def _part(self, given: Line) -> Part | None:
        match given:
            case NamesLine():
                self._take_names(given)
                return None
            case SheetLine():
                return self._sheet(given)
            case RenameLine():
                self._count("renames", (given, given.old), given.old, given.new)
                return Rename(given.old, given.new, self._past(given.at))
            case QuarantineLine():
                self._count("quarantine", (given, given.test), given.test, given.reason or "")
                return Word(given.test, given.reason, self._past(given.at))
            case SourceLine():
                return self._source(given)
            case MapLine():
                return self._mapped(given)
        raise ValueError("it has two headers")

    def _take_names(self, given: NamesLine) -> None:
        for name in given.names:
            self._count("names", (given, name), name)
        self.names.extend(given.names)

    def _sheet(self, given: SheetLine) -> Filed:
        self._count("sheets", (given, (given.at, given.id)))
        self._counts["results"] += given.results
        if given.results > len(self.names):
            raise ValueError(f"the sheet {given.id!r:.60} has more tests than there are names")
        columns = Columns.unpacked(self._bytes(given.packed_bytes), given.results)
        numbers = columns.numbers
        if numbers and (min(numbers) < 0 or max(numbers) >= len(self.names) or len(set(numbers)) < len(numbers)):
            raise ValueError(f"the sheet {given.id!r:.60} names tests twice or tests that are not there")
        if (problem := columns.problem()) is not None:
            raise ValueError(f"the sheet {given.id!r:.60} is none: {problem}")
        told = given.model_dump(exclude={"kind", "results", "nearness"})
        head = Sheet(**told, tests=(), outcomes="", seconds=())
        return Filed(head, columns, content_digest(head, map(self.names.__getitem__, numbers), columns))

    def _source(self, given: SourceLine) -> Source:
        self._count("sources", (given, given.digest))
        self._source_bytes += given.bytes
        if self._source_bytes > LARGEST_SOURCES_BYTES:
            raise ValueError("its sources are too large")
        content = self._bytes(given.bytes)
        if hashlib.sha256(content).hexdigest() != given.digest:
            raise ValueError(f"the source {given.digest[:12]}… does not match its digest")
        self._sources.append(given.digest)
        return Source(given.digest, content)

    def _mapped(self, given: MapLine) -> MappedTest:
        self._count("mapped", (given, given.test))
        try:
            files = tuple(MappedFile(self.names[f], self._sources[s], bits_of(lines)) for f, s, lines in given.files)
            test = self.names[given.test]
        except IndexError:
            raise ValueError("its map names what is not there") from None
        if any(one.file >= other.file for one, other in pairwise(files)):
            raise ValueError("the files of its map are out of order")
        return MappedTest(test, self._past(given.at), files)

    def _count(self, what: str, place: tuple[Line, Any], *kept: str) -> None:
        """One more of these, `place` being its kind and what it is ordered by. `kept` texts stay in memory."""
        self._counts[what] += 1
        self._characters += sum(map(len, kept))
        if self._characters > LARGEST_TEXT_CHARACTERS:
            raise ValueError("its names are too long")
        stage = _ORDER.index(type(place[0]))
        if stage < self._last[0] or (stage == self._last[0] and not self._last[1] < place[1]):
            raise ValueError(f"its {what} are out of order")
        self._last = stage, place[1]

    def _past(self, at: datetime) -> datetime:
        """The newest word counts, so one from the future would count for ever."""
        if at > self._latest:
            raise ValueError(f"something in it was said at {at:%Y-%m-%d %H:%M}, which is to come")
        return at

    def _bytes(self, wanted: int) -> bytes:
        found = self._file.read(wanted)
        if len(found) < wanted:
            raise ValueError("it ends too early")
        return found

    def _refusal(self, reason: str) -> RefusedInput:
        return RefusedInput(
            f"{self._path} was refused, and nothing was merged: {reason}.",
            "Give files made by `whet export`; one that was cut off on its way must be fetched again.",
        )
