"""Knowledge handed from one agent to a similar one, through the shared abstract state and action kinds."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from whet.core.ports import Cell, Entry, QTables, Scope
from whet.core.records import Action
from whet.policies.arithmetic import effective_visits

# A value known to within this many reward points is as good as known.
TOLERANCE_POINTS = 5.0
# Noise assumed for a value visited once, in reward points.
ASSUMED_NOISE = 5.0


def confidence(entry: Entry, rate: float = 0.1) -> float:
    """P(the true value is within five points of the Q-value), under a normal standard error."""
    if entry.visits == 0:
        return 0.0
    variance = (entry.m2 + 2 * ASSUMED_NOISE**2) / (entry.visits - 1 + 2)
    error = math.sqrt(variance / effective_visits(entry.visits, rate))
    return math.erf(TOLERANCE_POINTS / (error * math.sqrt(2.0)))


def transfer(
    tables: QTables,
    source: tuple[str, Sequence[Action]],
    target: tuple[str, Sequence[Action]],
    abstract_keys: Sequence[str],
    min_confidence: float = 0.7,
    factor: float = 0.8,
    rate: float = 0.1,
) -> int:
    """Give `target` the confident values of `source` where it has none. How many cells were set.

    Only rows of the given abstract states travel: exact states mean nothing to another agent.
    Never overwrites; the target's first own visit replaces a transferred value.
    """
    by_kind = _values_by_kind(tables, source, set(abstract_keys), min_confidence, rate)
    name, actions = target
    values: dict[Cell, float] = {
        Cell(Scope.INDIVIDUAL, name, key, action.name): factor * sum(found) / len(found)
        for (key, kind), found in by_kind.items()
        for action in actions
        if action.kind == kind
    }
    return tables.initialise(values) if values else 0


def _values_by_kind(
    tables: QTables, source: tuple[str, Sequence[Action]], keys: set[str], min_confidence: float, rate: float
) -> Mapping[tuple[str, str], list[float]]:
    name, actions = source
    kinds = {action.name: action.kind for action in actions}
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for cell, entry in tables.rows(Scope.INDIVIDUAL, name).items():
        if cell.state_key in keys and cell.action in kinds and confidence(entry, rate) >= min_confidence:
            found[cell.state_key, kinds[cell.action]].append(entry.q_value)
    return found
