"""The tables. One experience table serves replay, reward history and training alike.

Those of sheets are in `sheet_schema`, those of continuous learning in `learning_schema`, of memory in `memory_schema`,
of keys in `people_schema`, of pages in `view_schema`.
Changing anything here needs a migration beside the others, and `HEAD` moved to its revision.
"""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber

HEAD = "0007"
VERSION_TABLE = "whet_schema_version"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

runs = Table(
    "runs",
    metadata,
    Column("seq", RowNumber, primary_key=True),
    Column("id", Name, nullable=False, unique=True),
    Column("project", AnyText, nullable=False),
    Column("code_version", AnyText, nullable=False),
    Column("budget_seconds", Double, nullable=False),
    Column("seed", AnyText, nullable=False),  # seeds may be wider than 64 bits
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("status", String(20), nullable=False),
    Column("summary", Document, nullable=False),
)

decisions = Table(
    "decisions",
    metadata,
    Column("seq", RowNumber, primary_key=True),
    Column("id", Name, nullable=False, unique=True),
    Column("run_id", Name, nullable=False, index=True),
    Column("agent", Name, nullable=False),
    Column("state_key", Name, nullable=False),
    Column("state", Document, nullable=False),
    Column("proposed", Name, nullable=False),
    Column("action", Name, nullable=False),
    Column("probability", Double, nullable=False),
    Column("confidence", Double, nullable=True),
    Column("explored", Boolean, nullable=False),
    Column("policy", AnyText, nullable=False),
    Column("policy_version", AnyText, nullable=False),
    Column("decided_by", String(20), nullable=False),
    Column("alternatives", Document, nullable=False),
    Column("review", String(20), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("memories", Document, nullable=False, server_default=text("'[]'")),
    Index(None, "agent", "state_key"),
    Index(None, "agent", "at"),
)

rulings = Table(
    "rulings",
    metadata,
    Column("agent", Name, primary_key=True),
    Column("state_key", Name, primary_key=True),
    Column("action", Name, nullable=False),
    Column("verdict", String(20), nullable=False),
    Column("decision_id", Name, ForeignKey("decisions.id"), nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Moment, nullable=False),
)

experiences = Table(
    "experiences",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("run_id", Name, nullable=False, index=True),
    Column("agent", Name, nullable=False, index=True),
    Column("category", Name, nullable=False),
    Column("decision_id", Name, nullable=False, index=True),
    Column("decision", Document, nullable=False),  # as it stood; the row in `decisions` moves on with its review
    Column("action", Name, nullable=False),
    Column("kind", Name, nullable=False),
    Column("state", Document, nullable=False),
    Column("state_key", Name, nullable=False),
    Column("category_key", Name, nullable=False),
    Column("fleet_key", Name, nullable=False),
    Column("outcome", Document, nullable=False),
    Column("reward_profile", AnyText, nullable=False),
    Column("reward_parts", Document, nullable=False),
    Column("reward_raw", Double, nullable=False),
    Column("reward_shaped", Double, nullable=False),
    Column("reward_credited", Double, nullable=False),
    Column("next_state_key", Name),
    Column("next_category_key", Name),
    Column("next_fleet_key", Name),
    Column("next_actions", Document, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("priority", Double, nullable=False),
    Column("at", Moment, nullable=False),
    CheckConstraint("priority >= 0", name="priority"),
)

q_tables = Table(
    "q_tables",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("scope", String(20), nullable=False),
    Column("owner", Name, nullable=False),
    Column("total_updates", RowNumber, nullable=False),
    Column("avg_reward", Double),  # NULL until a reward came in
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("scope", "owner"),
    CheckConstraint("scope IN ('individual', 'category', 'fleet')", name="scope"),
)

q_values = Table(
    "q_values",
    metadata,
    Column("table_id", RowNumber, ForeignKey("q_tables.id", ondelete="CASCADE"), primary_key=True),
    Column("state_key", Name, primary_key=True),
    Column("action", Name, primary_key=True),
    Column("q_value", Double, nullable=False),
    Column("visits", RowNumber, nullable=False),
    Column("mean", Double, nullable=False),
    Column("m2", Double, nullable=False),
    Column("updated_at", Moment, nullable=False),
    CheckConstraint("q_value BETWEEN -1e6 AND 1e6", name="q_value"),
    CheckConstraint("visits >= 0 AND m2 >= 0", name="counts"),
)

learning_stats = Table(
    "learning_stats",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("run_id", Name, nullable=False),
    Column("agent", Name, nullable=False),
    Column("stats", Document, nullable=False),
    Column("at", Moment, nullable=False),
    UniqueConstraint("run_id", "agent"),
)

findings = Table(
    "findings",
    metadata,
    Column("fingerprint", Name, primary_key=True),
    Column("first_run_id", Name, nullable=False),
    Column("last_run_id", Name, nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    # As last seen, and what people say of it: what lists are filtered by.
    Column("kind", String(20), nullable=False, server_default=text("''")),
    Column("severity", String(20), nullable=False, server_default=text("''")),
    Column("standing", String(20), nullable=False, server_default=text("'unmarked'")),
    Column("latest", RowNumber, nullable=False, server_default=text("0")),  # the newest of its sightings
)

sightings = Table(
    "sightings",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("run_id", Name, nullable=False, index=True),
    Column("fingerprint", Name, ForeignKey("findings.fingerprint"), nullable=False, index=True),
    Column("finding", Document, nullable=False),
)

# What is known of each test over all runs, kept up to date as verdicts come in, so that
# reading it does not grow with the number of runs.
tests = Table(
    "tests",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # ids have no length limit, indexes have
    Column("test", AnyText, nullable=False),
    Column("executions", RowNumber, nullable=False),
    Column("failures", RowNumber, nullable=False),
    Column("total_seconds", Double, nullable=False),
    Column("last_outcome", String(20), nullable=False),
    Column("runs", RowNumber, nullable=False),
    Column("last_failed_turn", RowNumber),
    Column("decayed_failures", Double, nullable=False),  # as of `last_failed_turn`
    Column("network", Boolean),
    Column("slept_seconds", Double),
)

test_runs = Table(
    "test_runs",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("run_id", Name, nullable=False),
    Column("code_version", Name, nullable=False, index=True),
    UniqueConstraint("run_id", "code_version"),
)

test_results = Table(
    "test_results",
    metadata,
    Column("test_run_id", RowNumber, ForeignKey("test_runs.id"), primary_key=True),
    Column("test_id", RowNumber, ForeignKey("tests.id"), primary_key=True),
    Column("condition", String(20), primary_key=True),
    Column("turn", RowNumber, nullable=False),  # this run is the test's turn-th
    Column("executions", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("total_seconds", Double, nullable=False),
    Column("last_outcome", String(20), nullable=False),
    Column("message", AnyText),
    sqlite_with_rowid=False,
)

coverage_map = Table(
    "coverage_map",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("code_version", AnyText, nullable=False),
    Column("at", Moment, nullable=False),
    CheckConstraint("id = 1", name="single"),
)

coverage_lines = Table(
    "coverage_lines",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("test", AnyText, nullable=False),
    Column("file", AnyText),  # NULL: the test was measured and executed nothing
    Column("lines", LargeBinary, nullable=False),  # coverage.py's numbits: bit n is line n
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("seq", RowNumber, primary_key=True, autoincrement=False),
    Column("kind", AnyText, nullable=False),
    Column("subject", AnyText, nullable=False),
    Column("payload", AnyText, nullable=False),  # canonical JSON as text: JSONB would rewrite the numbers
    Column("at", Moment, nullable=False),
    Column("digest", String(64), nullable=False),
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", RowNumber, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("mac", String(64), nullable=False),
    CheckConstraint("id = 1", name="single"),
)

# One compressed document per service; what is in it is the business of whoever learned it.
service_knowledge = Table(
    "service_knowledge",
    metadata,
    Column("digest", String(64), primary_key=True),  # of the service
    Column("service", AnyText, nullable=False),
    Column("document", LargeBinary, nullable=False),
)
