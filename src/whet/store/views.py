"""What pages read. Every question is answered from an index, by row number; none counts rows."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Row, Select, func, select

from whet.core.candidates import Candidate
from whet.core.ports import AuditEntry, RunRecord
from whet.core.records import Finding
from whet.core.views import (
    Asked,
    DayFound,
    DayLine,
    DayTotal,
    Decided,
    DecisionLine,
    FindingLine,
    Page,
    RunLine,
    Standing,
    T,
)
from whet.store.audit import entry_of
from whet.store.decisions import decision_of
from whet.store.engine import Database
from whet.store.experiences import experience_of
from whet.store.learning_schema import candidates
from whet.store.schema import (
    audit_head,
    audit_log,
    decisions,
    experiences,
    findings,
    learning_stats,
    rulings,
    runs,
    sightings,
)
from whet.store.view_schema import awaiting, day_findings, day_seconds, day_sums, day_totals, run_sums

MOST = 500  # rows of one page


class SqlViews:
    """Implements `whet.core.views.Views`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, before: int | None = None, limit: int = 25) -> Page[RunLine]:
        page = self._page(_RUNS, runs.c.seq, before, limit, lambda row: row)
        counted = self._sightings([row.id for row in page.items])
        return Page([_run_line(row, counted.get(row.id, 0)) for row in page.items], page.before)

    def run(self, run_id: str) -> RunLine | None:
        found = self._rows(_RUNS.where(runs.c.id == run_id))
        return _run_line(found[0], self._sightings([run_id]).get(run_id, 0)) if found else None

    def findings(self, asked: Asked, before: int | None = None, limit: int = 25) -> Page[FindingLine]:
        query = _FINDINGS
        for name, wanted in asked.model_dump(exclude_none=True).items():
            query = query.where(findings.c[name] == str(wanted))
        return self._page(query, findings.c.latest, before, limit, _finding_line)

    def finding(self, fingerprint: str) -> FindingLine | None:
        found = self._rows(_FINDINGS.where(findings.c.fingerprint == fingerprint))
        return _finding_line(found[0]) if found else None

    def found_in(self, run_id: str, limit: int = 100) -> list[FindingLine]:
        """As they were seen in that run."""
        newest = select(func.max(sightings.c.id)).where(sightings.c.run_id == run_id)
        newest = newest.group_by(sightings.c.fingerprint)
        query = select(findings, sightings.c.finding, sightings.c.id.label("seen_as")).join_from(findings, sightings)
        query = query.where(sightings.c.id.in_(newest)).order_by(sightings.c.id.desc()).limit(_within(limit))
        return [_finding_line(row) for row in self._rows(query)]

    def decisions(
        self, agent: str | None = None, run_id: str | None = None, before: int | None = None, limit: int = 25
    ) -> Page[DecisionLine]:
        query = select(decisions)
        query = query if agent is None else query.where(decisions.c.agent == agent)
        query = query if run_id is None else query.where(decisions.c.run_id == run_id)
        return self._with_credit(self._page(query, decisions.c.seq, before, limit, lambda row: row))

    def decision(self, decision_id: str) -> Decided | None:
        found = self._rows(select(decisions).where(decisions.c.id == decision_id))
        if not found:
            return None
        newest = select(experiences).where(experiences.c.decision_id == decision_id)
        lived = self._rows(newest.order_by(experiences.c.id.desc()).limit(1))
        return Decided(decision_of(found[0]), found[0].state, experience_of(lived[0]) if lived else None)

    def waiting(self, before: int | None = None, limit: int = 25) -> Page[DecisionLine]:
        settled = select(rulings.c.agent).where(
            rulings.c.agent == awaiting.c.agent, rulings.c.state_key == awaiting.c.state_key
        )
        query = select(decisions).join_from(awaiting, decisions, awaiting.c.seq == decisions.c.seq)
        query = query.where(~settled.exists())
        return self._with_credit(self._page(query, awaiting.c.seq, before, limit, lambda row: row))

    def days(self, since: date, until: date) -> list[DayLine]:
        query = select(day_sums).where(day_sums.c.day.between(since.isoformat(), until.isoformat()))
        query = query.order_by(day_sums.c.day, day_sums.c.agent, day_sums.c.policy)
        return [DayLine(**_dated(row)) for row in self._rows(query)]

    def totals(self, since: date | None, until: date) -> list[DayTotal]:
        query = select(day_totals, func.coalesce(day_seconds.c.seconds, 0.0).label("seconds"))
        query = query.join_from(day_totals, day_seconds, day_totals.c.day == day_seconds.c.day, isouter=True)
        query = query.where(day_totals.c.day <= until.isoformat()).order_by(day_totals.c.day)
        query = query if since is None else query.where(day_totals.c.day >= since.isoformat())
        return [DayTotal(**_dated(row)) for row in self._rows(query)]

    def found(self, since: date, until: date) -> list[DayFound]:
        query = select(day_findings).where(day_findings.c.day.between(since.isoformat(), until.isoformat()))
        query = query.order_by(day_findings.c.day, day_findings.c.severity)
        return [DayFound(**_dated(row)) for row in self._rows(query)]

    def learning(self, agent: str, limit: int) -> list[dict[str, Any]]:
        query = select(learning_stats).where(learning_stats.c.agent == agent)
        rows = self._rows(query.order_by(learning_stats.c.id.desc()).limit(_within(limit)))
        return [{**row.stats, "run_id": row.run_id, "agent": row.agent, "at": row.at} for row in reversed(rows)]

    def learners(self) -> list[str]:
        """One step per name through the index, instead of through all of its rows."""
        found: list[str] = []
        while True:
            query = select(func.min(learning_stats.c.agent))
            query = query if not found else query.where(learning_stats.c.agent > found[-1])
            name = self._rows(query)[0][0]
            if name is None:
                return found
            found.append(name)

    def candidates(self, before: int | None = None, limit: int = 25) -> Page[Candidate]:
        return self._page(select(candidates), candidates.c.number, before, limit, _candidate)

    def audit(self, before: int | None = None, limit: int = 50) -> Page[AuditEntry]:
        return self._page(select(audit_log), audit_log.c.seq, before, limit, entry_of)

    def head(self) -> int:
        found = self._rows(select(audit_head.c.seq))
        return int(found[0].seq) if found else 0

    def _page(
        self, query: Select[Any], number: Any, before: int | None, limit: int, made: Callable[[Row[Any]], T]
    ) -> Page[T]:
        """One row more than asked for tells whether there is another page."""
        asked = _within(limit)
        query = query.add_columns(number.label("paged_by")).order_by(number.desc()).limit(asked + 1)
        query = query if before is None else query.where(number < before)
        rows = self._rows(query)
        shown = rows[:asked]
        return Page([made(row) for row in shown], shown[-1].paged_by if len(rows) > asked else None)

    def _with_credit(self, page: Page[Row[Any]]) -> Page[DecisionLine]:
        credited = self._credited([row.id for row in page.items])
        lines = [DecisionLine(row.paged_by, decision_of(row), credited.get(row.id)) for row in page.items]
        return Page(lines, page.before)

    def _credited(self, ids: Sequence[str]) -> dict[str, float]:
        query = select(experiences.c.decision_id, experiences.c.reward_credited)
        query = query.where(experiences.c.decision_id.in_(ids)).order_by(experiences.c.id)
        return {row.decision_id: row.reward_credited for row in self._rows(query)} if ids else {}

    def _sightings(self, ids: Sequence[str]) -> dict[str, int]:
        distinct = func.count(func.distinct(sightings.c.fingerprint)).label("number")
        query = select(sightings.c.run_id, distinct).where(sightings.c.run_id.in_(ids)).group_by(sightings.c.run_id)
        return {row.run_id: row.number for row in self._rows(query)} if ids else {}

    def _rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        return self._database.read(lambda connection: connection.execute(query).all())


_RUNS = select(runs, *(run_sums.c[name] for name in ("decisions", "judged", "reward", "successes"))).join_from(
    runs, run_sums, runs.c.id == run_sums.c.run_id, isouter=True
)
_FINDINGS = select(findings, sightings.c.finding, findings.c.latest.label("seen_as")).join_from(
    findings, sightings, sightings.c.id == findings.c.latest
)


def _within(limit: int) -> int:
    return min(max(limit, 1), MOST)


def _dated(row: Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "day": date.fromisoformat(row.day)}


def _run_line(row: Row[Any], found: int) -> RunLine:
    run = RunRecord(**{name: getattr(row, name) for name in RunRecord.model_fields})
    reward = row.reward if row.judged else None
    return RunLine(row.seq, run, row.decisions or 0, reward, row.successes or 0, row.judged or 0, found)


def _finding_line(row: Row[Any]) -> FindingLine:
    standing = Standing(row.standing)
    times = (row.first_seen, row.last_seen, row.first_run_id, row.last_run_id)
    return FindingLine(row.seen_as, row.fingerprint, Finding(**row.finding), standing, *times)


def _candidate(row: Row[Any]) -> Candidate:
    return Candidate(**{name: row._mapping[name] for name in Candidate.model_fields})
