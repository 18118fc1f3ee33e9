"""Sheets: results by run, snapshots of what was learned, renames, quarantine, the suite map."""

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
)

from whet.store.columns import AnyText, Moment, OrderedText, RowNumber

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _sheets()
    _decided()
    _map()


def _sheets() -> None:
    op.create_table(
        "names",
        Column("number", Integer(), autoincrement=False, nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("name", AnyText(), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_names")),
        UniqueConstraint("digest", name=op.f("uq_names_digest")),
    )
    op.create_table(
        "sheets",
        Column("number", RowNumber, nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("id", OrderedText(), nullable=False),
        Column("at", Moment(), nullable=False),
        Column("source", AnyText(), nullable=False),
        Column("branch", AnyText(), nullable=True),
        Column("commit", AnyText(), nullable=True),
        Column("code_version", AnyText(), nullable=True),
        Column("complete", Boolean(), nullable=False),
        Column("results", Integer(), nullable=False),
        Column("content", String(length=64), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_sheets")),
        UniqueConstraint("digest", name=op.f("uq_sheets_digest")),
    )
    op.create_index(op.f("ix_sheets_at"), "sheets", ["at"], unique=False)
    op.create_table(
        "sheet_columns",
        Column("sheet", RowNumber, autoincrement=False, nullable=False),
        Column("packed", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["sheet"], ["sheets.number"], name=op.f("fk_sheet_columns_sheet"), ondelete="CASCADE"),
        PrimaryKeyConstraint("sheet", name=op.f("pk_sheet_columns")),
    )


def _decided() -> None:
    op.create_table(
        "snapshots",
        Column("digest", String(length=64), nullable=False),
        Column("lane", AnyText(), nullable=False),
        Column("sheets", Integer(), nullable=False),
        Column("last_at", Moment(), nullable=False),
        Column("last_id", OrderedText(), nullable=False),
        Column("state", LargeBinary(), nullable=False),
        PrimaryKeyConstraint("digest", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "renames",
        Column("digest", String(length=64), nullable=False),
        Column("old", AnyText(), nullable=False),
        Column("new", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("digest", name=op.f("pk_renames")),
    )
    op.create_table(
        "quarantine",
        Column("digest", String(length=64), nullable=False),
        Column("test", AnyText(), nullable=False),
        Column("reason", AnyText(), nullable=True),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("digest", name=op.f("pk_quarantine")),
    )


def _map() -> None:
    op.create_table(
        "mapped_sources",
        Column("number", RowNumber, nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("content", LargeBinary(), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_mapped_sources")),
        UniqueConstraint("digest", name=op.f("uq_mapped_sources_digest")),
    )
    op.create_table(
        "mapped_tests",
        Column("test", Integer(), autoincrement=False, nullable=False),
        Column("lines", Integer(), nullable=False),
        Column("at", Moment(), nullable=False),
        Column("content", String(length=64), nullable=False),
        ForeignKeyConstraint(["test"], ["names.number"], name=op.f("fk_mapped_tests_test")),
        PrimaryKeyConstraint("test", name=op.f("pk_mapped_tests")),
    )
    op.create_table(
        "mapped_lines",
        Column("test", Integer(), nullable=False),
        Column("file", Integer(), nullable=False),
        Column("source", RowNumber, nullable=False),
        Column("lines", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["test"], ["mapped_tests.test"], name=op.f("fk_mapped_lines_test"), ondelete="CASCADE"),
        ForeignKeyConstraint(["file"], ["names.number"], name=op.f("fk_mapped_lines_file")),
        ForeignKeyConstraint(["source"], ["mapped_sources.number"], name=op.f("fk_mapped_lines_source")),
        PrimaryKeyConstraint("test", "file", name=op.f("pk_mapped_lines")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_mapped_lines_file"), "mapped_lines", ["file"], unique=False)
    op.create_index(op.f("ix_mapped_lines_source"), "mapped_lines", ["source"], unique=False)
