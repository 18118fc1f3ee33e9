"""Runs, what they found, and how the agents learned in them."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection, func, select, update
from sqlalchemy.exc import IntegrityError

from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import RunRecord
from whet.core.records import Finding, now
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.schema import findings, learning_stats, runs, sightings
from whet.store.sums import SqlSums
from whet.store.validated import validated


class SqlRuns:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit
        self._sums = SqlSums(database)

    def start(self, run: RunRecord) -> None:
        checked = validated(run)
        self._database.write(lambda connection: self._start(connection, checked))

    def finish(self, run_id: str, status: Literal["finished", "interrupted"], summary: Mapping[str, Any]) -> None:
        if status not in ("finished", "interrupted"):
            raise RefusedInput(f"A run cannot end as {status!r}.", "It ends 'finished' or 'interrupted'.")
        self._database.write(lambda connection: self._finish(connection, run_id, status, summary))

    def recent(self, limit: int = 20) -> list[RunRecord]:
        query = select(runs).order_by(runs.c.seq.desc()).limit(limit)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [
            RunRecord(**{name: getattr(row, name) for name in RunRecord.model_fields if name != "seed"}, seed=row.seed)
            for row in rows
        ]

    def note_findings(self, run_id: str, findings: Iterable[Finding]) -> list[bool]:
        checked = [validated(finding) for finding in findings]
        return self._database.write(lambda connection: self._note_findings(connection, run_id, checked))

    def findings(self, run_id: str | None = None) -> list[Finding]:
        newest = select(func.max(sightings.c.id)).group_by(sightings.c.fingerprint)
        newest = newest if run_id is None else newest.where(sightings.c.run_id == run_id)
        query = select(sightings.c.finding).where(sightings.c.id.in_(newest)).order_by(sightings.c.id.desc())
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [Finding(**row.finding) for row in rows]

    def note_learning(self, run_id: str, agent: str, stats: Mapping[str, float | int | None]) -> None:
        insert = self._database.insert(learning_stats).values(run_id=run_id, agent=agent, stats=dict(stats), at=now())
        kept = {"stats": insert.excluded.stats, "at": insert.excluded.at}
        statement = insert.on_conflict_do_update(index_elements=["run_id", "agent"], set_=kept)
        self._database.write(lambda connection: connection.execute(statement))

    def learning(self, agent: str | None = None) -> list[dict[str, Any]]:
        query = select(learning_stats).order_by(learning_stats.c.id)
        query = query if agent is None else query.where(learning_stats.c.agent == agent)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [{**row.stats, "run_id": row.run_id, "agent": row.agent, "at": row.at} for row in rows]

    def _start(self, connection: Connection, run: RunRecord) -> None:
        try:
            connection.execute(runs.insert(), {**run.model_dump(), "seed": str(run.seed)})
        except IntegrityError as error:
            raise RefusedInput(f"A run {run.id!r} is stored already.", "Give every run an id of its own.") from error
        payload = {name: getattr(run, name) for name in ("project", "code_version", "budget_seconds", "seed")}
        self._audit.append_in(connection, "run-started", run.id, payload)

    def _finish(self, connection: Connection, run_id: str, status: str, summary: Mapping[str, Any]) -> None:
        known = connection.execute(select(runs).where(runs.c.id == run_id).with_for_update()).one_or_none()
        if known is None:
            raise WhetError(f"There is no run {run_id!r} to finish.", "Start it first.")
        change = update(runs).where(runs.c.id == run_id).values(status=status, ended_at=now(), summary=dict(summary))
        connection.execute(change)
        used = summary.get("used_seconds")
        if known.status == "running" and isinstance(used, int | float):
            self._sums.spent_in(connection, known.started_at, float(used))
        self._audit.append_in(connection, "run-ended", run_id, {"status": status})

    def _note_findings(self, connection: Connection, run_id: str, found: list[Finding]) -> list[bool]:
        named = {each.fingerprint(): each for each in found}
        new = {mark: self._note(connection, run_id, mark) for mark in sorted(named)}
        for each in found:
            row = {"run_id": run_id, "fingerprint": each.fingerprint(), "finding": each.model_dump()}
            seen = connection.execute(sightings.insert().returning(sightings.c.id), row).scalar_one()
            newest = {"latest": seen, "kind": each.kind, "severity": each.severity}
            connection.execute(update(findings).where(findings.c.fingerprint == each.fingerprint()).values(newest))
        for severity in sorted(named[mark].severity for mark, first in new.items() if first):
            self._sums.found_in(connection, now(), severity)
        return [new.pop(each.fingerprint(), False) for each in found]

    def _note(self, connection: Connection, run_id: str, fingerprint: str) -> bool:
        at = now()
        row = {"fingerprint": fingerprint, "first_run_id": run_id, "last_run_id": run_id}
        insert = self._database.insert(findings).values(**row, first_seen=at, last_seen=at)
        added = connection.execute(insert.on_conflict_do_nothing().returning(findings.c.fingerprint)).first()
        if added is None:
            again = update(findings).where(findings.c.fingerprint == fingerprint)
            connection.execute(again.values(last_run_id=run_id, last_seen=at))
        return added is not None
