"""Continuous learning: the order in which experiences arrived, verdicts, the training set, candidates, the queue."""

from alembic import op
from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    text,
)

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _stream()
    _training()
    _candidates()
    _queue()


def _stream() -> None:
    op.create_table(
        "arrivals",
        Column("position", RowNumber, autoincrement=False, nullable=False),
        Column("experience", RowNumber, nullable=False),
        ForeignKeyConstraint(["experience"], ["experiences.id"], name=op.f("fk_arrivals_experience")),
        PrimaryKeyConstraint("position", name=op.f("pk_arrivals")),
    )
    op.execute(
        "INSERT INTO arrivals (position, experience) SELECT row_number() OVER (ORDER BY id), id FROM experiences"
    )
    op.create_table(
        "learning_cursor",
        Column("id", Integer(), autoincrement=False, nullable=False),
        Column("position", RowNumber, nullable=False),
        CheckConstraint("id = 1", name=op.f("ck_learning_cursor_single")),
        PrimaryKeyConstraint("id", name=op.f("pk_learning_cursor")),
    )
    op.create_table(
        "verdicts",
        Column("id", RowNumber, nullable=False),
        Column("key", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("quality", String(length=40), nullable=False),
        Column("why", AnyText(), nullable=False),
        PrimaryKeyConstraint("id", name=op.f("pk_verdicts")),
        UniqueConstraint("key", name=op.f("uq_verdicts_key")),
    )
    op.create_index(op.f("ix_verdicts_agent_quality"), "verdicts", ["agent", "quality"], unique=False)
    _partial_index("ix_verdicts_refused", "verdicts", ["id"], "quality <> 'good'")
    op.create_index(op.f("ix_decisions_agent_at"), "decisions", ["agent", "at"], unique=False)


def _training() -> None:
    op.create_table(
        "batches",
        Column("number", RowNumber, nullable=False),
        Column("agent", Name(), nullable=False),
        Column("size", RowNumber, nullable=False),
        Column("first", Name(), nullable=False),
        Column("last", Name(), nullable=False),
        Column("closed_at", Moment(), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_batches")),
    )
    op.create_index(op.f("ix_batches_agent"), "batches", ["agent"], unique=False)
    op.create_table(
        "training_set",
        Column("id", RowNumber, nullable=False),
        Column("key", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("batch", RowNumber, nullable=True),
        Column("collected_at", Moment(), nullable=False),
        Column("let_go_at", Moment(), nullable=True),
        ForeignKeyConstraint(["batch"], ["batches.number"], name=op.f("fk_training_set_batch")),
        PrimaryKeyConstraint("id", name=op.f("pk_training_set")),
        UniqueConstraint("key", name=op.f("uq_training_set_key")),
    )
    _partial_index("ix_training_set_waiting", "training_set", ["agent", "id", "collected_at", "batch"], "batch IS NULL")
    _partial_index("ix_training_set_agent_batch", "training_set", ["agent", "batch", "id"], "let_go_at IS NULL")
    _partial_index("ix_training_set_batch", "training_set", ["batch", "id", "let_go_at"], "let_go_at IS NULL")
    op.create_table(
        "training_experiences",
        Column("id", RowNumber, autoincrement=False, nullable=False),
        Column("packed", LargeBinary(), nullable=False),
        ForeignKeyConstraint(["id"], ["training_set.id"], name=op.f("fk_training_experiences_id")),
        PrimaryKeyConstraint("id", name=op.f("pk_training_experiences")),
    )


def _candidates() -> None:
    op.create_table(
        "candidates",
        Column("number", RowNumber, nullable=False),
        Column("key", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("kind", String(length=20), nullable=False),
        Column("artefact", String(length=64), nullable=False),
        Column("lineage", Document(), nullable=False),
        Column("stage", String(length=20), nullable=False),
        Column("share", Double(), nullable=False),
        Column("paused", Boolean(), nullable=False),
        Column("evidence", Document(), nullable=False),
        Column("why", AnyText(), nullable=False),
        Column("since", Moment(), nullable=False),
        Column("made_at", Moment(), nullable=False),
        CheckConstraint("share BETWEEN 0 AND 1", name=op.f("ck_candidates_share")),
        PrimaryKeyConstraint("number", name=op.f("pk_candidates")),
        UniqueConstraint("key", name=op.f("uq_candidates_key")),
    )
    op.create_index(op.f("ix_candidates_agent_stage"), "candidates", ["agent", "stage"], unique=False)
    singular = "stage IN ('canary', 'production')"
    _partial_index("uq_candidates_singular", "candidates", ["agent", "stage"], singular, unique=True)


def _queue() -> None:
    op.create_table(
        "training_queue",
        Column("id", RowNumber, nullable=False),
        Column("key", Name(), nullable=False),
        Column("body", LargeBinary(), nullable=False),
        Column("attempts", Integer(), nullable=False),
        Column("consumer", AnyText(), nullable=True),
        Column("taken_at", Double(), nullable=True),
        Column("lease_seconds", Double(), nullable=True),
        PrimaryKeyConstraint("id", name=op.f("pk_training_queue")),
        UniqueConstraint("key", name=op.f("uq_training_queue_key")),
        sqlite_autoincrement=True,
    )


def _partial_index(name: str, table: str, columns: list[str], where: str, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))
