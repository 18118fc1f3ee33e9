"""Reads on in what was lived, and remembers it."""

from collections.abc import Iterable

from whet.core.memories import Embedder, Memories, Memory
from whet.core.ports import Store
from whet.memory.remembering_episodes import NOTHING_SEEN, Seen, episodes
from whet.memory.remembering_texts import subjects

MARK = "experiences"
# One batch is one embedding and one transaction; a call does so many at most, and the next one goes on.
BATCH = 64
MOST_BATCHES = 32
_NEWS = 0.1


class Remembering:
    """What is kept twice is kept once, so that whoever is killed between keeping and marking repeats the batch and
    changes nothing."""

    def __init__(self, store: Store, memories: Memories, embedder: Embedder, project: str) -> None:
        self._store, self._memories, self._embedder, self._project = store, memories, embedder, project

    def catch_up(self, most_batches: int = MOST_BATCHES, seen: Seen = NOTHING_SEEN) -> int:
        """How many memories are new. `seen`: by the visit that has just ended."""
        new = 0
        for _ in range(most_batches):
            mark = self._memories.mark(self._project, MARK)
            arrived = self._store.experiences.after(mark, self._project, BATCH)
            if not arrived:
                break
            lived = [memory for each in arrived for memory in episodes(self._project, each, seen)]
            new += keep(self._memories, self._embedder, self._counted(lived))
            self._memories.set_mark(self._project, MARK, arrived[-1].position)
        return new

    def behind(self) -> bool:
        mark = self._memories.mark(self._project, MARK)
        return bool(self._store.experiences.after(mark, self._project, 1))

    def _counted(self, lived: Iterable[Memory]) -> list[Memory]:
        made = list(lived)
        known = {memory.id: memory for memory in self._memories.get(sorted({memory.id for memory in made}))}
        changed: dict[str, Memory] = {}
        for memory in made:
            counted = met_again(known.get(memory.id), memory)
            if counted is not None:
                known[memory.id] = changed[memory.id] = counted
        return list(changed.values())


def met_again(known: Memory | None, met: Memory) -> Memory | None:
    """The same trouble once more is the same memory, met once more; None where this very meeting was counted."""
    if known is None:
        news = _NEWS if met.topic in ("finding", "failure") else 0.0
        return met.model_copy(update={"importance": min(1.0, met.importance + news)})
    if _counted_already(known, met):
        return None
    known = known if _same_code(known, met) else _as_not_followed(known)
    told = known if len(known.text) > len(met.text) else met  # whoever saw more of it
    again = {"support": known.support + 1, "importance": max(met.importance, known.importance)}
    named = subjects(*_turns(met), *_turns(known), *told.subjects)
    about = {**known.about, **met.about}
    return told.model_copy(update={**again, "at": max(known.at, met.at), "about": about, "subjects": named})


def _turns(memory: Memory) -> list[str]:
    return [each for each in memory.subjects if each.startswith("turned:")]


def _same_code(known: Memory, met: Memory) -> bool:
    return known.about.get("followed") == met.about.get("code_version")


def _as_not_followed(known: Memory) -> Memory:
    """Of other code the same words may have another cause: where it turned before says nothing about now."""
    about = {name: value for name, value in known.about.items() if name not in ("turned", "followed")}
    named = tuple(each for each in known.subjects if not each.startswith("turned:"))
    return known.model_copy(update={"about": about, "subjects": named})


def _counted_already(known: Memory, met: Memory) -> bool:
    """By the place in the stream; what comes from outside of it is told apart by its run."""
    before, here = known.about.get("position"), met.about.get("position")
    if isinstance(here, int):
        return isinstance(before, int) and before >= here
    return known.about.get("run_id") == met.about.get("run_id")


def keep(memories: Memories, embedder: Embedder, made: list[Memory]) -> int:
    if not made:
        return 0
    return memories.keep(made, embedder.name, embedder.embed([memory.found_by() for memory in made]))
