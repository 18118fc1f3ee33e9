"""Keys of people and programs."""

from alembic import op
from sqlalchemy import Column, Integer, PrimaryKeyConstraint, String, UniqueConstraint

from whet.store.columns import AnyText, Moment, Name, RowNumber

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "access_keys",
        Column("seq", RowNumber, nullable=False),
        Column("id", Name(), nullable=False),
        Column("name", AnyText(), nullable=False),
        Column("role", String(length=20), nullable=False),
        Column("digest", String(length=64), nullable=False),
        Column("turn", Integer(), nullable=False),
        Column("made_at", Moment(), nullable=False),
        Column("expires_at", Moment(), nullable=True),
        Column("revoked_at", Moment(), nullable=True),
        PrimaryKeyConstraint("seq", name=op.f("pk_access_keys")),
        UniqueConstraint("id", name=op.f("uq_access_keys_id")),
    )
