"""Reading places from SQLite, where whoever asks does the reckoning."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, select, true

from whet.core.memories import Embedding, Wanted
from whet.store.memory_likeness import as_matrix, one_by_one, worth_a_look
from whet.store.memory_rows import Found, Space, batches, matching, narrowed
from whet.store.memory_schema import memories, memory_places

_BLOCK_ROWS = 4096
Block = tuple[NDArray[np.int64], NDArray[np.float32]]  # numbers, places


def exactly(connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int) -> list[Found]:
    """Every place is looked at, block by block."""
    query = select(memory_places.c.number, memory_places.c.embedding).where(memory_places.c.space == space.number)
    if narrowed(wanted):
        query = query.join(memories).where(*matching(wanted))
    question = np.frombuffer(asked, dtype="<f4")
    numbers, likeness = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for some, places in blocks(connection, query):
        numbers.append(some)
        likeness.append(one_by_one(places, question))
    chosen = worth_a_look(np.concatenate(likeness), limit)
    return [found for found, is_wanted in rows_of(connection, np.concatenate(numbers)[chosen].tolist(), wanted)]


def rows_of(connection: Connection, numbers: Sequence[int], wanted: Wanted) -> list[tuple[Found, bool]]:
    """Those of these places that exist, and whether they are wanted."""
    is_wanted = and_(true(), *narrowed(wanted))
    columns = (memory_places.c.number, memories.c.seq, memories.c.id, memory_places.c.embedding, is_wanted)
    found: list[tuple[Found, bool]] = []
    for batch in batches(numbers):
        query = select(*columns).join_from(memory_places, memories).where(memory_places.c.number.in_(batch))
        found += [(Found(*row[:4]), bool(row[4])) for row in connection.execute(query)]
    return found


def above(connection: Connection, space: Space, number: int, limit: int | None = None) -> Iterator[Block]:
    """Places behind this one, in their order."""
    query = select(memory_places.c.number, memory_places.c.embedding).where(
        memory_places.c.space == space.number, memory_places.c.number > number
    )
    yield from blocks(connection, query.order_by(memory_places.c.number).limit(limit))


def chosen_places(connection: Connection, numbers: Sequence[int]) -> NDArray[np.float32]:
    query = select(memory_places.c.number, memory_places.c.embedding)
    queries = [query.where(memory_places.c.number.in_(batch)) for batch in batches(numbers)]
    return np.concatenate([places for each in queries for _, places in blocks(connection, each)])


def live_numbers(connection: Connection, space: Space) -> NDArray[np.int64]:
    query = select(memory_places.c.number).where(memory_places.c.space == space.number)
    return np.fromiter(connection.scalars(query.order_by(memory_places.c.number)), np.int64)


def blocks(connection: Connection, query: Select[Any]) -> Iterator[Block]:
    for rows in connection.execute(query.execution_options(yield_per=_BLOCK_ROWS)).partitions():
        yield np.fromiter((row[0] for row in rows), np.int64, len(rows)), as_matrix([row[1] for row in rows])
