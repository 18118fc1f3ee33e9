"""Memories going in: row, subjects and place in one transaction."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from whet.core.errors import RefusedInput
from whet.core.memories import Embedding, Memory
from whet.store.engine import Database
from whet.store.memory_rows import Space, as_row, batches, checked, dimensions_of, space_of
from whet.store.memory_schema import memories, memory_places, memory_spaces, memory_subjects

_STAYS = {"id", "pinned", "used", "last_used"}
_REPLACED = [column.name for column in memories.c if column.name not in _STAYS | {"seq"}]
_REPLACE = (
    update(memories)
    .where(memories.c.seq == bindparam("of_seq"))
    .values({name: bindparam(f"new_{name}") for name in _REPLACED})
)


class Keeping:
    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(
        self, connection: Connection, given: Sequence[Memory], model: str, embeddings: Sequence[Embedding]
    ) -> tuple[int, dict[Space, int]]:
        """How many were new, and how many were kept in which space. Of one that is given twice the last counts."""
        kept = {each.id: (each, place) for each, place in zip(map(checked, given), embeddings, strict=True)}
        kept = dict(sorted(kept.items()))  # whoever keeps the same ones at once takes them in the same order
        rows = {memory_id: as_row(each) for memory_id, (each, _) in kept.items()}
        new = self._insert(connection, rows)
        numbers = self._replace(connection, {each: row for each, row in rows.items() if each not in new}) | new
        self._describe(connection, {numbers[each]: row for each, row in rows.items()})
        spaces: dict[Space, int] = {}
        for project in sorted({each.project for each, _ in kept.values()}):
            placed = {numbers[key]: place for key, (each, place) in kept.items() if each.project == project}
            spaces[self.place(connection, project, model, placed, set(new.values()))] = len(placed)
        return len(new), spaces

    def place(
        self,
        connection: Connection,
        project: str,
        model: str,
        placed: Mapping[int, Embedding],
        new: AbstractSet[int] = frozenset(),
    ) -> Space:
        """A place that stays the same keeps its number. `new` memories have none yet."""
        from whet.store.memory_likeness import checked_dimensions  # numpy: those who never remember do not wait for it

        length = checked_dimensions(list(placed.values()), model, dimensions_of(connection, model))
        space = self._space(connection, project, model, length)
        rows = [{"space": space.number, "memory": number, "embedding": place} for number, place in placed.items()]
        older = [{"of": row["memory"], "now": row["embedding"]} for row in rows if row["memory"] not in new]
        if older:
            differs = (memory_places.c.memory == bindparam("of"), memory_places.c.embedding != bindparam("now"))
            connection.execute(delete(memory_places).where(memory_places.c.space == space.number, *differs), older)
        insert = self._database.insert(memory_places).on_conflict_do_nothing(index_elements=["space", "memory"])
        connection.execute(insert, rows)
        return space

    def _insert(self, connection: Connection, rows: Mapping[str, dict[str, Any]]) -> dict[str, int]:
        insert = self._database.insert(memories).on_conflict_do_nothing(index_elements=["id"])
        returning = insert.returning(memories.c.id, memories.c.seq)
        return {row.id: row.seq for batch in batches(rows.values()) for row in connection.execute(returning, batch)}

    def _replace(self, connection: Connection, rows: Mapping[str, dict[str, Any]]) -> dict[str, int]:
        """Places of other models go with the text that they were places of."""
        known: dict[str, int] = {}
        for batch in batches(rows):
            query = select(memories.c.id, memories.c.seq, memories.c.text, memories.c.cue)
            found = connection.execute(query.where(memories.c.id.in_(batch)).with_for_update()).all()
            moved = [row.seq for row in found if (row.text, row.cue) != (rows[row.id]["text"], rows[row.id]["cue"])]
            connection.execute(delete(memory_places).where(memory_places.c.memory.in_(moved)))
            known |= {row.id: row.seq for row in found}
        changes = [
            {"of_seq": seq} | {f"new_{name}": rows[memory_id][name] for name in _REPLACED}
            for memory_id, seq in known.items()
        ]
        if changes:
            connection.execute(_REPLACE, changes)
            connection.execute(
                delete(memory_subjects).where(memory_subjects.c.memory == bindparam("of")),
                [{"of": seq} for seq in known.values()],
            )
        return known

    def _describe(self, connection: Connection, rows: Mapping[int, dict[str, Any]]) -> None:
        described = [
            {"memory": number, "subject": subject, "project": row["project"]}
            for number, row in rows.items()
            for subject in dict.fromkeys(row["subjects"])
        ]
        if described:
            connection.execute(memory_subjects.insert(), described)

    def _space(self, connection: Connection, project: str, model: str, dimensions: int) -> Space:
        found = space_of(connection, project, model)
        if found is not None:
            return found
        made = self._database.insert(memory_spaces).values(project=project, model=model, dimensions=dimensions)
        connection.execute(made.on_conflict_do_nothing(index_elements=["project", "model"]))
        found = space_of(connection, project, model)
        if found is None or found.dimensions != dimensions:
            raise RefusedInput(f"The model {model[:80]!r} has embeddings of another length.", "Give it another name.")
        return found


def paired(items: Sequence[object], embeddings: Sequence[Embedding]) -> None:
    if len(items) != len(embeddings):
        raise RefusedInput(
            f"{len(items)} memories came with {len(embeddings)} embeddings; nothing was changed.", "Give one each."
        )
