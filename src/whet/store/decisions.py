"""Decisions, and the standing word of people on them."""

import re
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, select, update
from sqlalchemy.exc import IntegrityError

from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Ruling
from whet.core.records import Decision, Review, State, now
from whet.store.audit import SqlAuditTrail
from whet.store.awaiting import await_in, still_waiting_in
from whet.store.engine import Database
from whet.store.escapes import escape
from whet.store.schema import decisions, rulings
from whet.store.validated import validated

_VERDICTS = (Review.APPROVED, Review.OVERRIDDEN)
# What every collation sorts alike, and all that ids made by Whet consist of.
_SORTED_ALIKE = re.compile("[0-9a-z]{0,64}")


class SqlDecisions:
    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit

    def record(self, decision: Decision, state: State) -> None:
        checked = validated(decision)
        row = {**checked.model_dump(), "state": state.model_dump()}
        self._database.write(lambda connection: self._record(connection, checked, row))

    def find(self, prefix: str) -> list[tuple[Decision, dict[str, object]]]:
        query = select(decisions).where(*beginning_with(prefix)).order_by(decisions.c.seq)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [(decision_of(row), row.state) for row in rows]

    def recent(self, agent: str | None = None, limit: int = 100, run_id: str | None = None) -> list[Decision]:
        query = select(decisions).order_by(decisions.c.seq.desc()).limit(limit)
        query = query if agent is None else query.where(decisions.c.agent == agent)
        return self._fetch(query if run_id is None else query.where(decisions.c.run_id == run_id))

    def pending(self) -> list[Decision]:
        """A state with a standing word waits no more, however many of its decisions once did."""
        waiting = decisions.c.review == Review.PENDING.value
        newest = select(func.max(decisions.c.seq)).where(waiting).group_by(decisions.c.agent, decisions.c.state_key)
        settled = select(rulings.c.agent).where(
            rulings.c.agent == decisions.c.agent, rulings.c.state_key == decisions.c.state_key
        )
        query = select(decisions).where(decisions.c.seq.in_(newest), ~settled.exists())
        return self._fetch(query.order_by(decisions.c.seq))

    def rule(self, decision_id: str, verdict: Review, action: str, by: str) -> Ruling:
        if verdict not in _VERDICTS:
            raise RefusedInput(
                f"{verdict!r} is not a verdict.", f"A person's word is one of {[each.value for each in _VERDICTS]}."
            )
        if not action:
            raise RefusedInput("A ruling names the action that shall run; none was given.", "Give an action's name.")
        return self._database.write(lambda c: self._rule(c, decision_id, Review(verdict), action, by))

    def ruling(self, agent: str, state_key: str) -> Ruling | None:
        query = select(rulings).where(rulings.c.agent == agent, rulings.c.state_key == state_key)
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else Ruling(**row._mapping)

    def revoke(self, agent: str, state_key: str) -> bool:
        return self._database.write(lambda connection: self._revoke(connection, agent, state_key))

    def count(self, agent: str | None = None) -> int:
        query = select(func.count()).select_from(decisions)
        query = query if agent is None else query.where(decisions.c.agent == agent)
        return self._database.read(lambda connection: connection.execute(query).scalar_one())

    def _record(self, connection: Connection, decision: Decision, row: dict[str, Any]) -> None:
        try:
            seq = connection.execute(decisions.insert().returning(decisions.c.seq), row).scalar_one()
        except IntegrityError as error:
            raise RefusedInput(
                f"A decision {decision.id!r} is stored already.", "Give every decision an id of its own."
            ) from error
        if decision.review is Review.PENDING:
            await_in(connection, self._database, decision.agent, decision.state_key, seq)
        payload = {name: row[name] for name in ("agent", "run_id", "state_key", "proposed", "action", "decided_by")}
        numbers = {name: row[name] for name in ("probability", "confidence", "policy", "policy_version", "review")}
        self._audit.append_in(connection, "decided", decision.id, payload | numbers)

    def _rule(self, connection: Connection, decision_id: str, verdict: Review, action: str, by: str) -> Ruling:
        query = select(decisions).where(decisions.c.id == decision_id).with_for_update()
        found = connection.execute(query).one_or_none()
        if found is None:
            raise WhetError(f"There is no decision {decision_id!r}.", "List decisions to see the ids there are.")
        ruling = Ruling.model_validate(
            {"agent": found.agent, "state_key": found.state_key, "action": action, "verdict": verdict.value}
            | {"decision_id": decision_id, "by": by, "at": now()}
        )
        insert = self._database.insert(rulings).values(ruling.model_dump())
        kept = {name: insert.excluded[name] for name in ("action", "verdict", "decision_id", "by", "at")}
        connection.execute(insert.on_conflict_do_update(index_elements=["agent", "state_key"], set_=kept))
        connection.execute(update(decisions).where(decisions.c.id == decision_id).values(review=verdict.value))
        still_waiting_in(connection, self._database, found.agent, found.state_key)
        payload = {"agent": found.agent, "state_key": found.state_key, "action": action, "by": by}
        self._audit.append_in(connection, verdict.value, decision_id, payload)
        return ruling

    def _revoke(self, connection: Connection, agent: str, state_key: str) -> bool:
        place = (rulings.c.agent == agent, rulings.c.state_key == state_key)
        gone = connection.execute(delete(rulings).where(*place).returning(rulings.c.decision_id, rulings.c.action))
        row = gone.one_or_none()
        if row is None:
            return False
        payload = {"agent": agent, "state_key": state_key, "action": row.action}
        self._audit.append_in(connection, "revoked", row.decision_id, payload)
        return True

    def _fetch(self, query: Select[Any]) -> list[Decision]:
        return [decision_of(row) for row in self._database.read(lambda connection: connection.execute(query).all())]


def decision_of(row: Row[Any]) -> Decision:
    return Decision(**{name: getattr(row, name) for name in Decision.model_fields})


def beginning_with(prefix: str) -> list[ColumnElement[bool]]:
    """Ids between the prefix and what comes after it, which an index finds, and of these only those that do begin so:
    collations of PostgreSQL disagree about the rest. Not LIKE: it ignores case on SQLite, and ids may hold its
    wildcards."""
    found = _SORTED_ALIKE.match(prefix)
    stem = "" if found is None else found[0]
    behind = stem.rstrip("z")
    kept = escape(prefix)
    conditions = [func.substr(decisions.c.id, 1, len(kept)) == kept]
    if stem:
        conditions.append(decisions.c.id >= stem)
    if behind:
        conditions.append(decisions.c.id < behind[:-1] + _next(behind[-1]))
    return conditions


def _next(letter: str) -> str:
    """After digits come letters."""
    return "a" if letter == "9" else chr(ord(letter) + 1)
