"""What runs of a suite showed, as a set of sheets; and what was decided and learned about its tests."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from sqlalchemy import Connection, and_, func, not_, select

from whet.core.sheets import Added, Executed, Sheet, SheetKey, Snapshot
from whet.store import sheet_rows, suite_map
from whet.store.engine import Database
from whet.store.escapes import digest_of
from whet.store.names import NameBook, Numbering
from whet.store.packing import Filed, filed
from whet.store.renames import (
    Rename,
    Word,
    all_renames,
    all_words,
    last_words,
    next_moment,
    resolved,
    save_renames,
    save_words,
)
from whet.store.sheet_schema import mapped_tests, quarantine, renames, sheets, snapshots

T = TypeVar("T")
_SHEETS_LOCK = 0x73686574  # "shet"


class SqlSheets:
    """Implements `whet.core.sheets.Sheets`. Seconds come back as four-byte floats, in an `array`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, sheets: Iterable[Sheet]) -> Added:
        places: dict[str, int] = {}
        checked = [filed(sheet, places) for sheet in sheets]  # before the transaction: others need not wait for it
        done = self.write(lambda connection: _insert(connection, checked, list(places)))
        return Added(done.sheets, done.results, done.known)

    def read(self, branches: Collection[str | None] | None = None, after: SheetKey | None = None) -> Iterator[Sheet]:
        which = sheet_rows.matching(branches)
        if after is not None:
            which = which & sheet_rows.after_key(after)

        def work(connection: Connection) -> Iterator[Sheet]:
            book, renamed = NameBook(connection), resolved(all_renames(connection))
            for head, columns in sheet_rows.stream(connection, which):
                yield sheet_rows.named(head, columns, book, renamed)

        return self.database.stream(work)

    def count(self, branches: Collection[str | None] | None = None, upto: SheetKey | None = None) -> int:
        which = sheet_rows.matching(branches)
        if upto is not None:
            which = which & not_(sheet_rows.after_key(upto))
        query = select(func.count()).select_from(sheets).where(which)
        return self.database.read(lambda connection: int(connection.execute(query).scalar_one()))

    def latest(
        self,
        branches: Collection[str | None] | None = None,
        *,
        complete: bool = False,
        committed: bool = False,
        before: SheetKey | None = None,
    ) -> Sheet | None:
        which = sheet_rows.matching(branches)
        if complete:
            which = which & sheets.c.complete
        if committed:
            which = which & sheets.c.commit.is_not(None)
        if before is not None:
            which = which & sheet_rows.before_key(before)

        def work(connection: Connection) -> Sheet | None:
            found = sheet_rows.newest(connection, which)
            renamed = resolved(all_renames(connection))
            return None if found is None else sheet_rows.named(*found, NameBook(connection), renamed)

        return self.database.read(work)

    def branches(self) -> dict[str | None, int]:
        query = select(sheets.c.branch, func.count()).group_by(sheets.c.branch)
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return {row[0]: row[1] for row in rows}

    def snapshot(self, lane: str) -> Snapshot | None:
        query = select(snapshots).where(snapshots.c.digest == digest_of(lane))
        row = self.database.read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else Snapshot(row.sheets, SheetKey(row.last_at, row.last_id), row.state)

    def keep(self, lane: str, snapshot: Snapshot, instead_of: Snapshot | None = None) -> None:
        row = {"digest": digest_of(lane), "lane": lane, "sheets": snapshot.sheets, "state": snapshot.state}
        insert = self.database.insert(snapshots).values(**row, last_at=snapshot.last.at, last_id=snapshot.last.id)
        changing = {name: insert.excluded[name] for name in ("sheets", "last_at", "last_id", "state")}
        beaten = snapshots.c.sheets <= insert.excluded.sheets
        if instead_of is not None:
            last = and_(snapshots.c.last_at == instead_of.last.at, snapshots.c.last_id == instead_of.last.id)
            beaten = beaten | (last & (snapshots.c.sheets == instead_of.sheets))
        upsert = insert.on_conflict_do_update(index_elements=["digest"], set_=changing, where=beaten)
        self.database.write(lambda connection: connection.execute(upsert))

    def rename(self, names: Mapping[str, str]) -> None:
        given = dict(names)
        self.write(lambda connection: self._rename(connection, given))

    def renamed(self) -> dict[str, str]:
        return self.database.read(lambda connection: resolved(all_renames(connection)))

    def quarantine(self, test: str, reason: str) -> None:
        def work(connection: Connection) -> None:
            at = next_moment(connection, quarantine.c.at)
            save_words(connection, self.database, [Word(test, reason, at)])

        self.write(work)

    def release(self, test: str) -> bool:
        return self.write(lambda connection: self._release(connection, test))

    def quarantined(self) -> dict[str, str]:
        def work(connection: Connection) -> dict[str, Word]:
            return last_words(all_words(connection), resolved(all_renames(connection)))

        said = self.database.read(work)
        return {test: word.reason for test, word in sorted(said.items()) if word.reason is not None}

    def map_tests(self, lines: Mapping[str, Mapping[str, Collection[int]]], sources: Mapping[str, bytes]) -> None:
        digests = {file: suite_map.source_digest(content) for file, content in sources.items()}
        contents = {digests[file]: content for file, content in sources.items()}
        measured = suite_map.measured(lines, digests)

        def work(connection: Connection) -> None:
            at = next_moment(connection, mapped_tests.c.at)
            suite_map.save_sources(connection, contents)
            suite_map.save_tests(connection, [each._replace(at=at) for each in measured])
            suite_map.forget_unused_sources(connection)

        self.write(work)

    def executed(self, files: Collection[str]) -> list[Executed]:
        return self.database.read(lambda connection: suite_map.executed_lines(connection, files))

    def source(self, digest: str) -> bytes | None:
        return self.database.read(lambda connection: suite_map.source_content(connection, digest))

    def mapped(self) -> dict[str, int]:
        return self.database.read(suite_map.mapped_lengths)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Writers of sheets take turns, so that names get their numbers in turn."""

        def in_turn(connection: Connection) -> T:
            self.database.take_turns(connection, _SHEETS_LOCK)
            return work(connection)

        return self.database.write(in_turn)

    def _rename(self, connection: Connection, names: Mapping[str, str]) -> None:
        """Saying again what is so already changes nothing, and keeps the snapshots."""
        steps = all_renames(connection)
        present = resolved(steps)
        taken_back = {old for old, step in steps.items() if names.get(old) == old != step.new}
        changed = {old: new for old, new in names.items() if present.get(old, old) != new or old in taken_back}
        if changed:
            at = next_moment(connection, renames.c.at)
            save_renames(connection, self.database, [Rename(old, new, at) for old, new in changed.items()])
            sheet_rows.forget_snapshots(connection)

    def _release(self, connection: Connection, test: str) -> bool:
        present = resolved(all_renames(connection))
        words = [
            word
            for word in all_words(connection).values()
            if word.reason is not None and present.get(word.test, word.test) == present.get(test, test)
        ]
        at = next_moment(connection, quarantine.c.at)
        save_words(connection, self.database, [Word(word.test, None, at) for word in words])
        return bool(words)


def _insert(connection: Connection, checked: list[Filed], names: list[str]) -> sheet_rows.Inserted:
    return sheet_rows.insert(connection, checked, Numbering(connection, names))
