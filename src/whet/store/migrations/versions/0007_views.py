"""What pages show: sums by run and day, what waits for people, what people said; filled from what is there."""

from typing import Any

from alembic import op
from sqlalchemy import (
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Select,
    String,
    Table,
    case,
    cast,
    column,
    func,
    insert,
    literal_column,
    select,
    table,
    text,
)

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber

revision = "0007"
down_revision = "0006"

_COUNTS = ("decisions", "judged", "reward", "successes")


def upgrade() -> None:
    runs = _run_sums()
    _day_sums()
    _day_totals(runs)
    _day_seconds()
    _findings()
    _awaiting()
    _words()
    op.create_index(op.f("ix_decisions_agent_seq"), "decisions", ["agent", "seq"], unique=False)
    op.create_index(op.f("ix_decisions_run_id_seq"), "decisions", ["run_id", "seq"], unique=False)
    op.create_index(op.f("ix_learning_stats_agent_id"), "learning_stats", ["agent", "id"], unique=False)


_lived = table(
    "experiences",
    column("run_id", Name()),
    column("agent", Name()),
    column("decision", Document()),
    column("outcome", Document()),
    column("reward_credited", Double()),
    column("at", Moment()),
)


def _judged() -> Any:
    return case((func.coalesce(_lived.c.outcome["cut_short"].as_boolean(), False), 0), else_=1)


def _succeeded() -> Any:
    return case((_lived.c.outcome["failed"].as_string().is_(None), _judged()), else_=0)


def _day(moment: str) -> Any:
    if op.get_bind().dialect.name == "postgresql":
        return literal_column(f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD')")
    return literal_column(f"substr({moment}, 1, 10)")


def _fill(made: Table, query: Select[Any]) -> None:
    op.get_bind().execute(insert(made).from_select([each.name for each in made.c], query))


def _sums() -> list[Any]:
    reward = func.sum(_judged() * _lived.c.reward_credited)
    return [func.count(), func.sum(_judged()), reward, func.sum(_succeeded())]


def _run_sums() -> Table:
    made = op.create_table(
        "run_sums",
        Column("run_id", Name(), nullable=False),
        Column("day", String(length=10), nullable=False),
        Column("decisions", RowNumber, nullable=False),
        Column("judged", RowNumber, nullable=False),
        Column("reward", Double(), nullable=False),
        Column("successes", RowNumber, nullable=False),
        PrimaryKeyConstraint("run_id", name=op.f("pk_run_sums")),
    )
    _fill(made, select(_lived.c.run_id, func.min(_day("at")), *_sums()).group_by(_lived.c.run_id))
    return made


def _day_sums() -> None:
    made = op.create_table(
        "day_sums",
        Column("day", String(length=10), nullable=False),
        Column("agent", Name(), nullable=False),
        Column("policy", Name(), nullable=False),
        Column("decisions", RowNumber, nullable=False),
        Column("judged", RowNumber, nullable=False),
        Column("reward", Double(), nullable=False),
        Column("squares", Double(), nullable=False),
        Column("successes", RowNumber, nullable=False),
        Column("explored", RowNumber, nullable=False),
        PrimaryKeyConstraint("day", "agent", "policy", name=op.f("pk_day_sums")),
    )
    decided = _lived.c.decision
    policy = func.substr(decided["policy"].as_string(), 1, 200)
    squares = func.sum(_judged() * _lived.c.reward_credited * _lived.c.reward_credited)
    explored = func.sum(cast(func.coalesce(decided["explored"].as_boolean(), False), Integer))
    count, judged, reward, succeeded = _sums()
    run = table("run_sums", column("run_id", Name()), column("day", String()))
    query = select(run.c.day, _lived.c.agent, policy, count, judged, reward, squares, succeeded, explored)
    query = query.join_from(_lived, run, run.c.run_id == _lived.c.run_id)
    _fill(made, query.group_by(run.c.day, _lived.c.agent, policy))


def _day_totals(runs: Table) -> None:
    made = op.create_table(
        "day_totals",
        Column("day", String(length=10), nullable=False),
        Column("runs", RowNumber, nullable=False),
        *(Column(name, Double() if name == "reward" else RowNumber, nullable=False) for name in _COUNTS),
        Column("reward_reward", Double(), nullable=False),
        Column("reward_judged", Double(), nullable=False),
        Column("judged_judged", Double(), nullable=False),
        Column("success_success", Double(), nullable=False),
        Column("success_judged", Double(), nullable=False),
        PrimaryKeyConstraint("day", name=op.f("pk_day_totals")),
    )
    reward, judged, successes = runs.c.reward, cast(runs.c.judged, Double), cast(runs.c.successes, Double)
    products = (reward * reward, reward * judged, judged * judged, successes * successes, successes * judged)
    sums = [func.sum(each) for each in (*(runs.c[name] for name in _COUNTS), *products)]
    _fill(made, select(runs.c.day, func.count(), *sums).group_by(runs.c.day))


def _day_seconds() -> None:
    made = op.create_table(
        "day_seconds",
        Column("day", String(length=10), nullable=False),
        Column("seconds", Double(), nullable=False),
        PrimaryKeyConstraint("day", name=op.f("pk_day_seconds")),
    )
    runs = table("runs", column("started_at", Moment()), column("summary", Document()))
    used, day = runs.c.summary["used_seconds"].as_float(), _day("started_at")
    _fill(made, select(day, func.sum(used)).where(used.is_not(None)).group_by(day))


def _findings() -> None:
    op.add_column("findings", Column("kind", String(length=20), nullable=False, server_default=text("''")))
    op.add_column("findings", Column("severity", String(length=20), nullable=False, server_default=text("''")))
    op.add_column("findings", Column("standing", String(length=20), nullable=False, server_default=text("'unmarked'")))
    op.add_column("findings", Column("latest", RowNumber, nullable=False, server_default=text("0")))
    found = table(
        "findings", *(column(name) for name in ("fingerprint", "kind", "severity", "latest")), column("first_seen")
    )
    seen = table("sightings", column("id"), column("fingerprint"), column("finding", Document()))
    newest = select(func.max(seen.c.id)).where(seen.c.fingerprint == found.c.fingerprint).scalar_subquery()
    op.execute(found.update().values(latest=func.coalesce(newest, 0)))
    for name in ("kind", "severity"):
        told = select(seen.c.finding[name].as_string()).where(seen.c.id == found.c.latest).scalar_subquery()
        op.execute(found.update().values({name: func.coalesce(told, "")}))
    made = op.create_table(
        "day_findings",
        Column("day", String(length=10), nullable=False),
        Column("severity", String(length=20), nullable=False),
        Column("new", RowNumber, nullable=False),
        PrimaryKeyConstraint("day", "severity", name=op.f("pk_day_findings")),
    )
    day = _day("first_seen")
    _fill(made, select(day, found.c.severity, func.count()).group_by(day, found.c.severity))
    for names in (
        ["latest"],
        ["kind", "latest"],
        ["severity", "latest"],
        ["standing", "latest"],
        ["kind", "severity", "latest"],
        ["kind", "standing", "latest"],
        ["severity", "standing", "latest"],
        ["kind", "severity", "standing", "latest"],
    ):
        op.create_index(op.f(f"ix_findings_{'_'.join(names)}"), "findings", names, unique=False)


def _awaiting() -> None:
    made = op.create_table(
        "awaiting",
        Column("agent", Name(), nullable=False),
        Column("state_key", Name(), nullable=False),
        Column("seq", RowNumber, nullable=False),
        ForeignKeyConstraint(["seq"], ["decisions.seq"], name=op.f("fk_awaiting_seq")),
        PrimaryKeyConstraint("agent", "state_key", name=op.f("pk_awaiting")),
    )
    op.create_index(op.f("ix_awaiting_seq"), "awaiting", ["seq"], unique=False)
    decided = table("decisions", *(column(name) for name in ("seq", "agent", "state_key", "review")))
    query = select(decided.c.agent, decided.c.state_key, func.max(decided.c.seq))
    _fill(made, query.where(decided.c.review == "pending").group_by(decided.c.agent, decided.c.state_key))


def _words() -> None:
    op.create_table(
        "marks",
        Column("fingerprint", Name(), nullable=False),
        Column("verdict", String(length=20), nullable=False),
        Column("by", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        ForeignKeyConstraint(["fingerprint"], ["findings.fingerprint"], name=op.f("fk_marks_fingerprint")),
        PrimaryKeyConstraint("fingerprint", name=op.f("pk_marks")),
    )
    op.create_table(
        "ratings",
        Column("run_id", Name(), nullable=False),
        Column("stars", Integer(), nullable=False),
        Column("by", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("run_id", name=op.f("pk_ratings")),
    )
    op.create_index(op.f("ix_ratings_at"), "ratings", ["at"], unique=False)
    op.create_table(
        "corrections",
        Column("key", Name(), nullable=False),
        Column("difference", Double(), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("key", name=op.f("pk_corrections")),
    )
    op.create_table(
        "reward_rules",
        Column("number", RowNumber, nullable=False),
        Column("profile", AnyText(), nullable=True),
        Column("weights", Document(), nullable=False),
        Column("by", AnyText(), nullable=False),
        Column("at", Moment(), nullable=False),
        PrimaryKeyConstraint("number", name=op.f("pk_reward_rules")),
    )
