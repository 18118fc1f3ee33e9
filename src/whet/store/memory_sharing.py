"""Which memories are about the same things."""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, select

from whet.core.memories import Wanted
from whet.store.memory_rows import narrowed
from whet.store.memory_schema import memories, memory_subjects

# Of what very many share only the newest are looked at: it says little about each of them.
_LOOKED_AT = 1_000


class _Sharer(NamedTuple):
    seq: int
    id: str
    at: datetime


def sharing(connection: Connection, wanted: Wanted, subjects: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Numbers of memories and the weighted share of the subjects that each has; the newer one first, then by id."""
    weights, shares = 0.0, defaultdict[_Sharer, float](float)
    for subject in sorted(set(subjects)):
        weight = _weight(_spread(connection, wanted.project, subject))
        weights += weight
        for sharer in _sharers(connection, wanted, subject):
            shares[sharer] += weight
    ranked = sorted(shares, key=lambda each: (-shares[each], -each.at.timestamp(), each.id))
    return [(each.seq, min(1.0, shares[each] / weights)) for each in ranked[:limit]]


def _weight(spread: int) -> float:
    """One that a single memory has says ten times as much as one that a thousand have."""
    return 1 / math.log2(1 + max(1, spread))


def _spread(connection: Connection, project: str, subject: str) -> int:
    some = select(memory_subjects.c.memory).where(*_about(project, subject)).limit(_LOOKED_AT)
    return len(connection.scalars(some).all())


def _sharers(connection: Connection, wanted: Wanted, subject: str) -> list[_Sharer]:
    query = select(memories.c.seq, memories.c.id, memories.c.at).join_from(memory_subjects, memories)
    query = query.where(*_about(wanted.project, subject), *narrowed(wanted))
    newest = query.order_by(memory_subjects.c.memory.desc()).limit(_LOOKED_AT)
    return [_Sharer(*row) for row in connection.execute(newest)]


def _about(project: str, subject: str) -> tuple[ColumnElement[bool], ...]:
    return memory_subjects.c.project == project, memory_subjects.c.subject == subject
