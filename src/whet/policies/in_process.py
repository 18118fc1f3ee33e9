"""Q-tables in a dictionary, for worlds replayed in memory. Same contract as the store's."""

import threading
from collections.abc import Mapping, Sequence

from whet.core.ports import Cell, Entry, Lesson, Scope
from whet.policies.arithmetic import moved


class InProcessTables:
    def __init__(self) -> None:
        self._entries: dict[Cell, Entry] = {}
        self._lock = threading.Lock()

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Entry]:
        return {cell: self._entries[cell] for cell in cells if cell in self._entries}

    def rows(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        return {c: e for c, e in self._entries.items() if c.scope is scope and c.owner == owner}

    def owners(self) -> list[tuple[Scope, str]]:
        return sorted({(cell.scope, cell.owner) for cell in self._entries})

    def initialise(self, values: Mapping[Cell, float]) -> int:
        with self._lock:
            new = {cell: value for cell, value in values.items() if cell not in self._entries}
            self._entries.update({c: Entry(q_value=v, visits=0, mean=0.0, m2=0.0) for c, v in new.items()})
            return len(new)

    def learn(self, lesson: Lesson) -> None:
        self._apply(lesson, counted=True)

    def replay(self, lesson: Lesson) -> None:
        self._apply(lesson, counted=False)

    def wipe(self, scope: Scope, owner: str) -> int:
        gone = self.rows(scope, owner)
        with self._lock:
            for cell in gone:
                del self._entries[cell]
        return len(gone)

    def _apply(self, lesson: Lesson, *, counted: bool) -> None:
        with self._lock:
            for move in lesson.own:
                self._entries[move.cell] = moved(self._entries.get(move.cell), move, lesson.target, counted=counted)
            learned = self._entries[lesson.own[0].cell].q_value
            for move in lesson.shared:
                self._entries[move.cell] = moved(self._entries.get(move.cell), move, learned, counted=counted)
