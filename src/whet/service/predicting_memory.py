"""What deciding needs of the store, at hand: read once per change, not once per request."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, NoReturn

from whet.core.errors import RefusedInput
from whet.core.ports import Cell, Choice, Entry, Lesson, QTables, Ruling, Scope, Store

_MOST_PLACES: Final = 20_000
_reading: ContextVar[bool] = ContextVar("reading", default=False)


class NotAtHand(Exception):
    """It has to be read from the store, which may take a while: not where others wait."""


@contextmanager
def reading() -> Iterator[None]:
    """Within this the store may be asked."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


@dataclass
class AtHand:
    """What was read, and what was made of it, while the store stood where it stood. A change is a new one of these,
    so that whatever was read before the change is never found after it."""

    entries: dict[tuple[Cell, ...], dict[Cell, Entry]] = field(default_factory=dict)
    rulings: dict[tuple[str, str], Ruling | None] = field(default_factory=dict)
    choices: dict[object, Choice] = field(default_factory=dict)

    def full(self) -> bool:
        return max(len(self.entries), len(self.rulings), len(self.choices)) > _MOST_PLACES


class TablesAtHand:
    """`QTables` for those who decide: they read, and change nothing.

    One call is one consistent picture; a policy asks once per choice, so no choice is made from two.
    """

    def __init__(self, tables: QTables) -> None:
        self._tables = tables
        self.now = AtHand()

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Entry]:
        now, key = self.now, tuple(cells)
        if key not in now.entries:
            if not _reading.get():
                raise NotAtHand
            now.entries[key] = self._tables.read(cells)
        return now.entries[key]

    def rows(self, scope: Scope, owner: str) -> dict[Cell, Entry]:
        return self._tables.rows(scope, owner)

    def owners(self) -> list[tuple[Scope, str]]:
        return self._tables.owners()

    def initialise(self, values: Mapping[Cell, float]) -> int:
        _refuse()

    def replay(self, lesson: Lesson) -> None:
        _refuse()

    def wipe(self, scope: Scope, owner: str) -> int:
        _refuse()

    def restore(self, scope: Scope, owner: str, rows: Mapping[Cell, Entry]) -> None:
        _refuse()


def ruling_at_hand(now: AtHand, store: Store, agent: str, state_key: str) -> Ruling | None:
    """A person's standing word."""
    key = (agent, state_key)
    if key not in now.rulings:
        if not _reading.get():
            raise NotAtHand
        now.rulings[key] = store.decisions.ruling(agent, state_key)
    return now.rulings[key]


def _refuse() -> NoReturn:
    raise RefusedInput("Whoever decides does not change tables.", "Change those of the store.")
