"""The tables of sheets: what runs showed, what was learned from it, and which lines each test executes.

Names of tests and files are kept once and stand elsewhere as numbers. What people or later runs may
change (renames, quarantine, the suite map) carries its time, so that stores can be merged: the newest counts.
"""

from sqlalchemy import Boolean, Column, ForeignKey, Integer, LargeBinary, String, Table

from whet.store.columns import AnyText, Moment, OrderedText, RowNumber
from whet.store.schema import metadata

names = Table(
    "names",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False, unique=True),  # names have no length limit, indexes have
    Column("name", AnyText, nullable=False),
)

sheets = Table(
    "sheets",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # of the id
    Column("id", OrderedText, nullable=False),
    Column("at", Moment, nullable=False, index=True),
    Column("source", AnyText, nullable=False),
    Column("branch", AnyText),
    Column("commit", AnyText),
    Column("code_version", AnyText),
    Column("complete", Boolean, nullable=False),
    Column("results", Integer, nullable=False),
    Column("content", String(64), nullable=False),  # digest of all of it; decides between two of the same id
)

# Apart from `sheets`, so that counting and searching sheets reads few pages.
sheet_columns = Table(
    "sheet_columns",
    metadata,
    Column("sheet", RowNumber, ForeignKey("sheets.number", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("packed", LargeBinary, nullable=False),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("digest", String(64), primary_key=True),  # of the lane
    Column("lane", AnyText, nullable=False),
    Column("sheets", Integer, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("last_id", OrderedText, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

renames = Table(
    "renames",
    metadata,
    Column("digest", String(64), primary_key=True),  # of the old name
    Column("old", AnyText, nullable=False),
    Column("new", AnyText, nullable=False),
    Column("at", Moment, nullable=False),
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("test", AnyText, nullable=False),
    Column("reason", AnyText),  # NULL: released; the row stays, for the release to outlive a merge
    Column("at", Moment, nullable=False),
)

mapped_sources = Table(
    "mapped_sources",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("content", LargeBinary, nullable=False),
)

mapped_tests = Table(
    "mapped_tests",
    metadata,
    Column("test", Integer, ForeignKey("names.number"), primary_key=True, autoincrement=False),
    Column("lines", Integer, nullable=False),
    Column("at", Moment, nullable=False),
    Column("content", String(64), nullable=False),
)

mapped_lines = Table(
    "mapped_lines",
    metadata,
    Column("test", Integer, ForeignKey("mapped_tests.test", ondelete="CASCADE"), primary_key=True),
    Column("file", Integer, ForeignKey("names.number"), primary_key=True, index=True),
    Column("source", RowNumber, ForeignKey("mapped_sources.number"), nullable=False, index=True),
    Column("lines", LargeBinary, nullable=False),  # coverage.py's numbits: bit n is line n
    sqlite_with_rowid=False,
)
