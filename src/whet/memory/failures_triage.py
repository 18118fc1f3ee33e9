"""Which remembered failures are likely to have the cause of one at hand: found through the store, then compared."""

from collections.abc import Iterable

from whet.core.memories import Embedder, Memories, Memory, Near, Recalled, Wanted
from whet.memory import failures_turning
from whet.memory.failures import Failure, Turn, alike, read_failure, remembered_failure
from whet.memory.failures_likeness import Covered
from whet.memory.failures_lines import read
from whet.memory.reembedding import Models

CANDIDATES_PER_WAY = 100


class Triage:
    """`covered` says which functions a test executes when it passes, where that is known."""

    def __init__(
        self, memories: Memories, embedder: Embedder, covered: Covered | None = None, models: Models | None = None
    ) -> None:
        self._memories = memories
        self._models = models or Models(memories, embedder)
        self._covered = covered

    def same_cause(
        self,
        project: str,
        test: str,
        text: str,
        diverged: frozenset[str] | None = None,
        turned: Turn | None = None,
        *,
        limit: int = 10,
    ) -> list[Recalled]:
        """The likeliest first. `text` is what pytest printed, masked; it is compared with what was said before."""
        failure = read_failure(test, text, diverged, turned)
        found = self._candidates(Wanted(project=project, topics=("failure",)), failure, text)
        ranked = alike(failure, [failure_of(memory) for memory in found], self._covered)[:limit]
        return [Recalled(found[one.candidate], one.likeness, one.why) for one in ranked]

    def _candidates(self, wanted: Wanted, failure: Failure, text: str) -> list[Memory]:
        asked = remembered_failure(failure.test, text, failure.diverged, failure.turned)
        near = [
            each for model in self._models.answering(wanted.project) for each in self._near(wanted, model, asked.cue)
        ]
        return _each_once([*near, *self._memories.sharing(wanted, asked.subjects, CANDIDATES_PER_WAY)])

    def _near(self, wanted: Wanted, embedder: Embedder, cue: str) -> list[Near]:
        (place,) = embedder.embed([cue])
        return self._memories.nearest(wanted, embedder.name, place, CANDIDATES_PER_WAY)


def failure_of(memory: Memory) -> Failure:
    """What was remembered, as a failure again."""
    test, lines, turned = (memory.about.get(name) for name in ("test", "lines", "turned"))
    return read_failure(
        str(test or ""),
        memory.text,
        None if lines is None else read(str(lines)),
        None if turned is None else failures_turning.read(str(turned)),
    )


def _each_once(found: Iterable[Near]) -> list[Memory]:
    return list({near.memory.id: near.memory for near in found}.values())
