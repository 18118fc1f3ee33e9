"""Where a value is looked up: the agent's own table, its category's, the fleet's.

Agents have different states and actions, so the shared tables are keyed by the
shared abstract state (`Situation`) and by the kind of action. The agent's own
table also keeps one row per abstract state and action, so that a state it never
met exactly still starts from its own experience, and so that a similar agent's
knowledge has a place to go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whet.core.ports import Cell, Entry, QTables, Scope
from whet.core.records import Action, State

Source = Literal["individual", "abstract", "category", "fleet", "none"]
FLEET = "fleet"


@dataclass(frozen=True)
class Weights:
    """How much a looked-up value counts, by where it was found (S2 §2.3). A table of weight 0 is not asked."""

    individual: float = 1.0
    category: float = 0.7
    fleet: float = 0.5


@dataclass(frozen=True)
class Known:
    """What the tables say of one action. `borrowed` is the fallback value, if any."""

    action: str
    own: Entry | None
    borrowed: float | None
    source: Source

    @property
    def value(self) -> float | None:
        """The look-up with fallback: own experience first, a borrowed value otherwise."""
        return self.own.q_value if self.own is not None and self.own.visits else self.borrowed

    @property
    def visits(self) -> int:
        return 0 if self.own is None else self.own.visits


@dataclass(frozen=True)
class Place:
    """The keys under which a state is filed at each level."""

    state_key: str
    category_key: str
    fleet_key: str

    @classmethod
    def of(cls, state: State) -> "Place":
        return cls(state.key(), state.situation.category_key(), state.situation.fleet_key())


@dataclass(frozen=True)
class Hierarchy:
    """The chain of tables one agent reads from and teaches."""

    agent: str
    category: str
    tables: QTables
    weights: Weights = Weights()

    def exact(self, place: Place, action: str) -> Cell:
        return Cell(Scope.INDIVIDUAL, self.agent, place.state_key, action)

    def chain(self, place: Place, action: Action) -> tuple[tuple[Source, Cell, float], ...]:
        """Where to look, nearest first."""
        w = self.weights
        return (
            ("individual", self.exact(place, action.name), w.individual),
            ("abstract", Cell(Scope.INDIVIDUAL, self.agent, place.category_key, action.name), w.individual),
            ("category", Cell(Scope.CATEGORY, self.category, place.category_key, action.kind), w.category),
            ("fleet", Cell(Scope.FLEET, FLEET, place.fleet_key, action.kind), w.fleet),
        )

    def recall(self, place: Place, actions: Sequence[Action]) -> list[Known]:
        """Everything the tables know of these actions here, in one read."""
        chains = {action.name: self.chain(place, action) for action in actions}
        entries = self.tables.read([cell for chain in chains.values() for _, cell, _ in chain])
        return [_known(name, chain, entries) for name, chain in chains.items()]


def _known(name: str, chain: tuple[tuple[Source, Cell, float], ...], entries: dict[Cell, Entry]) -> Known:
    own = _weighted(entries.get(chain[0][1]), chain[0][2])
    borrowed, lender = None, "none"
    for source, cell, weight in chain[1:]:
        if weight > 0.0 and cell in entries:
            borrowed, lender = weight * entries[cell].q_value, source
            break
    visited = own is not None and own.visits > 0
    return Known(name, own, borrowed, "individual" if visited else lender)  # type: ignore[arg-type]  # lender is a Source


def _weighted(entry: Entry | None, weight: float) -> Entry | None:
    if entry is None or weight == 1.0:
        return entry
    if weight == 0.0:
        return None
    scaled = {"q_value": weight * entry.q_value, "mean": weight * entry.mean, "m2": weight**2 * entry.m2}
    return entry.model_copy(update=scaled)
