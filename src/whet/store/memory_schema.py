"""The tables of memory. Rows are the truth; every index of places follows from them.

A *space* is where one project's memories have their places by one model. The text of a memory and its subjects stand
in tables of their own, so that whatever counts or searches reads few pages.
"""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, String, Table, UniqueConstraint

from whet.store.columns import AnyText, Document, Moment, Name, Place, RowNumber
from whet.store.schema import metadata

# Numbers never come again: an index that still knows a forgotten one must not find another in its stead.
memories = Table(
    "memories",
    metadata,
    Column("seq", RowNumber, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("project", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("topic", String(20), nullable=False),
    Column("source", AnyText, nullable=False),
    Column("agent", AnyText),
    Column("text", AnyText, nullable=False),
    Column("cue", AnyText),
    Column("subjects", Document, nullable=False),
    Column("about", Document, nullable=False),
    Column("importance", Double, nullable=False),
    Column("support", RowNumber, nullable=False),
    Column("against", RowNumber, nullable=False),
    Column("at", Moment, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("used", RowNumber, nullable=False),
    Column("last_used", Moment),
    Index(None, "project", "at", "id"),
    Index(None, "project", "kind", "at"),
    Index(None, "project", "topic", "at"),
    sqlite_autoincrement=True,
)

memory_subjects = Table(
    "memory_subjects",
    metadata,
    Column("memory", RowNumber, ForeignKey("memories.seq", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("subject", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Index(None, "project", "subject", "memory"),
    sqlite_with_rowid=False,
)

memory_spaces = Table(
    "memory_spaces",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("project", Name, nullable=False),
    Column("model", Name, nullable=False, index=True),
    Column("dimensions", Integer, nullable=False),
    UniqueConstraint("project", "model"),
    sqlite_autoincrement=True,
)

# A place that changes gets another number, so that what lies above a number is all that an older index does not know.
memory_places = Table(
    "memory_places",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("space", RowNumber, ForeignKey("memory_spaces.number"), nullable=False),
    Column("memory", RowNumber, ForeignKey("memories.seq", ondelete="CASCADE"), nullable=False, index=True),
    Column("embedding", Place, nullable=False),
    UniqueConstraint("space", "memory"),
    Index(None, "space", "number"),
    sqlite_autoincrement=True,
)

memory_marks = Table(
    "memory_marks",
    metadata,
    Column("project", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("position", RowNumber, nullable=False),
)
