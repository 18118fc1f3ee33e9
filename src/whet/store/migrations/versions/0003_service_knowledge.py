"""What was learned of services: one document each."""

from alembic import op
from sqlalchemy import Column, LargeBinary, PrimaryKeyConstraint, String

from whet.store.columns import AnyText

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "service_knowledge",
        Column("digest", String(length=64), nullable=False),
        Column("service", AnyText(), nullable=False),
        Column("document", LargeBinary(), nullable=False),
        PrimaryKeyConstraint("digest", name=op.f("pk_service_knowledge")),
    )
