"""What was learned of services. Writers of one service take turns, so that each combines with all before it."""

import zlib
from collections.abc import Callable

from sqlalchemy import Connection, delete, select

from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import LARGEST_KNOWLEDGE_BYTES
from whet.store.engine import Database
from whet.store.escapes import digest_of
from whet.store.schema import service_knowledge as kept

_LEVEL = 1  # a document of megabytes is written while others wait


class SqlServiceKnowledge:
    """Implements `whet.core.ports.ServiceKnowledge`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def load(self, service: str) -> str | None:
        return self.database.read(lambda connection: _document(connection, service))

    def update(self, service: str, combine: Callable[[str | None], str]) -> str:
        def work(connection: Connection) -> str:
            # A lock rather than the row's own: the first two writers of a service have no row yet.
            self.database.take_turns(connection, _lock_of(service))
            document = combine(_document(connection, service))
            self._keep(connection, service, document)
            return document

        return self.database.write(work)

    def services(self) -> list[str]:
        return sorted(self.database.read(lambda connection: list(connection.scalars(select(kept.c.service)))))

    def forget(self, service: str) -> bool:
        statement = delete(kept).where(kept.c.digest == digest_of(service))
        return self.database.write(lambda connection: connection.execute(statement).rowcount) > 0

    def _keep(self, connection: Connection, service: str, document: str) -> None:
        insert = self.database.insert(kept).values(
            digest=digest_of(service), service=service, document=_packed(service, document)
        )
        connection.execute(
            insert.on_conflict_do_update(index_elements=["digest"], set_={"document": insert.excluded.document})
        )


def _document(connection: Connection, service: str) -> str | None:
    packed = connection.scalar(select(kept.c.document).where(kept.c.digest == digest_of(service)))
    if packed is None:
        return None
    try:
        return zlib.decompress(packed).decode("utf-8", "surrogatepass")
    except (zlib.error, ValueError) as error:
        raise WhetError(
            f"What was learned of {service[:200]!r} is damaged ({error}).",
            "Put a backup of the store in its place, or forget this service to start afresh.",
        ) from error


def _packed(service: str, document: str) -> bytes:
    written = document.encode("utf-8", "surrogatepass")
    if len(written) > LARGEST_KNOWLEDGE_BYTES:
        raise RefusedInput(
            f"What was learned of {service[:200]!r} has {len(written):,} bytes; at most {LARGEST_KNOWLEDGE_BYTES:,} "
            "are kept. Nothing was changed.",
            "Keep fewer values and sequences of it.",
        )
    return zlib.compress(written, _LEVEL)


def _lock_of(service: str) -> int:
    return int.from_bytes(bytes.fromhex(digest_of(service))[:8], signed=True)
