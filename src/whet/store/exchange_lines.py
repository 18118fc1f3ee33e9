"""The lines of a history file, and what one file may hold.

A file is one gzip stream: a header, then names, sheets, renames, quarantine, sources, the suite map, and an end,
each line a JSON object. A line of a sheet is followed by its packed columns, a line of a source by its content.
Everything stands in one order, so that equal histories are equal files.
"""

import base64
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, TypeAdapter

from whet.core.records import Record
from whet.store.escapes import unescape
from whet.store.suite_map import LARGEST_SOURCE_BYTES

VERSION = 1
LONGEST_LINE_BYTES = 8 * 2**20
LARGEST_SOURCES_BYTES = 2 * 2**30  # of all sources together
LARGEST_TEXT_CHARACTERS = 64 * 2**20  # of all names and reasons together: they are held in memory


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time outside of the calendar") from None


Text = Annotated[str, AfterValidator(unescape)]
Time = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Place = Annotated[int, Field(ge=0)]


def at_most(limit: int) -> object:
    return Field(ge=0, le=limit)


class Header(Record):
    kind: Literal["whet-history"] = "whet-history"
    version: int = VERSION
    names: Annotated[int, at_most(5_000_000)]
    sheets: Annotated[int, at_most(5_000_000)]
    results: Annotated[int, at_most(500_000_000)]
    renames: Annotated[int, at_most(1_000_000)]
    quarantine: Annotated[int, at_most(1_000_000)]
    sources: Annotated[int, at_most(1_000_000)]
    mapped: Annotated[int, at_most(5_000_000)]


class NamesLine(Record):
    kind: Literal["names"] = "names"
    names: tuple[Text, ...]


class SheetLine(Record):
    """`results` × (4 bytes step from the last name's place, 1 letter, 4 bytes seconds[, 1 nearness]), by column."""

    kind: Literal["sheet"] = "sheet"
    id: Text
    at: Time
    source: Text
    branch: Text | None
    commit: Text | None
    code_version: Text | None
    complete: bool
    results: Place
    nearness: bool

    @property
    def packed_bytes(self) -> int:
        return self.results * (10 if self.nearness else 9)


class RenameLine(Record):
    kind: Literal["rename"] = "rename"
    old: Text
    new: Text
    at: Time


class QuarantineLine(Record):
    """Without a reason: released."""

    kind: Literal["quarantine"] = "quarantine"
    test: Text
    reason: Text | None
    at: Time


class SourceLine(Record):
    kind: Literal["source"] = "source"
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: Annotated[int, at_most(LARGEST_SOURCE_BYTES)]


class MapLine(Record):
    """`files`: place of the file's name, place of the source, executed lines as a set of bits in base64."""

    kind: Literal["map"] = "map"
    test: Place
    at: Time
    files: tuple[tuple[Place, Place, str], ...]


class EndLine(Record):
    kind: Literal["end"] = "end"


Line = Header | NamesLine | SheetLine | RenameLine | QuarantineLine | SourceLine | MapLine | EndLine
LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def bits_text(numbits: bytes) -> str:
    return base64.b64encode(numbits).decode("ascii")


def bits_of(text: str) -> bytes:
    """ValueError when it is no base64."""
    return base64.b64decode(text, validate=True)
