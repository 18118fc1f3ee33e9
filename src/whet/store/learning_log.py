"""How far continuous learning got with the stream of experiences, and what it made of each."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, select

from whet.core.errors import RefusedInput
from whet.core.learning_log import Batch, Judged, Quality, Seen, UnitResult
from whet.core.records import Experience
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.experiences import read_experience
from whet.store.learning_schema import arrivals, learning_cursor, verdicts
from whet.store.schema import experiences
from whet.store.training_set import TrainingSet
from whet.store.unit_results import unit_results

_JUDGING = 0x776865744A  # any number works that all versions agree on


class SqlLearningLog:
    """Implements `whet.core.learning_log.LearningLog`."""

    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database, self._audit = database, audit
        self._training = TrainingSet(database, audit)

    def unread(self, limit: int) -> list[Seen]:
        query = select(arrivals.c.position, experiences).join_from(arrivals, experiences)
        query = query.where(_after_the_cursor()).order_by(arrivals.c.position).limit(max(0, limit))
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [Seen(row.position, read_experience(row)) for row in rows]

    def backlog(self) -> int:
        query = select(func.count()).select_from(arrivals).where(_after_the_cursor())
        return int(self._database.read(lambda connection: connection.execute(query).scalar_one()))

    def judge(self, judged: Sequence[Judged], read_up_to: int) -> None:
        rows = [_row(each) for each in judged]
        self._database.write(lambda connection: self._judge(connection, rows, read_up_to))

    def verdicts(self, agent: str | None = None) -> Mapping[Quality, int]:
        counts = select(verdicts.c.quality, func.count().label("number")).group_by(verdicts.c.quality)
        counts = counts if agent is None else counts.where(verdicts.c.agent == agent)
        rows = self._database.read(lambda connection: connection.execute(counts).all())
        found: dict[str, int] = {row.quality: row.number for row in rows}
        return {quality: found.get(quality.value, 0) for quality in Quality}

    def refused(self, limit: int = 100) -> list[Judged]:
        query = select(verdicts).where(verdicts.c.quality != Quality.GOOD.value)
        query = query.order_by(verdicts.c.id.desc()).limit(max(0, limit))
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [Judged(row.key, row.agent, Quality(row.quality), row.why) for row in rows]

    def collect(self, experiences: Sequence[Experience], at: datetime) -> int:
        return self._training.collect(experiences, at)

    def waiting(self, agent: str) -> tuple[int, datetime | None]:
        return self._training.waiting(agent)

    def agents_waiting(self) -> list[str]:
        return self._training.agents_waiting()

    def close_batch(self, agent: str, at: datetime, fewest: int) -> Batch | None:
        return self._training.close_batch(agent, at, fewest)

    def batches(self, agent: str | None = None) -> list[Batch]:
        return self._training.batches(agent)

    def members(self, batch: int) -> list[Experience]:
        return self._training.members(batch)

    def trained_before(self, agent: str, batch: int, limit: int) -> list[Experience]:
        return self._training.trained_before(agent, batch, limit)

    def trim(self, kept: int) -> int:
        return self._training.trim(kept)

    def forget(self, before: datetime, verdicts: int) -> int:
        if verdicts < 0:
            raise RefusedInput(f"{verdicts} verdicts cannot be kept.", "Give 0 or more.")
        return self._database.write(lambda connection: self._forget(connection, before, verdicts))

    def results(self, agent: str, since: datetime) -> list[UnitResult]:
        return self._database.read(lambda connection: unit_results(connection, agent, since))

    def _forget(self, connection: Connection, before: datetime, kept: int) -> int:
        gone = self._training.forget_in(connection, before)
        self._database.take_turns(connection, _JUDGING)
        newest = connection.execute(select(func.max(verdicts.c.id))).scalar_one() or 0
        gone += connection.execute(delete(verdicts).where(verdicts.c.id <= newest - kept)).rowcount
        if gone:
            self._audit.append_in(connection, "learning-forgotten", "keys and verdicts", {"rows": gone})
        return gone

    def _judge(self, connection: Connection, rows: list[dict[str, str]], read_up_to: int) -> None:
        self._database.take_turns(connection, _JUDGING)
        newest = connection.execute(select(func.coalesce(func.max(arrivals.c.position), 0))).scalar_one()
        if not 0 <= read_up_to <= newest:
            raise RefusedInput(
                f"The stream ends at {newest}; it cannot have been read up to {read_up_to}. Nothing was changed.",
                "Give the position of the last experience that was read.",
            )
        if rows:
            connection.execute(self._database.insert(verdicts).on_conflict_do_nothing(index_elements=["key"]), rows)
        insert = self._database.insert(learning_cursor).values(id=1, position=read_up_to)
        ahead = learning_cursor.c.position < insert.excluded.position  # another learner may have got further
        forward = {"position": insert.excluded.position}
        connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=forward, where=ahead))


def _after_the_cursor() -> ColumnElement[bool]:
    return arrivals.c.position > func.coalesce(select(learning_cursor.c.position).scalar_subquery(), 0)


def _row(judged: Judged) -> dict[str, str]:
    try:
        quality = Quality(judged.quality)
    except ValueError:
        raise RefusedInput(
            f"{judged.quality!r} is not a verdict; nothing was changed.",
            f"It is one of: {', '.join(each.value for each in Quality)}.",
        ) from None
    return {**judged._asdict(), "quality": quality.value}
