"""Making and renewing the indexes of places beside a SQLite file, by one process at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from whet.store.engine import Database
from whet.store.memory_blocks import above, chosen_places, live_numbers
from whet.store.memory_index_file import (
    About,
    Index,
    IndexFile,
    digest,
    is_installed,
    laid_out,
    one_at_a_time,
    sample_size,
)
from whet.store.memory_rows import Space, batches
from whet.store.memory_schema import memories, memory_places

FEW_ROWS = 30_000  # so many are searched one by one in some ten milliseconds
_GROWN = 4  # lists that were laid out for so many times fewer rows have become too long
_LOOK_EVERY = 1_000
_WITNESSES = 8


class Indexing:
    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self._path = path
        self._kept: Counter[int] = Counter()

    def file(self, space: int) -> IndexFile:
        return IndexFile(self._path.with_name(f"{self._path.name}-memory-{space}.index"))

    def tend(self, space: Space, kept: int) -> None:
        """After `kept` more were kept; most calls do nothing. What was kept is kept, even if this fails."""
        first = space.number not in self._kept
        self._kept[space.number] += kept
        if first or self._kept[space.number] >= _LOOK_EVERY:
            self._kept[space.number] = 0
            if is_installed() and self._database.read(lambda connection: self._is_overdue(connection, space)):
                with suppress(OSError, RuntimeError):
                    self._renew(space)

    def hurry(self, space: Space) -> None:
        """The next to tend it shall look."""
        self._kept[space.number] = _LOOK_EVERY

    @contextmanager
    def unlearning(self, ids: Sequence[str]) -> Iterator[None]:
        """What is forgotten meanwhile is in no index any more, nor ever again: the file goes before the rows do, and
        comes back without them. Whoever dies between leaves no file; the next one makes it from what rows there are.
        """
        with self._alone(wait=True):
            held = dict(self._taken_out(self._database.read(lambda connection: _places_of(connection, ids))))
            yield
            for space, index in held.items():
                self.file(space).save(index)

    @contextmanager
    def dropping(self, space: Space) -> Iterator[None]:
        with self._alone(wait=True):
            self.file(space.number).remove()
            yield

    def _taken_out(self, gone: dict[int, list[int]]) -> Iterator[tuple[int, Index]]:
        for space, numbers in gone.items():
            file = self.file(space)
            file.unfinished.unlink(missing_ok=True)
            index = file.load(to_change=True) if is_installed() else None
            if index is not None and min(numbers) > index.about.watermark:
                continue
            file.remove()
            if index is not None:
                index.remove(np.array(numbers, np.int64))
                yield space, index

    def _is_overdue(self, connection: Connection, space: Space) -> bool:
        about = self.file(space.number).about()
        watermark = 0 if about is None else about.watermark
        behind = (memory_places.c.space == space.number, memory_places.c.number > watermark)
        some = select(memory_places.c.number).where(*behind).limit(FEW_ROWS + 1).subquery()
        return connection.execute(select(func.count()).select_from(some)).scalar_one() > FEW_ROWS

    def _renew(self, space: Space) -> None:
        with self._alone(wait=False) as alone:
            # Asked again: whoever was alone until now may have done it.
            if alone and self._database.read(lambda connection: self._is_overdue(connection, space)):
                self.file(space.number).save(self._database.read(lambda connection: self._renewed(connection, space)))

    def _renewed(self, connection: Connection, space: Space) -> Index:
        live = live_numbers(connection, space)
        index = self.file(space.number).load(to_change=True)
        if index is None or not fits(connection, index) or len(live) > _GROWN * index.about.trained_on:
            index = _empty(connection, live)
        index.remove(np.setdiff1d(index.numbers(), live, assume_unique=True))
        last: dict[int, str] = {}
        for numbers, places in above(connection, space, index.about.watermark):
            index.add(numbers, places)
            last |= {int(number): digest(place.tobytes()) for number, place in zip(numbers, places, strict=True)}
            last = dict(list(last.items())[-_WITNESSES:])
        return index._replace(about=About(int(live[-1]), index.about.trained_on, last))

    @contextmanager
    def _alone(self, *, wait: bool) -> Iterator[bool]:
        with one_at_a_time(self._path.with_name(f"{self._path.name}-memory.lock"), wait=wait) as alone:
            yield alone


def fits(connection: Connection, index: Index) -> bool:
    """Whether its last places, as far as they exist, are those of the rows: another history has others."""
    query = select(memory_places.c.number, memory_places.c.embedding)
    found = connection.execute(query.where(memory_places.c.number.in_(list(index.about.last)))).all()
    highest = connection.scalar(select(func.max(memory_places.c.number))) or 0
    same = all(digest(place) == index.about.last[number] for number, place in found)
    return same and (bool(found) or highest > index.about.watermark)


def _empty(connection: Connection, live: NDArray[np.int64]) -> Index:
    sample = np.random.default_rng(0).choice(live, sample_size(len(live)), replace=False)
    places = chosen_places(connection, np.sort(sample).tolist())
    return Index(laid_out(places, len(live)), About(0, len(live), {}))


def _places_of(connection: Connection, ids: Sequence[str]) -> dict[int, list[int]]:
    """Their numbers, by space."""
    found: dict[int, list[int]] = {}
    for batch in batches(ids):
        query = select(memory_places.c.space, memory_places.c.number).join(memories).where(memories.c.id.in_(batch))
        for space, number in connection.execute(query):
            found.setdefault(space, []).append(number)
    return found
