"""Sheets in and out of their tables, within the caller's transaction."""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, false, or_, select, true

from whet.core.errors import WhetError
from whet.core.sheets import Sheet, SheetKey
from whet.store.escapes import digest_of
from whet.store.names import NameBook, Numbering
from whet.store.packing import Columns, Filed, last_places
from whet.store.sheet_schema import sheet_columns, sheets, snapshots

_BATCH = 500
_BATCH_RESULTS = 200_000  # a few megabytes: the most that is held of sheets that stream by
_LEVEL = 1  # the seconds are noise, which no level packs

T = TypeVar("T")
Branches = Collection[str | None] | None


class Inserted(NamedTuple):
    sheets: int = 0
    results: int = 0
    known: int = 0
    replaced: int = 0

    def plus(self, other: "Inserted") -> "Inserted":
        return Inserted(*(mine + its for mine, its in zip(self, other, strict=True)))


class Known(NamedTuple):
    number: int
    content: str


def insert(connection: Connection, given: Iterable[Filed], numbering: Numbering, merging: bool = False) -> Inserted:
    """What is known already stays as it is.

    When `merging`, of two sheets with one id the greater content counts, so that it does not matter who merges whom.
    """
    done = Inserted()
    for batch in _batches(given, lambda each: len(each.columns.numbers)):
        wanted = _one_per_id(batch, merging)
        known = known_sheets(connection, wanted)
        beaten = [each.number for d, each in known.items() if merging and each.content < wanted[d].content]
        _forget(connection, beaten)
        new = {d: each for d, each in wanted.items() if d not in known or known[d].number in beaten}
        _insert(connection, new, numbering)
        results = sum(len(each.columns.numbers) for digest, each in new.items() if digest not in known)
        done = done.plus(Inserted(len(new) - len(beaten), results, len(batch) - len(new), len(beaten)))
    return done


def _one_per_id(batch: Iterable[Filed], merging: bool) -> dict[str, Filed]:
    """By digest of the id: the first of each, or when merging the greatest."""
    chosen: dict[str, Filed] = {}
    for each in batch:
        digest = digest_of(each.head.id)
        if digest not in chosen or (merging and chosen[digest].content < each.content):
            chosen[digest] = each
    return chosen


def known_sheets(connection: Connection, digests: Iterable[str]) -> dict[str, Known]:
    """By the digest of their id."""
    wanted = list(digests)
    found: dict[str, Known] = {}
    for start in range(0, len(wanted), _BATCH):
        query = select(sheets.c.digest, sheets.c.number, sheets.c.content)
        rows = connection.execute(query.where(sheets.c.digest.in_(wanted[start : start + _BATCH])))
        found.update((digest, Known(number, content)) for digest, number, content in rows)
    return found


def matching(branches: Branches) -> ColumnElement[bool]:
    if branches is None:
        return true()
    named = [branch for branch in branches if branch is not None]
    unnamed = sheets.c.branch.is_(None) if None in branches else false()
    return or_(sheets.c.branch.in_(named), unnamed)


def after_key(key: SheetKey) -> ColumnElement[bool]:
    return or_(sheets.c.at > key.at, and_(sheets.c.at == key.at, sheets.c.id > key.id))


def before_key(key: SheetKey) -> ColumnElement[bool]:
    return or_(sheets.c.at < key.at, and_(sheets.c.at == key.at, sheets.c.id < key.id))


def stream(connection: Connection, which: ColumnElement[bool]) -> Iterator[tuple[Sheet, Columns]]:
    """Heads and columns in the order of their keys, few in memory at a time."""
    order = select(sheets.c.number, sheets.c.results).where(which).order_by(sheets.c.at, sheets.c.id)
    for batch in _batches(connection.execute(order).all(), lambda row: row.results):
        numbers = [row.number for row in batch]
        query = select(sheets, sheet_columns.c.packed).join(sheet_columns).where(sheets.c.number.in_(numbers))
        rows = {row.number: row for row in connection.execute(query)}
        for number in numbers:
            yield _head(rows[number]), unpack(rows[number])


def newest(connection: Connection, which: ColumnElement[bool]) -> tuple[Sheet, Columns] | None:
    order = select(sheets.c.number).where(which).order_by(sheets.c.at.desc(), sheets.c.id.desc()).limit(1)
    number = connection.execute(order).scalar()
    return None if number is None else next(stream(connection, sheets.c.number == number))


def named(head: Sheet, columns: Columns, book: NameBook, renamed: Mapping[str, str]) -> Sheet:
    """The sheet as it is read: names for numbers, new names for old."""
    tests = book.of(columns.numbers) if columns.numbers else []
    if renamed:
        tests = [renamed.get(test, test) for test in tests]
        if len(last := last_places(tests)) < len(tests):
            columns, tests = columns.at_places(last), [tests[place] for place in last]
    return head._replace(tests=tests, outcomes=columns.outcomes, seconds=columns.seconds, nearness=columns.nearness)


def unpack(row: Row[Any]) -> Columns:
    try:
        return Columns.unpacked(zlib.decompress(row.packed), row.results)
    except (zlib.error, ValueError) as error:
        raise WhetError(
            f"The sheet {row.id[:60]!r} in the store is damaged ({error}).", "Put a backup of the store in its place."
        ) from error


def forget_snapshots(connection: Connection) -> None:
    connection.execute(delete(snapshots))


def _insert(connection: Connection, new: Mapping[str, Filed], numbering: Numbering) -> None:
    if not new:
        return
    numbering.of(dict.fromkeys(chain.from_iterable(each.columns.numbers for each in new.values())))  # all at once
    connection.execute(sheets.insert(), [_row(digest, each) for digest, each in new.items()])
    numbers = known_sheets(connection, new)
    packed = [
        {"sheet": numbers[digest].number, "packed": _packed(each.columns, numbering)} for digest, each in new.items()
    ]
    connection.execute(sheet_columns.insert(), packed)


def _row(digest: str, each: Filed) -> dict[str, Any]:
    head = each.head
    return {
        "digest": digest,
        "id": head.id,
        "at": head.at,
        "source": head.source,
        "branch": head.branch,
        "commit": head.commit,
        "code_version": head.code_version,
        "complete": head.complete,
        "results": len(each.columns.numbers),
        "content": each.content,
    }


def _packed(columns: Columns, numbering: Numbering) -> bytes:
    return zlib.compress(columns._replace(numbers=numbering.of(columns.numbers)).packed(), _LEVEL)


def _head(row: Row[Any]) -> Sheet:
    return Sheet(
        id=row.id,
        at=row.at,
        source=row.source,
        tests=(),
        outcomes="",
        seconds=(),
        branch=row.branch,
        commit=row.commit,
        code_version=row.code_version,
        complete=row.complete,
    )


def _forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Snapshots were made from what goes."""
    if numbers:
        connection.execute(delete(sheets).where(sheets.c.number.in_(numbers)))
        forget_snapshots(connection)


def _batches(items: Iterable[T], weight: Callable[[T], int]) -> Iterator[list[T]]:
    batch: list[T] = []
    weighs = 0
    for item in items:
        batch.append(item)
        weighs += weight(item)
        if len(batch) >= _BATCH or weighs >= _BATCH_RESULTS:
            yield batch
            batch, weighs = [], 0
    if batch:
        yield batch
