"""Memories as rows, and which rows a question is about."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, bindparam, select

from whet.core.errors import RefusedInput
from whet.core.memories import Embedding, Memory, Wanted
from whet.store.memory_schema import memories, memory_spaces
from whet.store.validated import validated

T = TypeVar("T")
BATCH = 500
_ID = re.compile("[0-9a-f]{64}")
_LARGEST = 2**63 - 1
COLUMNS = [memories.c[name] for name in Memory.model_fields]
# Made once: putting a statement together takes longer than the server takes to answer it.
_SPACE = select(memory_spaces.c.number, memory_spaces.c.dimensions).where(
    memory_spaces.c.project == bindparam("of_project"), memory_spaces.c.model == bindparam("of_model")
)
_BY_NUMBER = select(memories.c.seq, *COLUMNS).where(memories.c.seq.in_(bindparam("numbers", expanding=True)))


class Space(NamedTuple):
    """Where one project's memories have their places by one model."""

    number: int
    dimensions: int


class Found(NamedTuple):
    """A place, and whose it is."""

    number: int
    seq: int
    id: str
    embedding: Embedding


class Places(Protocol):
    """How near places are found."""

    def prepare(self) -> None:
        """Before the first is kept."""

    def near(
        self, connection: Connection, space: Space, wanted: Wanted, asked: Embedding, limit: int, exact: bool
    ) -> list[Found]:
        """At least the nearest ones, in any order."""

    def tend(self, space: Space, kept: int) -> None:
        """After `kept` more were kept: whatever makes finding fast is brought up to date when it is worth while."""

    def unlearning(self, ids: Sequence[str]) -> AbstractContextManager[None]:
        """While these are forgotten: afterwards nothing that makes finding fast knows them."""

    def dropping(self, space: Space) -> AbstractContextManager[None]:
        """While the rows of this space go."""


def space_of(connection: Connection, project: str, model: str) -> Space | None:
    row = connection.execute(_SPACE, {"of_project": project, "of_model": model}).first()
    return None if row is None else Space(*row)


def dimensions_of(connection: Connection, model: str) -> int | None:
    """A model's embeddings are of one length, whichever project they are of."""
    return connection.scalar(select(memory_spaces.c.dimensions).where(memory_spaces.c.model == model).limit(1))


def narrowed(wanted: Wanted) -> list[ColumnElement[bool]]:
    """What `wanted` asks for beyond the project."""
    conditions: list[ColumnElement[bool]] = []
    if wanted.kinds:
        conditions.append(memories.c.kind.in_([kind.value for kind in wanted.kinds]))
    if wanted.topics:
        conditions.append(memories.c.topic.in_(wanted.topics))
    if wanted.agent is not None:
        conditions.append(memories.c.agent == wanted.agent)
    if wanted.since is not None:
        conditions.append(memories.c.at >= wanted.since)
    return conditions


def matching(wanted: Wanted) -> list[ColumnElement[bool]]:
    return [memories.c.project == wanted.project, *narrowed(wanted)]


def checked(memory: Memory) -> Memory:
    same = validated(memory)
    if max(same.support, same.against, same.used) > _LARGEST:
        raise RefusedInput("A memory was counted more often than can be stored; nothing was changed.", "Count less.")
    return same


def as_row(memory: Memory) -> dict[str, Any]:
    return {**memory.model_dump(mode="python"), "id": memory.id, "kind": memory.kind.value}


def memory_of(row: Row[Any]) -> Memory:
    told = row._mapping
    return Memory(**{name: told[name] for name in Memory.model_fields})


def by_number(connection: Connection, numbers: Sequence[int]) -> dict[int, Memory]:
    found: dict[int, Memory] = {}
    for batch in batches(numbers):
        rows = connection.execute(_BY_NUMBER, {"numbers": batch}).all()
        found.update({row.seq: memory_of(row) for row in rows})
    return found


def real_ids(ids: Iterable[str]) -> list[str]:
    """Each once, in order, without what can be nobody's id: people type anything, and databases do not take it."""
    return sorted({each for each in ids if _ID.fullmatch(each)})


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    listed = list(items)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
