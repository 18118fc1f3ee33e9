"""Q-tables in a dictionary, for worlds replayed in memory. Same contract as the store's."""

import threading
from collections.abc import Mapping, Sequence

from whet.core.errors import RefusedInput
from whet.core.ports import LARGEST_Q_VALUE, Cell, Entry, Lesson, Move, Scope
from whet.policies.arithmetic import moved


class InProcessTables:
    def __init__(self) -> None:
        self._entries: dict[Cell, Entry] = {}
        self._lock = threading.Lock()

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Entry]:
        with self._lock:
            return {cell: self._entries[cell] for cell in cells if cell in self._entries}

    def rows(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        with self._lock:
            return self._table(scope, owner)

    def owners(self) -> list[tuple[Scope, str]]:
        with self._lock:
            return sorted({(cell.scope, cell.owner) for cell in self._entries})

    def initialise(self, values: Mapping[Cell, float]) -> int:
        for cell, value in values.items():
            if not -LARGEST_Q_VALUE <= value <= LARGEST_Q_VALUE:
                raise RefusedInput(f"{cell} was to be set to {value}.", f"Give a number within ±{LARGEST_Q_VALUE:g}.")
        with self._lock:
            new = {cell: value for cell, value in values.items() if cell not in self._entries}
            self._entries.update({c: Entry(q_value=v, visits=0, mean=0.0, m2=0.0) for c, v in new.items()})
            return len(new)

    def learn(self, lesson: Lesson) -> None:
        with self._lock:
            self._move(lesson.own, lesson.target, counted=True)
            self._move(lesson.shared, self._entries[lesson.own[0].cell].q_value, counted=True)

    def replay(self, lesson: Lesson) -> None:
        with self._lock:
            self._move(lesson.own, lesson.target, counted=False)
            first = self._entries.get(lesson.own[0].cell)
            if first is not None:
                self._move(lesson.shared, first.q_value, counted=False)

    def wipe(self, scope: Scope, owner: str) -> int:
        with self._lock:
            gone = self._table(scope, owner)
            for cell in gone:
                del self._entries[cell]
            return len(gone)

    def restore(self, scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> None:
        strangers = [cell for cell in rows if (cell.scope, cell.owner) != (scope, owner)]
        if strangers:
            raise RefusedInput(f"{strangers[0]} is no cell of {scope.value}/{owner}.", "Give the rows of one table.")
        for cell, entry in rows.items():
            if not abs(entry.q_value) <= LARGEST_Q_VALUE:
                raise RefusedInput(f"{cell} was to be {entry.q_value}.", f"Give a number within ±{LARGEST_Q_VALUE:g}.")
        with self._lock:
            for cell in self._table(scope, owner):
                del self._entries[cell]
            self._entries.update(rows)

    def _table(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        return {c: e for c, e in self._entries.items() if c.scope is scope and c.owner == owner}

    def _move(self, moves: Sequence[Move], target: float, *, counted: bool) -> None:
        """Each cell once, as in the store; replay moves what is there and makes nothing new."""
        for cell, move in {move.cell: move for move in reversed(moves)}.items():
            if counted or cell in self._entries:
                self._entries[cell] = moved(self._entries.get(cell), move, target, counted=counted)
