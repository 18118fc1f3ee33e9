"""The table of keys."""

from sqlalchemy import Column, Integer, String, Table

from whet.store.columns import AnyText, Moment, Name, RowNumber
from whet.store.schema import metadata

access_keys = Table(
    "access_keys",
    metadata,
    Column("seq", RowNumber, primary_key=True),
    Column("id", Name, nullable=False, unique=True),
    Column("name", AnyText, nullable=False),
    Column("role", String(20), nullable=False),
    Column("digest", String(64), nullable=False),  # keyed, see `whet.service.secrets`
    Column("turn", Integer, nullable=False),
    Column("made_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
)
