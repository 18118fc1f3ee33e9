"""The tables of continuous learning: how far the stream was read, what is trained with, what came of it."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    text,
)

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber
from whet.store.schema import metadata

# The stream. Numbers of `experiences` are given before the commit, so a larger one may be seen before a smaller one;
# a position is given under the lock that all learners hold until they commit, so whoever sees one sees all before it.
arrivals = Table(
    "arrivals",
    metadata,
    Column("position", RowNumber, primary_key=True, autoincrement=False),
    Column("experience", RowNumber, ForeignKey("experiences.id"), nullable=False),
)

learning_cursor = Table(
    "learning_cursor",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", RowNumber, nullable=False),
    CheckConstraint("id = 1", name="single"),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("agent", Name, nullable=False),
    Column("quality", String(40), nullable=False),
    Column("why", AnyText, nullable=False),
    Index(None, "agent", "quality"),
)
Index(
    "ix_verdicts_refused",
    verdicts.c.id,
    sqlite_where=text("quality <> 'good'"),
    postgresql_where=text("quality <> 'good'"),
)

batches = Table(
    "batches",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("agent", Name, nullable=False, index=True),
    Column("size", RowNumber, nullable=False),
    Column("first", Name, nullable=False),
    Column("last", Name, nullable=False),
    Column("closed_at", Moment, nullable=False),
)

# Keys stay when the experience itself was let go, so that a late delivery does not bring it in again.
training_set = Table(
    "training_set",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("agent", Name, nullable=False),
    Column("batch", RowNumber, ForeignKey("batches.number")),  # NULL: it waits
    Column("collected_at", Moment, nullable=False),
    Column("let_go_at", Moment),
)
# SQLite answers from an index alone only if what the condition names is in it, though it is the same in every row.
for _name, _columns, _where in (
    ("ix_training_set_waiting", ("agent", "id", "collected_at", "batch"), "batch IS NULL"),
    ("ix_training_set_agent_batch", ("agent", "batch", "id"), "let_go_at IS NULL"),
    ("ix_training_set_batch", ("batch", "id", "let_go_at"), "let_go_at IS NULL"),
):
    Index(
        _name,
        *(training_set.c[column] for column in _columns),
        sqlite_where=text(_where),
        postgresql_where=text(_where),
    )

# Apart from `training_set`, so that counting, batching and searching read few pages.
training_experiences = Table(
    "training_experiences",
    metadata,
    Column("id", RowNumber, ForeignKey("training_set.id"), primary_key=True, autoincrement=False),
    Column("packed", LargeBinary, nullable=False),
)

candidates = Table(
    "candidates",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("agent", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("artefact", String(64), nullable=False),
    Column("lineage", Document, nullable=False),
    Column("stage", String(20), nullable=False),
    Column("share", Double, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("evidence", Document, nullable=False),
    Column("why", AnyText, nullable=False),
    Column("since", Moment, nullable=False),
    Column("made_at", Moment, nullable=False),
    Index(None, "agent", "stage"),
    CheckConstraint("share BETWEEN 0 AND 1", name="share"),
)
_SINGULAR = text("stage IN ('canary', 'production')")
Index(
    "uq_candidates_singular",
    candidates.c.agent,
    candidates.c.stage,
    unique=True,
    sqlite_where=_SINGULAR,
    postgresql_where=_SINGULAR,
)

training_queue = Table(
    "training_queue",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("consumer", AnyText),
    Column("taken_at", Double),  # seconds since 1970; NULL: in nobody's hands
    Column("lease_seconds", Double),
    sqlite_autoincrement=True,  # a number that comes again would let a late `done` end another message
)
