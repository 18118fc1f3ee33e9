"""Who may do what: keys with roles. A key's digest is kept, never the key."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import Field

from whet.core.records import Count, Record


class Role(StrEnum):
    """Each may do what those before it may."""

    METRICS = "metrics"  # reads /metrics and nothing else
    VIEWER = "viewer"  # sees everything
    REVIEWER = "reviewer"  # judges findings, runs and decisions
    OPERATOR = "operator"  # makes things happen: decisions that are kept, training, promotion
    ADMIN = "admin"  # keys

    def may(self, needed: "Role") -> bool:
        return _RANKS.index(self) >= _RANKS.index(needed)


_RANKS: Sequence[Role] = tuple(Role)
Label = Annotated[str, Field(min_length=1, max_length=100)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Person(Record):
    """Whoever is asking, known by a key, a session or a token. `name` is what the audit trail calls them."""

    name: Label
    role: Role
    key_id: str | None = Field(description="None: a token of the organisation's own")


class NewKey(Record):
    id: Annotated[str, Field(pattern="^[a-z0-9]{8,32}$")]
    name: Label
    role: Role
    digest: Digest
    expires_at: datetime | None = None


class Key(Record):
    """A key as it is kept. `turn` counts how often it was given another secret."""

    id: str
    name: Label
    role: Role
    digest: Digest = Field(repr=False)
    turn: Count = 0
    made_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def valid(self, at: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


class People(Protocol):
    """The keys of record. Every change is one transaction with its audit entry, which never holds a digest."""

    def add(self, new: NewKey, by: str, at: datetime) -> Key:
        """RefusedInput when there is a key of this id already."""

    def add_first(self, new: NewKey, by: str, at: datetime) -> Key | None:
        """The same, if there was never a key before; None, and no change, otherwise. Of several at once one wins."""

    def find(self, key_id: str) -> Key | None: ...

    def all(self) -> list[Key]:
        """Oldest first; revoked ones too."""

    def revoke(self, key_id: str, by: str, at: datetime) -> Key | None:
        """For good. None when there is no such key; revoking it again changes nothing."""

    def rotate(self, key_id: str, digest: str, by: str, at: datetime) -> Key | None:
        """Another secret for the same key; the one before is refused from now on. None: no such key, or revoked."""
