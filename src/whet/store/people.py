"""Keys in the store. Who changes one leaves an audit entry; digests stay out of it."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.exc import IntegrityError

from whet.core.errors import RefusedInput
from whet.core.people import Key, NewKey
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.people_schema import access_keys
from whet.store.validated import validated

_FIRST_KEY_LOCK = 0x6B657973  # "keys"; any number works that all versions agree on


class SqlPeople:
    """Implements `whet.core.people.People`."""

    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit

    def add(self, new: NewKey, by: str, at: datetime) -> Key:
        checked = validated(new)
        return self._database.write(lambda connection: self._add(connection, checked, by, at))

    def add_first(self, new: NewKey, by: str, at: datetime) -> Key | None:
        checked = validated(new)

        def work(connection: Connection) -> Key | None:
            self._database.take_turns(connection, _FIRST_KEY_LOCK)
            if connection.scalar(select(func.count()).select_from(access_keys)):
                return None
            return self._add(connection, checked, by, at)

        return self._database.write(work)

    def find(self, key_id: str) -> Key | None:
        return self._database.read(lambda connection: _find(connection, key_id))

    def all(self) -> list[Key]:
        query = select(access_keys).order_by(access_keys.c.seq)
        return [_key(row) for row in self._database.read(lambda connection: connection.execute(query).all())]

    def revoke(self, key_id: str, by: str, at: datetime) -> Key | None:
        def work(connection: Connection) -> Key | None:
            found = _find(connection, key_id, lock=True)
            if found is None or found.revoked_at is not None:
                return found
            return self._change(connection, found, {"revoked_at": at}, "key-revoked", by)

        return self._database.write(work)

    def rotate(self, key_id: str, digest: str, by: str, at: datetime) -> Key | None:
        def work(connection: Connection) -> Key | None:
            found = _find(connection, key_id, lock=True)
            if found is None or found.revoked_at is not None:
                return None
            return self._change(connection, found, {"digest": digest, "turn": found.turn + 1}, "key-rotated", by)

        return self._database.write(work)

    def _add(self, connection: Connection, new: NewKey, by: str, at: datetime) -> Key:
        key = Key(**new.model_dump(), made_at=at)
        try:
            connection.execute(access_keys.insert(), key.model_dump())
        except IntegrityError as error:
            raise RefusedInput(f"There is a key {new.id!r} already.", "Give every key an id of its own.") from error
        self._note(connection, "key-added", key, by)
        return key

    def _change(self, connection: Connection, key: Key, changes: dict[str, Any], kind: str, by: str) -> Key:
        changed = validated(key.model_copy(update=changes))
        connection.execute(update(access_keys).where(access_keys.c.id == key.id).values(changes))
        self._note(connection, kind, changed, by)
        return changed

    def _note(self, connection: Connection, kind: str, key: Key, by: str) -> None:
        payload = {"name": key.name, "role": key.role.value, "turn": key.turn, "expires_at": key.expires_at, "by": by}
        self._audit.append_in(connection, kind, key.id, payload)


def _find(connection: Connection, key_id: str, lock: bool = False) -> Key | None:
    query = select(access_keys).where(access_keys.c.id == key_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _key(row)


def _key(row: Row[Any]) -> Key:
    return Key(**{name: row._mapping[name] for name in Key.model_fields})
