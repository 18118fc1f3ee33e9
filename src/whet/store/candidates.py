"""Candidates: where each stands, and that it gets nowhere but by a step that was seen to be possible."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select, update

from whet.core.candidates import SINGULAR, SUCCESSORS, Candidate, NewCandidate, Stage, Step
from whet.core.errors import RefusedInput
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.escapes import digest_of
from whet.store.learning_schema import candidates
from whet.store.validated import validated

_LARGEST_NUMBER = 2**63 - 1
_ADDING = 0x7768657443  # any number works that all versions agree on


class SqlCandidates:
    """Implements `whet.core.candidates.Candidates`. Steps of one agent's candidates take turns."""

    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit

    def add(self, new: NewCandidate, at: datetime) -> Candidate:
        checked = validated(new)
        return self._database.write(lambda connection: self._add(connection, checked, at))

    def get(self, number: int) -> Candidate | None:
        return self._database.read(lambda connection: _found(connection, number))

    def all(self, agent: str | None = None) -> list[Candidate]:
        query = select(candidates)
        return self._fetch(query if agent is None else query.where(candidates.c.agent == agent))

    def at_stage(self, agent: str, stage: Stage) -> list[Candidate]:
        return self._fetch(select(candidates).where(*_standing(agent, stage)))

    def move(self, step: Step, at: datetime) -> Candidate | None:
        checked = validated(step)
        if checked.to is not checked.seen and checked.to not in SUCCESSORS[checked.seen]:
            raise _impossible(checked)
        return self._database.write(lambda connection: self._move(connection, checked, at))

    def pause(self, number: int, paused: bool, by: str, why: str, at: datetime) -> Candidate | None:
        return self._database.write(lambda connection: self._pause(connection, number, paused, by, why, at))

    def note(self, number: int, evidence: Mapping[str, Any], why: str | None = None) -> Candidate | None:
        return self._database.write(lambda connection: self._note(connection, number, evidence, why))

    def _add(self, connection: Connection, new: NewCandidate, at: datetime) -> Candidate:
        # Looked for first, in turns: a refused insert would use up a number, and people read numbers.
        self._database.take_turns(connection, _ADDING)
        known = connection.execute(select(candidates).where(candidates.c.key == new.key)).one_or_none()
        if known is not None:
            return _candidate(known)
        fresh = {"stage": Stage.TRAINED.value, "share": 0.0, "paused": False, "evidence": {}, "why": ""}
        row = {**new.model_dump(), **fresh, "since": at, "made_at": at}
        made = _candidate(connection.execute(candidates.insert().returning(*candidates.c), row).one())
        payload = {"key": new.key, "agent": new.agent, "kind": new.kind, "artefact": new.artefact}
        lineage = {"lineage": new.lineage.model_dump()}
        self._audit.append_in(connection, "candidate-added", _subject(made.number), payload | lineage)
        return made

    def _move(self, connection: Connection, step: Step, at: datetime) -> Candidate | None:
        known = _found(connection, step.number)
        if known is None:
            return None
        self._database.take_turns(connection, _lock_of(known.agent))
        known = _found(connection, step.number, locked=True)
        if known is None or (known.stage, known.share) != (step.seen, step.seen_share):
            return None
        if known.paused and not (step.asked or step.goes_back):  # perhaps since it was looked at
            return None
        if not self._make_room(connection, known, step, at):
            return None
        return self._take(connection, known, step, at)

    def _make_room(self, connection: Connection, known: Candidate, step: Step, at: datetime) -> bool:
        """One alone may be where the step leads: production is handed over, a canary is waited for."""
        if step.to not in SINGULAR:
            return True
        query = select(candidates).where(*_standing(known.agent, step.to), candidates.c.number != known.number)
        other = connection.execute(query.with_for_update()).one_or_none()
        if other is None:
            return True
        if step.to is not Stage.PRODUCTION or (other.paused and not step.asked):
            return False
        why = f"Candidate {known.number} took over."
        leaving = {"seen": Stage.PRODUCTION, "seen_share": other.share, "to": Stage.RETIRED, "share": 0.0}
        self._take(connection, _candidate(other), Step(number=other.number, why=why, by=step.by, **leaving), at)
        return True

    def _take(self, connection: Connection, known: Candidate, step: Step, at: datetime) -> Candidate:
        stays = (known.stage, known.share) == (step.to, step.share)
        changes = {
            "stage": step.to.value,
            "share": step.share,
            "why": step.why,
            "since": known.since if stays else at,
            "evidence": known.evidence | step.evidence,
        }
        payload = {
            "agent": known.agent,
            "from": known.stage.value,
            "to": step.to.value,
            "share": [known.share, step.share],
            "why": step.why,
            "by": step.by,
            "evidence": step.evidence,
            "at": at,
        }
        moved = _changed(connection, known.number, changes)
        self._audit.append_in(connection, "candidate-moved", _subject(known.number), payload)
        return moved

    def _pause(
        self, connection: Connection, number: int, paused: bool, by: str, why: str, at: datetime
    ) -> Candidate | None:
        known = _found(connection, number, locked=True)
        if known is None:
            return None
        changed = _changed(connection, number, {"paused": paused, "why": why})
        kind = "candidate-paused" if paused else "candidate-resumed"
        payload = {"agent": known.agent, "stage": known.stage.value, "by": by, "why": why, "at": at}
        self._audit.append_in(connection, kind, _subject(number), payload)
        return changed

    def _note(
        self, connection: Connection, number: int, evidence: Mapping[str, Any], why: str | None
    ) -> Candidate | None:
        known = _found(connection, number, locked=True)
        if known is None:
            return None
        changes: dict[str, Any] = {"evidence": known.evidence | dict(evidence)}
        changed = _changed(connection, number, changes if why is None else changes | {"why": why})
        if why is not None:
            payload = {"agent": known.agent, "stage": known.stage.value, "why": why, "evidence": dict(evidence)}
            self._audit.append_in(connection, "candidate-noted", _subject(number), payload)
        return changed

    def _fetch(self, query: Select[Any]) -> list[Candidate]:
        newest_first = query.order_by(candidates.c.number.desc())
        rows = self._database.read(lambda connection: connection.execute(newest_first).all())
        return [_candidate(row) for row in rows]


def _standing(agent: str, stage: Stage) -> tuple[Any, Any]:
    return candidates.c.agent == agent, candidates.c.stage == stage.value


def _found(connection: Connection, number: int, locked: bool = False) -> Candidate | None:
    if not 0 <= number <= _LARGEST_NUMBER:  # a person may type anything; no database can look for it
        return None
    query = select(candidates).where(candidates.c.number == number)
    row = connection.execute(query.with_for_update() if locked else query).one_or_none()
    return None if row is None else _candidate(row)


def _changed(connection: Connection, number: int, changes: Mapping[str, Any]) -> Candidate:
    change = update(candidates).where(candidates.c.number == number).values(**changes)
    return _candidate(connection.execute(change.returning(*candidates.c)).one())


def _candidate(row: Row[Any]) -> Candidate:
    return Candidate(**row._mapping)


def _subject(number: int) -> str:
    return f"candidate {number}"


def _lock_of(agent: str) -> int:
    return int.from_bytes(bytes.fromhex(digest_of(f"candidates of {agent}"))[:8], signed=True)


def _impossible(step: Step) -> RefusedInput:
    allowed = ", ".join(sorted(stage.value for stage in SUCCESSORS[step.seen])) or "nothing: that is an end"
    return RefusedInput(
        f"Candidate {step.number} cannot go from {step.seen.value} to {step.to.value}.",
        f"From {step.seen.value} it can become: {allowed}.",
    )
