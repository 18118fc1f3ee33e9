"""The training queue inside the store: nothing else has to run."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Double, bindparam, delete, func, or_, select, text, update

from whet.core.errors import RefusedInput
from whet.core.queues import Delivery, Message, check_limits
from whet.store.engine import Database
from whet.store.learning_schema import training_queue as queue

LEASE_SECONDS = 300.0
_PUTTING = 0x7768657451  # any number works that all versions agree on
_BATCH = 500
_POLL_SECONDS = 0.05


class SqlQueue:
    """Implements `whet.core.queues.TrainingQueue`.

    A lease ends so long after it began, by the database's clock, or by that of the machine where the database is a
    file. A clock that is set back further than a lease ends it as well: better twice than never.
    """

    drops_duplicates = True

    def __init__(
        self, database: Database, lease_seconds: float = LEASE_SECONDS, clock: Callable[[], float] | None = None
    ) -> None:
        if not 0 < lease_seconds < float("inf"):
            raise RefusedInput(f"A lease of {lease_seconds} seconds was asked for.", "Give a number above 0.")
        self._database = database
        self._lease_seconds = lease_seconds
        self._clock = clock or (time.time if database.is_sqlite else None)
        self._insert = database.insert(queue).on_conflict_do_nothing(index_elements=["key"])

    def put(self, messages: Sequence[Message]) -> None:
        check_limits(messages)
        rows = [{"key": key, "body": body, "attempts": 0} for key, body in messages]
        if rows:
            self._database.write(lambda connection: self._put(connection, rows))

    def take(self, consumer: str, limit: int, wait_seconds: float = 0.0) -> list[Delivery]:
        deadline = time.monotonic() + wait_seconds
        while limit > 0:
            taken = self._database.write(lambda connection: self._take(connection, consumer, limit))
            if taken or not self._appeared(deadline):
                return taken
        return []

    def done(self, deliveries: Sequence[Delivery]) -> None:
        numbers = sorted({int(each.receipt) for each in deliveries})
        if numbers:
            self._database.write(lambda connection: _delete(connection, numbers))

    def waiting(self) -> int | None:
        query = select(func.count()).select_from(queue)
        return self._database.read(lambda connection: connection.execute(query).scalar_one())

    def close(self) -> None:
        """The connections are the store's."""

    def _put(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        # In turns: two that put the same keys in another order would wait for each other.
        self._database.take_turns(connection, _PUTTING)
        connection.execute(self._insert, rows)

    def _take(self, connection: Connection, consumer: str, limit: int) -> list[Delivery]:
        moment = self._now(connection)
        query = _free(moment).order_by(queue.c.id).limit(limit).with_for_update(skip_locked=True)
        found = connection.execute(query).all()
        lease = {"consumer": consumer, "taken_at": moment, "lease_seconds": self._lease_seconds}
        change = update(queue).where(queue.c.id == bindparam("number")).values(attempts=queue.c.attempts + 1, **lease)
        if found:
            connection.execute(change, [{"number": row.id} for row in found])
        return [Delivery(Message(row.key, bytes(row.body)), str(row.id), row.attempts + 1) for row in found]

    def _appeared(self, deadline: float) -> bool:
        """Whether there is something to take before the deadline. Looking does not keep writers waiting."""
        while time.monotonic() < deadline:
            time.sleep(min(_POLL_SECONDS, max(0.0, deadline - time.monotonic())))
            if self._database.read(lambda c: c.execute(_free(self._now(c)).limit(1)).first()) is not None:
                return True
        return False

    def _now(self, connection: Connection) -> float:
        if self._clock is not None:
            return self._clock()
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def _free(moment: float) -> Any:
    held = func.abs(bindparam("moment", moment, type_=Double) - queue.c.taken_at) < queue.c.lease_seconds
    return select(queue).where(or_(queue.c.taken_at.is_(None), ~held))


def _delete(connection: Connection, numbers: Sequence[int]) -> None:
    for start in range(0, len(numbers), _BATCH):
        connection.execute(delete(queue).where(queue.c.id.in_(numbers[start : start + _BATCH])))
