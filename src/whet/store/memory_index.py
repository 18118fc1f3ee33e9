"""Finding near places in SQLite: an index for what is old, and one by one what came after it.

The index is a cache of rows. What it answers is looked up in the rows, so the forgotten never come back; what lies
above its watermark is searched beside it, so nothing new is missed, whoever wrote it. Without faiss, or while there
are few rows, there is no index, and everything lies above.
"""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from whet.core.memories import Embedding, Wanted
from whet.store.engine import Database
from whet.store.memory_blocks import above, exactly, rows_of
from whet.store.memory_index_file import Index, IndexFile, is_installed
from whet.store.memory_indexing import FEW_ROWS, Indexing, fits
from whet.store.memory_rows import Found, Space
from whet.store.memory_tail import Tail

_WIDER = 8
MOST_HELD_ROWS = 4 * FEW_ROWS  # with more than these above the index, rows are read anew for each question


class IndexedPlaces:
    def __init__(self, database: Database, path: Path) -> None:
        self._indexing = Indexing(database, path)
        self._lock = threading.Lock()
        self._spaces: dict[int, _SpaceIndex] = {}

    def prepare(self) -> None: ...

    def near(
        self, connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int, exact: bool
    ) -> list[Found]:
        index = self._index_of(space)
        found = None if exact else index.near(connection, wanted, asked, limit)
        if index.is_long():
            self._indexing.hurry(space)
        return exactly(connection, space, wanted, asked, limit) if found is None else found

    def tend(self, space: Space, kept: int) -> None:
        self._indexing.tend(space, kept)

    def unlearning(self, ids: Sequence[str]) -> AbstractContextManager[None]:
        return self._indexing.unlearning(ids)

    def dropping(self, space: Space) -> AbstractContextManager[None]:
        return self._indexing.dropping(space)

    def _index_of(self, space: Space) -> "_SpaceIndex":
        with self._lock:
            if space.number not in self._spaces:
                self._spaces[space.number] = _SpaceIndex(space, self._indexing.file(space.number))
            return self._spaces[space.number]


class _SpaceIndex:
    def __init__(self, space: Space, file: IndexFile) -> None:
        self._space = space
        self._file = file
        self._seen: tuple[int, int, int] | None = None
        self._index: Index | None = None
        self._tail = Tail(space.dimensions)
        self._lock = threading.Lock()

    def near(self, connection: Connection, wanted: Wanted, asked: Embedding, limit: int) -> list[Found] | None:
        """None when looking at everything is the better way."""
        with self._lock:
            self._refresh(connection)
            index, held = self._index, self._catch_up(connection)
        if not held:
            return None
        question = np.frombuffer(asked, dtype="<f4")
        for count in (2 * limit + 30, _WIDER * (2 * limit + 30)):
            numbers = self._candidates(index, question, count)
            rows = rows_of(connection, numbers, wanted)
            self._tail.drop(set(numbers) - {found.number for found, _ in rows})
            found = [each for each, is_wanted in rows if is_wanted]
            if len(found) >= limit or (index is None and count >= len(self._tail)):
                return found
        return None

    def is_long(self) -> bool:
        return len(self._tail) > FEW_ROWS

    def _refresh(self, connection: Connection) -> None:
        """A file that is gone says nothing: whoever removed it writes it anew, and what we hold is looked up anyway."""
        stamp = self._file.stamp() if is_installed() else None
        if stamp is None or stamp == self._seen:
            return
        loaded = self._file.load()
        if loaded is not None and fits(connection, loaded):
            self._index = loaded
            self._tail.drop((), up_to=loaded.about.watermark)
        self._seen = stamp

    def _catch_up(self, connection: Connection) -> bool:
        """Whether everything above the index is in memory now."""
        watermark = 0 if self._index is None else self._index.about.watermark
        room = MOST_HELD_ROWS - len(self._tail)
        for numbers, places in above(connection, self._space, max(watermark, self._tail.last()), room + 1):
            self._tail.add(numbers, places)
        return len(self._tail) <= MOST_HELD_ROWS

    def _candidates(self, index: Index | None, question: NDArray[np.float32], count: int) -> list[int]:
        numbers, likeness = self._tail.search(question, count)
        if index is not None:
            older, how_alike = index.search(question, count)
            numbers, likeness = np.concatenate([numbers, older]), np.concatenate([likeness, how_alike])
            numbers = numbers[np.argsort(-likeness, kind="stable")[:count]]
        return [int(number) for number in numbers]
