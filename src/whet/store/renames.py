"""What tests are called now, and which of them are in quarantine.

Both are kept with the time of the last word, so that merged stores agree: the newest counts, and
where times are equal, the greater text.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, func, select

from whet.core.records import now
from whet.store.engine import Database
from whet.store.escapes import digest_of
from whet.store.sheet_schema import quarantine, renames


class Rename(NamedTuple):
    old: str
    new: str
    at: datetime

    @property
    def rank(self) -> tuple[datetime, str]:
        return self.at, self.new


class Word(NamedTuple):
    """The last word on one test: in quarantine for this reason, or released."""

    test: str
    reason: str | None
    at: datetime

    @property
    def rank(self) -> tuple[datetime, bool, str]:
        return self.at, self.reason is not None, self.reason or ""


def all_renames(connection: Connection) -> dict[str, Rename]:
    rows = connection.execute(select(renames.c.old, renames.c.new, renames.c.at))
    return {row.old: Rename(row.old, row.new, row.at) for row in rows}


def resolved(steps: Mapping[str, Rename]) -> dict[str, str]:
    """Old name → present name. A later rename carries on an earlier one; an earlier one does not:
    what was called by that name before is another test."""
    present: dict[str, str] = {}
    for old, step in steps.items():
        while (following := steps.get(step.new)) is not None and following.at > step.at:
            step = following
        if step.new != old:
            present[old] = step.new
    return present


def save_renames(connection: Connection, database: Database, changed: Iterable[Rename]) -> None:
    _save(connection, database, renames, [{"digest": digest_of(each.old), **each._asdict()} for each in changed])


def all_words(connection: Connection) -> dict[str, Word]:
    rows = connection.execute(select(quarantine.c.test, quarantine.c.reason, quarantine.c.at))
    return {row.test: Word(row.test, row.reason, row.at) for row in rows}


def save_words(connection: Connection, database: Database, changed: Iterable[Word]) -> None:
    _save(connection, database, quarantine, [{"digest": digest_of(each.test), **each._asdict()} for each in changed])


def last_words(words: Mapping[str, Word], renamed: Mapping[str, str]) -> dict[str, Word]:
    """By present name. Where several old names became one, the newest word counts."""
    last: dict[str, Word] = {}
    for word in words.values():
        test = renamed.get(word.test, word.test)
        if test not in last or last[test].rank < word.rank:
            last[test] = word
    return last


def next_moment(connection: Connection, times: Column[datetime]) -> datetime:
    """Now, or just after the newest of `times`: a clock set back must not make the newest word an old one."""
    newest: datetime | None = connection.execute(select(func.max(times))).scalar()
    return now() if newest is None else max(now(), newest + timedelta(microseconds=1))


def _save(connection: Connection, database: Database, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        insert = database.insert(table)
        kept = {name: insert.excluded[name] for name in rows[0] if name != "digest"}
        connection.execute(insert.on_conflict_do_update(index_elements=["digest"], set_=kept), rows)
