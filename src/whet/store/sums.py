"""Sums of what was lived, by run and by day. Called within the transaction that stores what they count.

Whoever changes them holds the lock of the audit head, so that what is read here is not changed by others meanwhile.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.sql.schema import Table

from whet.core.records import Experience
from whet.store.engine import Database
from whet.store.view_schema import day_findings, day_seconds, day_sums, day_totals, run_sums


def day_of(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


class _Gain(NamedTuple):
    """What one experience, or a correction of one, adds."""

    decisions: int
    judged: int
    reward: float
    squares: float
    successes: int
    explored: int


class SqlSums:
    def __init__(self, database: Database) -> None:
        self._database = database

    def count_in(self, connection: Connection, experience: Experience) -> None:
        judged = 0 if experience.outcome.get("cut_short") else 1
        earned = experience.reward.credited if judged else 0.0
        succeeded = judged if experience.outcome.get("failed") is None else 0
        gain = _Gain(1, judged, earned, earned**2, succeeded, int(experience.decision.explored))
        self._add(connection, experience, gain)

    def correct_in(self, connection: Connection, experience: Experience, before: float) -> None:
        """The reward of an experience that is counted became another one."""
        if experience.outcome.get("cut_short"):
            return
        now = experience.reward.credited
        self._add(connection, experience, _Gain(0, 0, now - before, now**2 - before**2, 0, 0))

    def found_in(self, connection: Connection, at: datetime, severity: str) -> None:
        self._upsert(connection, day_findings, {"day": day_of(at), "severity": severity}, {"new": 1})

    def spent_in(self, connection: Connection, at: datetime, seconds: float) -> None:
        self._upsert(connection, day_seconds, {"day": day_of(at)}, {"seconds": seconds})

    def _add(self, connection: Connection, experience: Experience, gain: _Gain) -> None:
        added = {name: getattr(gain, name) for name in ("decisions", "judged", "reward", "successes")}
        run = self._run(connection, experience, added)
        self._upsert(connection, day_totals, {"day": run.day}, _products(run, gain) | added)
        place = {"day": run.day, "agent": experience.agent, "policy": experience.decision.policy[:200]}
        self._upsert(connection, day_sums, place, gain._asdict())

    def _run(self, connection: Connection, experience: Experience, added: dict[str, Any]) -> Any:
        """The run's sums after this; its day stays the first one's."""
        row = {"run_id": experience.run_id, "day": day_of(experience.at), **added}
        insert = self._database.insert(run_sums).values(row)
        more = {name: run_sums.c[name] + insert.excluded[name] for name in added}
        statement = insert.on_conflict_do_update(index_elements=["run_id"], set_=more).returning(run_sums)
        return connection.execute(statement).one()

    def _upsert(self, connection: Connection, table: Table, place: dict[str, Any], added: dict[str, Any]) -> None:
        insert = self._database.insert(table).values(place | added)
        more = {name: table.c[name] + insert.excluded[name] for name in added}
        connection.execute(insert.on_conflict_do_update(index_elements=list(place), set_=more))


def _products(run: Any, gain: _Gain) -> dict[str, Any]:
    """How far ΣR², ΣRn, Σn², ΣS² and ΣSn move when one run's R, n and S become what they are now."""
    reward, judged, successes = run.reward, run.judged, run.successes
    before = reward - gain.reward, judged - gain.judged, successes - gain.successes
    return {
        "runs": int(gain.decisions == run.decisions),
        "reward_reward": reward**2 - before[0] ** 2,
        "reward_judged": reward * judged - before[0] * before[1],
        "judged_judged": float(judged**2 - before[1] ** 2),
        "success_success": float(successes**2 - before[2] ** 2),
        "success_judged": float(successes * judged - before[2] * before[1]),
    }
