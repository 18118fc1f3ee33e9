"""Memory: what is remembered, what it is about, where it lies; and what each decision recalled."""

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    text,
)

from whet.store.columns import AnyText, Document, Moment, Name, Place, RowNumber

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("decisions", Column("memories", Document(), nullable=False, server_default=text("'[]'")))
    _memories()
    _subjects()
    _places()
    op.create_table(
        "memory_marks",
        Column("project", Name(), nullable=False),
        Column("name", Name(), nullable=False),
        Column("position", RowNumber, nullable=False),
        PrimaryKeyConstraint("project", "name", name=op.f("pk_memory_marks")),
    )
    if op.get_bind().dialect.name == "postgresql":
        _keep_contents_out_of_statistics()


def _memories() -> None:
    op.create_table(
        "memories",
        Column("seq", RowNumber, nullable=False),
        Column("id", String(length=64), nullable=False),
        Column("project", Name(), nullable=False),
        Column("kind", String(length=20), nullable=False),
        Column("topic", String(length=20), nullable=False),
        Column("source", AnyText(), nullable=False),
        Column("agent", AnyText(), nullable=True),
        Column("text", AnyText(), nullable=False),
        Column("cue", AnyText(), nullable=True),
        Column("subjects", Document(), nullable=False),
        Column("about", Document(), nullable=False),
        Column("importance", Double(), nullable=False),
        Column("support", RowNumber, nullable=False),
        Column("against", RowNumber, nullable=False),
        Column("at", Moment(), nullable=False),
        Column("pinned", Boolean(), nullable=False),
        Column("used", RowNumber, nullable=False),
        Column("last_used", Moment(), nullable=True),
        PrimaryKeyConstraint("seq", name=op.f("pk_memories")),
        UniqueConstraint("id", name=op.f("uq_memories_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_memories_project_at_id"), "memories", ["project", "at", "id"], unique=False)
    op.create_index(op.f("ix_memories_project_kind_at"), "memories", ["project", "kind", "at"], unique=False)
    op.create_index(op.f("ix_memories_project_topic_at"), "memories", ["project", "topic", "at"], unique=False)


def _subjects() -> None:
    op.create_table(
        "memory_subjects",
        Column("memory", RowNumber, autoincrement=False, nullable=False),
        Column("subject", Name(), nullable=False),
        Column("project", Name(), nullable=False),
        ForeignKeyConstraint(["memory"], ["memories.seq"], name=op.f("fk_memory_subjects_memory"), ondelete="CASCADE"),
        PrimaryKeyConstraint("memory", "subject", name=op.f("pk_memory_subjects")),
        sqlite_with_rowid=False,
    )
    of_project = op.f("ix_memory_subjects_project_subject_memory")
    op.create_index(of_project, "memory_subjects", ["project", "subject", "memory"], unique=False)


def _places() -> None:
    op.create_table(
        "memory_spaces",
        Column("number", RowNumber, nullable=False),
        Column("project", Name(), nullable=False),
        Column("model", Name(), nullable=False),
        Column("dimensions", Integer(), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_memory_spaces")),
        UniqueConstraint("project", "model", name=op.f("uq_memory_spaces_project_model")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_memory_spaces_model"), "memory_spaces", ["model"], unique=False)
    op.create_table(
        "memory_places",
        Column("number", RowNumber, nullable=False),
        Column("space", RowNumber, nullable=False),
        Column("memory", RowNumber, nullable=False),
        Column("embedding", Place(), nullable=False),
        ForeignKeyConstraint(["space"], ["memory_spaces.number"], name=op.f("fk_memory_places_space")),
        ForeignKeyConstraint(["memory"], ["memories.seq"], name=op.f("fk_memory_places_memory"), ondelete="CASCADE"),
        PrimaryKeyConstraint("number", name=op.f("pk_memory_places")),
        UniqueConstraint("space", "memory", name=op.f("uq_memory_places_space_memory")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_memory_places_memory"), "memory_places", ["memory"], unique=False)
    op.create_index(op.f("ix_memory_places_space_number"), "memory_places", ["space", "number"], unique=False)


def _keep_contents_out_of_statistics() -> None:
    """The planner's samples would hold texts longer than the rows do."""
    for table, columns in (
        ("memories", ("text", "cue", "source", "agent", "subjects", "about")),
        ("memory_subjects", ("subject",)),
        ("memory_places", ("embedding",)),
    ):
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")
