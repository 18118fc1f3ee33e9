"""The audit trail: append-only, hash-chained, its head sealed apart.

Each entry's digest covers the digest before it, so that editing, deleting, inserting or
reordering entries breaks the chain at that place. The head remembers how far the chain goes
and is sealed with the key, so that cutting the end off shows as well. Without a key whoever
can write the database can also recompute the chain; `verify` then says `keyed=False`.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select, update

from whet.core.ports import AuditEntry, AuditReport
from whet.core.records import now
from whet.store.engine import Database
from whet.store.escapes import canonical_json, from_document
from whet.store.schema import audit_head, audit_log

_STREAM_ROWS = 1000
_BROKEN = ""  # the seal of a head that did not fit its trail; no key ever produces it


class _Head(NamedTuple):
    seq: int
    digest: str
    mac: str


_EMPTY = _Head(0, "", _BROKEN)


class SqlAuditTrail:
    def __init__(self, database: Database, key: bytes | None) -> None:
        self._database = database
        self._key = key
        self._first = database.insert(audit_head).values(id=1, seq=0, digest="", mac=_BROKEN).on_conflict_do_nothing()

    def append(self, kind: str, subject: str, payload: Mapping[str, Any]) -> str:
        return self._database.write(lambda connection: self.append_in(connection, kind, subject, payload))

    def append_in(self, connection: Connection, kind: str, subject: str, payload: Mapping[str, Any]) -> str:
        """Append within the caller's transaction. The head is the last lock anyone takes."""
        head, sound = self._lock_head(connection)
        seq, at, text = head.seq + 1, now(), canonical_json(payload)
        digest = self._digest(head.digest, seq, kind, subject, text, at)
        row = {"seq": seq, "kind": kind, "subject": subject, "payload": text, "at": at, "digest": digest}
        connection.execute(audit_log.insert(), row)
        mac = self._seal(seq, digest) if sound else _BROKEN
        connection.execute(update(audit_head), {"seq": seq, "digest": digest, "mac": mac})
        return digest

    def entries(self, limit: int = 100) -> list[AuditEntry]:
        query = select(audit_log).order_by(audit_log.c.seq.desc()).limit(limit)
        return [entry_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]

    def verify(self, expected_head: str | None = None) -> AuditReport:
        return self._database.read(lambda connection: self._verify(connection, expected_head))

    def _lock_head(self, connection: Connection) -> tuple[_Head, bool]:
        """The head, and whether it is sound. Appending to a broken one must not mend it: the break is evidence."""
        connection.execute(self._first)
        head = _Head(*connection.execute(_HEAD.with_for_update()).one())
        newest = connection.execute(select(func.coalesce(func.max(audit_log.c.seq), 0))).scalar_one()
        sound = head.seq == newest and (head == _EMPTY or self._is_sealed(head))
        return head._replace(seq=max(head.seq, newest)), sound

    def _verify(self, connection: Connection, expected_head: str | None) -> AuditReport:
        found = connection.execute(_HEAD).one_or_none()
        head = _EMPTY if found is None else _Head(*found)
        chain = _Chain(expected_head)
        try:
            self._walk(connection, chain)
        except (ValueError, TypeError) as error:
            chain.problem = f"The entry after {chain.seq} cannot be read: {error}."
        problem = chain.problem or self._head_problem(head, chain) or chain.expectation()
        return AuditReport(
            entries=chain.entries, head=head.digest or None, keyed=self._key is not None, problem=problem
        )

    def _walk(self, connection: Connection, chain: "_Chain") -> None:
        query = select(audit_log).order_by(audit_log.c.seq)
        with connection.execution_options(yield_per=_STREAM_ROWS).execute(query) as rows:
            for row in rows:
                digest = self._digest(chain.digest, row.seq, row.kind, row.subject, row.payload, row.at)
                chain.take(row.seq, row.digest, hmac.compare_digest(digest, str(row.digest)))

    def _head_problem(self, head: _Head, chain: "_Chain") -> str | None:
        if (head.seq, head.digest) != (chain.seq, chain.digest):
            return f"The trail ends at entry {chain.seq}, its head says {head.seq}: entries were cut off or added."
        if head != _EMPTY and not self._is_sealed(head):
            return "The head's seal does not match: it was edited, or the trail was written with another key."
        return None

    def _is_sealed(self, head: _Head) -> bool:
        return hmac.compare_digest(head.mac, self._seal(head.seq, head.digest))

    def _seal(self, seq: int, digest: str) -> str:
        return self._mac(f"head:{seq}:{digest}")

    def _digest(self, before: str, seq: int, kind: str, subject: str, payload: str, at: datetime) -> str:
        return self._mac(before + canonical_json([seq, kind, subject, payload, at]))

    def _mac(self, text: str) -> str:
        if self._key is None:
            return hashlib.sha256(text.encode()).hexdigest()
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


class _Chain:
    """How far the walk has come, and the first thing it found wrong."""

    def __init__(self, expected_head: str | None) -> None:
        self.entries = self.seq = 0
        self.digest = ""
        self.problem: str | None = None
        self._awaited = expected_head

    def take(self, seq: int, digest: str, matches: bool) -> None:
        if self.problem is None and seq != self.seq + 1:
            self.problem = f"After entry {self.seq} comes entry {seq}: entries are missing or were added."
        if self.problem is None and not matches:
            self.problem = f"Entry {seq} does not match its digest: it or the entry before it was changed."
        if digest == self._awaited:
            self._awaited = None
        self.entries, self.seq, self.digest = self.entries + 1, seq, digest

    def expectation(self) -> str | None:
        if self._awaited is None:
            return None
        return f"The expected head {self._awaited[:12]}… is not in the trail: an older copy was put in its place."


_HEAD = select(audit_head.c.seq, audit_head.c.digest, audit_head.c.mac)


def entry_of(row: Row[Any]) -> AuditEntry:
    payload = from_document(json.loads(row.payload))
    return AuditEntry(seq=row.seq, kind=row.kind, subject=row.subject, payload=payload, at=row.at, digest=row.digest)
