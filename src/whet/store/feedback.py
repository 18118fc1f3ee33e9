"""What people said, and what became of it. A correction is applied up to its whole difference, never twice."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, delete, func, select, update

from whet.core.errors import RefusedInput, WhetError
from whet.core.feedback import Correction, Mark, Rated, Rating, RewardRules, Stars, Verdict
from whet.core.records import Experience, Finding, now
from whet.core.views import Standing
from whet.store.audit import SqlAuditTrail
from whet.store.correcting import Corrections
from whet.store.engine import Database
from whet.store.experiences import experience_of
from whet.store.learning_schema import training_set
from whet.store.schema import experiences, findings, runs, sightings
from whet.store.validated import validated
from whet.store.view_schema import corrections, marks, ratings, reward_rules

_STARS: TypeAdapter[int] = TypeAdapter(Stars)
_VERDICTS = ("real", "false-alarm")


class SqlFeedback:
    """Implements `whet.core.feedback.Feedback`."""

    def __init__(self, database: Database, audit: SqlAuditTrail) -> None:
        self._database = database
        self._audit = audit
        self._corrections = Corrections(database, audit)

    def mark(self, fingerprint: str, verdict: Verdict | None, by: str) -> Mark | None:
        if verdict not in (None, *_VERDICTS):
            raise RefusedInput(f"{verdict!r} is not a mark.", f"A finding is marked as one of {list(_VERDICTS)}.")
        return self._database.write(lambda connection: self._mark(connection, fingerprint, verdict, by))

    def marks(self, fingerprints: Sequence[str]) -> dict[str, Mark]:
        query = select(marks).where(marks.c.fingerprint.in_(list(fingerprints)))
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return {row.fingerprint: Mark(**row._mapping) for row in rows}

    def rate(self, run_id: str, stars: Stars, by: str) -> Rating:
        try:
            given = _STARS.validate_python(stars, strict=True)
        except ValidationError:
            raise RefusedInput(f"A run cannot be rated {stars!r}.", "Give a whole number from 1 to 5.") from None
        return self._database.write(lambda connection: self._rate(connection, run_id, given, by))

    def rating(self, run_id: str) -> Rating | None:
        query = select(ratings).where(ratings.c.run_id == run_id)
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else Rating(**row._mapping)

    def rated(self, since: datetime, until: datetime) -> Rated:
        stars = ratings.c.stars
        sums = (func.count(), func.coalesce(func.sum(stars), 0), func.coalesce(func.sum(stars * stars), 0))
        query = select(*sums).where(ratings.c.at.between(since, until))
        return Rated(*(int(each) for each in self._database.read(lambda c: c.execute(query).one())))

    def newest(self, limit: int) -> tuple[list[Mark], list[Rating]]:
        said = select(marks).order_by(marks.c.at.desc()).limit(max(0, limit))
        given = select(ratings).order_by(ratings.c.at.desc()).limit(max(0, limit))
        rows, rated = self._database.read(lambda c: (c.execute(said).all(), c.execute(given).all()))
        return [Mark(**row._mapping) for row in rows], [Rating(**row._mapping) for row in rated]

    def behind(self, fingerprint: str, limit: int = 100) -> list[Experience]:
        return self._database.read(lambda connection: _behind(connection, fingerprint, limit))

    def applied(self, keys: Sequence[str]) -> dict[str, float]:
        query = select(corrections.c.key, corrections.c.difference).where(corrections.c.key.in_(list(keys)))
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return {row.key: row.difference for row in rows}

    def correct(self, correction: Correction) -> float:
        checked = validated(correction)
        return self._database.write(lambda connection: self._corrections.correct_in(connection, checked))

    def corrected(self, agent: str, batch: int, since: datetime) -> int:
        trained = corrections.join(training_set, training_set.c.key == corrections.c.key)
        query = select(func.count()).select_from(trained).where(corrections.c.at > since)
        query = query.where(training_set.c.agent == agent, training_set.c.batch <= batch)
        return int(self._database.read(lambda connection: connection.execute(query).scalar_one()))

    def rules(self) -> RewardRules | None:
        query = select(reward_rules).order_by(reward_rules.c.number.desc()).limit(1)
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None or row.profile is None else RewardRules(**row._mapping)

    def set_rules(self, profile: str, weights: Mapping[str, float], by: str) -> RewardRules:
        row = {"profile": profile, "weights": dict(sorted(weights.items())), "by": by, "at": now()}
        validated(RewardRules(number=0, **row))
        number = self._database.write(lambda connection: self._rule(connection, "reward-rules", row))
        return RewardRules(number=number, **row)

    def drop_rules(self, by: str) -> bool:
        if self.rules() is None:
            return False
        row: dict[str, object] = {"profile": None, "weights": {}, "by": by, "at": now()}
        self._database.write(lambda connection: self._rule(connection, "reward-rules-dropped", row))
        return True

    def _mark(self, connection: Connection, fingerprint: str, verdict: Verdict | None, by: str) -> Mark | None:
        standing = Standing.UNMARKED if verdict is None else Standing(verdict)
        change = update(findings).where(findings.c.fingerprint == fingerprint).values(standing=standing.value)
        if connection.execute(change.returning(findings.c.fingerprint)).one_or_none() is None:
            raise WhetError(f"There is no finding {fingerprint[:80]!r}.", "List findings to see those there are.")
        connection.execute(delete(marks).where(marks.c.fingerprint == fingerprint))
        made = None if verdict is None else Mark(fingerprint=fingerprint, verdict=verdict, by=by, at=now())
        if made is not None:
            connection.execute(marks.insert(), made.model_dump())
        self._audit.append_in(connection, "marked", fingerprint, {"standing": standing.value, "by": by})
        return made

    def _rate(self, connection: Connection, run_id: str, stars: int, by: str) -> Rating:
        if connection.execute(select(runs.c.id).where(runs.c.id == run_id)).one_or_none() is None:
            raise WhetError(f"There is no run {run_id[:80]!r}.", "List runs to see those there are.")
        rating = Rating(run_id=run_id, stars=stars, by=by, at=now())
        insert = self._database.insert(ratings).values(rating.model_dump())
        kept = {name: insert.excluded[name] for name in ("stars", "by", "at")}
        connection.execute(insert.on_conflict_do_update(index_elements=["run_id"], set_=kept))
        self._audit.append_in(connection, "rated", run_id, {"stars": stars, "by": by})
        return rating

    def _rule(self, connection: Connection, kind: str, row: Mapping[str, object]) -> int:
        number = connection.execute(reward_rules.insert().returning(reward_rules.c.number), dict(row)).scalar_one()
        payload = {name: row[name] for name in ("profile", "weights", "by")}
        self._audit.append_in(connection, kind, str(number), payload)
        return int(number)


def _behind(connection: Connection, fingerprint: str, limit: int) -> list[Experience]:
    seen = select(sightings.c.run_id).where(sightings.c.fingerprint == fingerprint)
    where = set(connection.scalars(seen.order_by(sightings.c.id.desc()).limit(max(0, limit))))
    query = select(experiences).where(experiences.c.run_id.in_(where)).order_by(experiences.c.id.desc())
    lived = [experience_of(row) for row in connection.execute(query)]
    return [each for each in lived if fingerprint in _found(each)]


def _found(experience: Experience) -> set[str]:
    """An earlier version's findings, which cannot be read any more, are nobody's."""
    told = experience.outcome.get("findings")
    found = set()
    for each in told if isinstance(told, list) else ():
        try:
            found.add(Finding.model_validate(each).fingerprint())
        except ValidationError:
            continue
    return found
