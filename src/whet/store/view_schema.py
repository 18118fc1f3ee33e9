"""The tables of pages: sums that whoever writes keeps up to date, what waits for people, and what people said."""

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, String, Table

from whet.store.columns import AnyText, Document, Moment, Name, RowNumber
from whet.store.schema import metadata

# A run belongs to the day (UTC) of its first decision.
run_sums = Table(
    "run_sums",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("day", String(10), nullable=False),
    Column("decisions", RowNumber, nullable=False),
    Column("judged", RowNumber, nullable=False),
    Column("reward", Double, nullable=False),
    Column("successes", RowNumber, nullable=False),
)

day_sums = Table(
    "day_sums",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("agent", Name, primary_key=True),
    Column("policy", Name, primary_key=True),
    Column("decisions", RowNumber, nullable=False),
    Column("judged", RowNumber, nullable=False),
    Column("reward", Double, nullable=False),
    Column("squares", Double, nullable=False),
    Column("successes", RowNumber, nullable=False),
    Column("explored", RowNumber, nullable=False),
)

# Over all agents, with the products from which the error of a mean over runs follows.
day_totals = Table(
    "day_totals",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("runs", RowNumber, nullable=False),
    Column("decisions", RowNumber, nullable=False),
    Column("judged", RowNumber, nullable=False),
    Column("reward", Double, nullable=False),
    Column("successes", RowNumber, nullable=False),
    Column("reward_reward", Double, nullable=False),
    Column("reward_judged", Double, nullable=False),
    Column("judged_judged", Double, nullable=False),
    Column("success_success", Double, nullable=False),
    Column("success_judged", Double, nullable=False),
)

# Apart from `day_totals`: runs end, and findings come, without the lock that learners hold.
day_seconds = Table(
    "day_seconds",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("seconds", Double, nullable=False),
)
day_findings = Table(
    "day_findings",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("severity", String(20), primary_key=True),
    Column("new", RowNumber, nullable=False),
)

# The newest decision of each state that waits for a person.
awaiting = Table(
    "awaiting",
    metadata,
    Column("agent", Name, primary_key=True),
    Column("state_key", Name, primary_key=True),
    Column("seq", RowNumber, ForeignKey("decisions.seq"), nullable=False, index=True),
)

marks = Table(
    "marks",
    metadata,
    Column("fingerprint", Name, ForeignKey("findings.fingerprint"), primary_key=True),
    Column("verdict", String(20), nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Moment, nullable=False),
)

ratings = Table(
    "ratings",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("stars", Integer, nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Moment, nullable=False, index=True),
)

corrections = Table(
    "corrections",
    metadata,
    Column("key", Name, primary_key=True),  # of the experience
    Column("difference", Double, nullable=False),
    Column("at", Moment, nullable=False),
)

reward_rules = Table(
    "reward_rules",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("profile", AnyText),  # NULL: settings hold again
    Column("weights", Document, nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", Moment, nullable=False),
)

for _columns in (
    ("latest",),
    ("kind", "latest"),
    ("severity", "latest"),
    ("standing", "latest"),
    ("kind", "severity", "latest"),
    ("kind", "standing", "latest"),
    ("severity", "standing", "latest"),
    ("kind", "severity", "standing", "latest"),
):
    Index(None, *(metadata.tables["findings"].c[name] for name in _columns))
Index(None, metadata.tables["decisions"].c.agent, metadata.tables["decisions"].c.seq)
Index(None, metadata.tables["decisions"].c.run_id, metadata.tables["decisions"].c.seq)
Index(None, metadata.tables["learning_stats"].c.agent, metadata.tables["learning_stats"].c.id)
