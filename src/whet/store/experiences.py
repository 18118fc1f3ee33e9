"""Experiences: stored once, learned from once, drawn again by surprise."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, Select, bindparam, func, select, update

from whet.core.errors import RefusedInput
from whet.core.learning_log import Unreadable
from whet.core.ports import Arrived, Lesson
from whet.core.records import Experience, Reward
from whet.store.audit import SqlAuditTrail
from whet.store.engine import Database
from whet.store.learning_schema import arrivals
from whet.store.schema import experiences, runs
from whet.store.sums import SqlSums
from whet.store.tables import SqlQTables
from whet.store.validated import validated

PRIORITY_EXPONENT = 0.6  # S0: how far surprise outweighs chance (0 is uniform, 1 is proportional)
_FIRST_PRIORITY = 1.0
_BATCH = 500
_SAME = (
    *("key", "run_id", "agent", "category", "kind", "state", "state_key", "category_key", "fleet_key", "outcome"),
    *("next_state_key", "next_category_key", "next_fleet_key", "next_actions", "done", "at"),
)


_next_position = select(func.coalesce(func.max(arrivals.c.position), 0) + 1).scalar_subquery()
_ARRIVE = arrivals.insert().values(position=_next_position, experience=bindparam("number"))


class SqlExperiences:
    def __init__(self, database: Database, tables: SqlQTables, audit: SqlAuditTrail) -> None:
        self._database = database
        self._tables = tables
        self._audit = audit
        self._sums = SqlSums(database)
        insert = database.insert(experiences).on_conflict_do_nothing(index_elements=["key"])
        self._insert_new = insert.returning(experiences.c.id)

    def learn(self, experience: Experience, lesson: Lesson | None) -> bool:
        known = validated(experience)
        checked = None if lesson is None else validated(lesson)
        return self._database.write(lambda connection: self._learn(connection, known, checked))

    def recent(self, agent: str | None = None, limit: int = 100, run_id: str | None = None) -> list[Experience]:
        query = select(experiences).order_by(experiences.c.id.desc()).limit(limit)
        query = query if run_id is None else query.where(experiences.c.run_id == run_id)
        return self._fetch(_of_agent(query, agent))

    def of_decision(self, decision_id: str) -> Experience | None:
        query = select(experiences).where(experiences.c.decision_id == decision_id)
        found = self._fetch(query.order_by(experiences.c.id.desc()).limit(1))
        return found[0] if found else None

    def after(self, position: int, project: str, limit: int) -> list[Arrived]:
        query = select(arrivals.c.position, runs.c.code_version, experiences).join_from(arrivals, experiences)
        query = query.join(runs, runs.c.id == experiences.c.run_id).where(runs.c.project == project)
        query = query.order_by(arrivals.c.position).limit(max(0, limit))
        return self._database.read(lambda connection: _arrived(connection, query, position, limit))

    def sample(self, agent: str, size: int, seed: int) -> list[Experience]:
        return self._database.read(lambda connection: _sample(connection, agent, size, seed))

    def set_priorities(self, priorities: Mapping[str, float]) -> None:
        for key, priority in priorities.items():
            if not (math.isfinite(priority) and priority >= 0):
                raise RefusedInput(
                    f"The priority {priority!r} of experience {key!r} was refused.",
                    "Give a finite number of 0 or more.",
                )
        change = update(experiences).where(experiences.c.key == bindparam("of_key")).values(priority=bindparam("new"))
        rows = [{"of_key": key, "new": priority} for key, priority in sorted(priorities.items())]
        if rows:
            self._database.write(lambda connection: connection.execute(change, rows))

    def count(self, agent: str | None = None) -> int:
        query = _of_agent(select(func.count()).select_from(experiences), agent)
        return int(self._database.read(lambda connection: connection.execute(query).scalar_one()))

    def _learn(self, connection: Connection, experience: Experience, lesson: Lesson | None) -> bool:
        added = connection.execute(self._insert_new, _row(experience)).scalar_one_or_none()
        if added is None:
            return False
        if lesson is not None:
            self._tables.learn_in(connection, lesson, experience.reward.credited)
        payload = {
            "agent": experience.agent,
            "run_id": experience.run_id,
            "action": experience.decision.action,
            "decision_id": experience.decision.id,
            "credited": experience.reward.credited,
            "target": None if lesson is None else lesson.target,
        }
        self._audit.append_in(connection, "learned", experience.key, payload)
        # After the audit: its head stays locked until the commit, so positions become visible in their order.
        connection.execute(_ARRIVE, {"number": added})
        self._sums.count_in(connection, experience)
        return True

    def _fetch(self, query: Select[Any]) -> list[Experience]:
        """What is no experience by today's rules is left out; the intake filter tells of it."""
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [each for each in map(read_experience, rows) if isinstance(each, Experience)]


def _of_agent(query: Select[Any], agent: str | None) -> Select[Any]:
    return query if agent is None else query.where(experiences.c.agent == agent)


def _arrived(connection: Connection, query: Select[Any], position: int, limit: int) -> list[Arrived]:
    """Reads past what is no experience by today's rules: nothing of it may stop whoever reads on in the stream."""
    found: list[Arrived] = []
    while len(found) < limit:
        rows = connection.execute(query.where(arrivals.c.position > position)).all()
        read = ((row, read_experience(row)) for row in rows)
        found += [
            Arrived(row.position, each, row.priority, row.code_version)
            for row, each in read
            if isinstance(each, Experience)
        ]
        if len(rows) < limit:
            break
        position = rows[-1].position
    return found[: max(0, limit)]


def _sample(connection: Connection, agent: str, size: int, seed: int) -> list[Experience]:
    columns = select(experiences.c.id, experiences.c.priority).where(experiences.c.agent == agent)
    candidates = connection.execute(columns.order_by(experiences.c.id)).all()
    if not candidates or size <= 0:
        return []
    ids = [row.id for row in candidates]
    drawn = [ids[index] for index in draw([row.priority for row in candidates], size, seed)]
    found = _by_id(connection, set(drawn))
    return [found[row_id] for row_id in drawn if row_id in found]


def draw(priorities: list[float], size: int, seed: int) -> list[int]:
    """Indices, with replacement, proportional to priority^0.6; all alike when every priority is 0."""
    import numpy as np

    weights = np.asarray(priorities, dtype=float) ** PRIORITY_EXPONENT
    if weights.sum() == 0:
        weights = np.ones_like(weights)
    edges = np.cumsum(weights)
    points = np.random.default_rng(seed).random(size) * edges[-1]
    return np.searchsorted(edges, points, side="right").clip(max=len(edges) - 1).tolist()  # type: ignore[no-any-return]


def _by_id(connection: Connection, ids: Iterable[int]) -> dict[int, Experience]:
    wanted = sorted(ids)
    found: dict[int, Experience] = {}
    for start in range(0, len(wanted), _BATCH):
        query = select(experiences).where(experiences.c.id.in_(wanted[start : start + _BATCH]))
        read = ((row.id, read_experience(row)) for row in connection.execute(query))
        found.update({number: each for number, each in read if isinstance(each, Experience)})
    return found


def _row(experience: Experience) -> dict[str, Any]:
    reward = experience.reward
    return {
        **{name: getattr(experience, name) for name in _SAME},
        "decision_id": experience.decision.id,
        "decision": experience.decision.model_dump(),
        "action": experience.decision.action,
        "reward_profile": reward.profile,
        "reward_parts": [part.model_dump() for part in reward.parts],
        "reward_raw": reward.raw,
        "reward_shaped": reward.shaped,
        "reward_credited": reward.credited,
        "priority": _FIRST_PRIORITY,
    }


def experience_of(row: Row[Any]) -> Experience:
    reward = Reward(
        profile=row.reward_profile,
        parts=row.reward_parts,
        raw=row.reward_raw,
        shaped=row.reward_shaped,
        credited=row.reward_credited,
    )
    return Experience(**{name: getattr(row, name) for name in _SAME}, decision=row.decision, reward=reward)


def read_experience(row: Row[Any]) -> Experience | Unreadable:
    """For whoever reads many: one that another version wrote, or somebody changed by hand, must not hide all others."""
    try:
        return experience_of(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "all of it"
        return Unreadable(row.key, row.agent, f"It is no experience any more: {where}: {first['msg']}.")
