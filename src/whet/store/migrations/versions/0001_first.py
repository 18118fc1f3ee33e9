"""The first schema."""

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
)

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "audit_head",
        Column("id", Integer(), autoincrement=False, nullable=False),
        Column("seq", RowNumber, nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("mac", String(length=64), nullable=False),
        CheckConstraint("id = 1", name=op.f("ck_audit_head_single")),
        PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )
    op.create_table(
        "audit_log",
        Column("seq", RowNumber, autoincrement=False, nullable=False),
        Column("kind", AnyText(), nullable=False),
        Column("subject", AnyText(), nullable=False),
        Column("payload", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        Column("digest", String(length=64), nullable=False),
        PrimaryKeyConstraint("seq", name=op.f("pk_audit_log")),
    )
    op.create_table(
        "coverage_lines",
        Column("id", RowNumber, nullable=False),
        Column("test", AnyText(), nullable=False),
        Column("file", AnyText(), nullable=True),
        Column("lines", LargeBinary(), nullable=False),
        PrimaryKeyConstraint("id", name=op.f("pk_coverage_lines")),
    )
    op.create_table(
        "coverage_map",
        Column("id", Integer(), autoincrement=False, nullable=False),
        Column("code_version", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        CheckConstraint("id = 1", name=op.f("ck_coverage_map_single")),
        PrimaryKeyConstraint("id", name=op.f("pk_coverage_map")),
    )
    op.create_table(
        "decisions",
        Column("seq", RowNumber, nullable=False),
        Column("id", Name(), nullable=False),
        Column("run_id", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("state_key", Name(), nullable=False),
        Column("state", Document(), nullable=False),
        Column("proposed", Name(), nullable=False),
        Column("action", Name(), nullable=False),
        Column("probability", Double(), nullable=False),
        Column("confidence", Double(), nullable=True),
        Column("explored", Boolean(), nullable=False),
        Column("policy", AnyText(), nullable=False),
        Column("policy_version", AnyText(), nullable=False),
        Column("decided_by", String(length=20), nullable=False),
        Column("alternatives", Document(), nullable=False),
        Column("review", String(length=20), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("seq", name=op.f("pk_decisions")),
        UniqueConstraint("id", name=op.f("uq_decisions_id")),
    )
    op.create_index(op.f("ix_decisions_agent_state_key"), "decisions", ["agent", "state_key"], unique=False)
    op.create_index(op.f("ix_decisions_review"), "decisions", ["review"], unique=False)
    op.create_index(op.f("ix_decisions_run_id"), "decisions", ["run_id"], unique=False)
    op.create_table(
        "experiences",
        Column("id", RowNumber, nullable=False),
        Column("key", Name(), nullable=False),
        Column("run_id", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("category", Name(), nullable=False),
        Column("decision_id", Name(), nullable=False),
        Column("decision", Document(), nullable=False),
        Column("action", Name(), nullable=False),
        Column("kind", Name(), nullable=False),
        Column("state", Document(), nullable=False),
        Column("state_key", Name(), nullable=False),
        Column("category_key", Name(), nullable=False),
        Column("fleet_key", Name(), nullable=False),
        Column("outcome", Document(), nullable=False),
        Column("reward_profile", AnyText(), nullable=False),
        Column("reward_parts", Document(), nullable=False),
        Column("reward_raw", Double(), nullable=False),
        Column("reward_shaped", Double(), nullable=False),
        Column("reward_credited", Double(), nullable=False),
        Column("next_state_key", Name(), nullable=True),
        Column("next_category_key", Name(), nullable=True),
        Column("next_fleet_key", Name(), nullable=True),
        Column("next_actions", Document(), nullable=False),
        Column("done", Boolean(), nullable=False),
        Column("priority", Double(), nullable=False),
        Column("at", Moment(), nullable=False),
        CheckConstraint("priority >= 0", name=op.f("ck_experiences_priority")),
        PrimaryKeyConstraint("id", name=op.f("pk_experiences")),
        UniqueConstraint("key", name=op.f("uq_experiences_key")),
    )
    op.create_index(op.f("ix_experiences_agent"), "experiences", ["agent"], unique=False)
    op.create_index(op.f("ix_experiences_decision_id"), "experiences", ["decision_id"], unique=False)
    op.create_index(op.f("ix_experiences_run_id"), "experiences", ["run_id"], unique=False)
    op.create_table(
        "findings",
        Column("fingerprint", Name(), nullable=False),
        Column("first_run_id", Name(), nullable=False),
        Column("last_run_id", Name(), nullable=False),
        Column("first_seen", Moment(), nullable=False),
        Column("last_seen", Moment(), nullable=False),
        PrimaryKeyConstraint("fingerprint", name=op.f("pk_findings")),
    )
    op.create_table(
        "learning_stats",
        Column("id", RowNumber, nullable=False),
        Column("run_id", Name(), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("stats", Document(), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("id", name=op.f("pk_learning_stats")),
        UniqueConstraint("run_id", "agent", name=op.f("uq_learning_stats_run_id_agent")),
    )
    op.create_table(
        "q_tables",
        Column("id", RowNumber, nullable=False),
        Column("scope", String(length=20), nullable=False),
        Column("owner", Name(), nullable=False),
        Column("total_updates", RowNumber, nullable=False),
        Column("avg_reward", Double(), nullable=True),
        Column("updated_at", Moment(), nullable=False),
        CheckConstraint("scope IN ('individual', 'category', 'fleet')", name=op.f("ck_q_tables_scope")),
        PrimaryKeyConstraint("id", name=op.f("pk_q_tables")),
        UniqueConstraint("scope", "owner", name=op.f("uq_q_tables_scope_owner")),
    )
    op.create_table(
        "runs",
        Column("seq", RowNumber, nullable=False),
        Column("id", Name(), nullable=False),
        Column("project", AnyText(), nullable=False),
        Column("code_version", AnyText(), nullable=False),
        Column("budget_seconds", Double(), nullable=False),
        Column("seed", AnyText(), nullable=False),
        Column("started_at", Moment(), nullable=False),
        Column("ended_at", Moment(), nullable=True),
        Column("status", String(length=20), nullable=False),
        Column("summary", Document(), nullable=False),
        PrimaryKeyConstraint("seq", name=op.f("pk_runs")),
        UniqueConstraint("id", name=op.f("uq_runs_id")),
    )
    op.create_table(
        "test_runs",
        Column("id", RowNumber, nullable=False),
        Column("run_id", Name(), nullable=False),
        Column("code_version", Name(), nullable=False),
        PrimaryKeyConstraint("id", name=op.f("pk_test_runs")),
        UniqueConstraint("run_id", "code_version", name=op.f("uq_test_runs_run_id_code_version")),
    )
    op.create_index(op.f("ix_test_runs_code_version"), "test_runs", ["code_version"], unique=False)
    op.create_table(
        "tests",
        Column("id", RowNumber, nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("test", AnyText(), nullable=False),
        Column("executions", RowNumber, nullable=False),
        Column("failures", RowNumber, nullable=False),
        Column("total_seconds", Double(), nullable=False),
        Column("last_outcome", String(length=20), nullable=False),
        Column("runs", RowNumber, nullable=False),
        Column("last_failed_turn", RowNumber, nullable=True),
        Column("decayed_failures", Double(), nullable=False),
        Column("network", Boolean(), nullable=True),
        Column("slept_seconds", Double(), nullable=True),
        PrimaryKeyConstraint("id", name=op.f("pk_tests")),
        UniqueConstraint("digest", name=op.f("uq_tests_digest")),
    )
    op.create_table(
        "q_values",
        Column("table_id", RowNumber, nullable=False),
        Column("state_key", Name(), nullable=False),
        Column("action", Name(), nullable=False),
        Column("q_value", Double(), nullable=False),
        Column("visits", RowNumber, nullable=False),
        Column("mean", Double(), nullable=False),
        Column("m2", Double(), nullable=False),
        Column("updated_at", Moment(), nullable=False),
        CheckConstraint("q_value BETWEEN -1e6 AND 1e6", name=op.f("ck_q_values_q_value")),
        CheckConstraint("visits >= 0 AND m2 >= 0", name=op.f("ck_q_values_counts")),
        ForeignKeyConstraint(["table_id"], ["q_tables.id"], name=op.f("fk_q_values_table_id"), ondelete="CASCADE"),
        PrimaryKeyConstraint("table_id", "state_key", "action", name=op.f("pk_q_values")),
    )
    op.create_table(
        "rulings",
        Column("agent", Name(), nullable=False),
        Column("state_key", Name(), nullable=False),
        Column("action", Name(), nullable=False),
        Column("verdict", String(length=20), nullable=False),
        Column("decision_id", Name(), nullable=False),
        Column("by", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_rulings_decision_id")),
        PrimaryKeyConstraint("agent", "state_key", name=op.f("pk_rulings")),
    )
    op.create_table(
        "sightings",
        Column("id", RowNumber, nullable=False),
        Column("run_id", Name(), nullable=False),
        Column("fingerprint", Name(), nullable=False),
        Column("finding", Document(), nullable=False),
        ForeignKeyConstraint(["fingerprint"], ["findings.fingerprint"], name=op.f("fk_sightings_fingerprint")),
        PrimaryKeyConstraint("id", name=op.f("pk_sightings")),
    )
    op.create_index(op.f("ix_sightings_fingerprint"), "sightings", ["fingerprint"], unique=False)
    op.create_index(op.f("ix_sightings_run_id"), "sightings", ["run_id"], unique=False)
    op.create_table(
        "test_results",
        Column("test_run_id", RowNumber, nullable=False),
        Column("test_id", RowNumber, nullable=False),
        Column("condition", String(length=20), nullable=False),
        Column("turn", RowNumber, nullable=False),
        Column("executions", Integer(), nullable=False),
        Column("failures", Integer(), nullable=False),
        Column("total_seconds", Double(), nullable=False),
        Column("last_outcome", String(length=20), nullable=False),
        Column("message", AnyText(), nullable=True),
        ForeignKeyConstraint(["test_id"], ["tests.id"], name=op.f("fk_test_results_test_id")),
        ForeignKeyConstraint(["test_run_id"], ["test_runs.id"], name=op.f("fk_test_results_test_run_id")),
        PrimaryKeyConstraint("test_run_id", "test_id", "condition", name=op.f("pk_test_results")),
        sqlite_with_rowid=False,
    )
