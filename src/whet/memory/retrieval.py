"""What is remembered about something: recent, similar and relevant memories merged, each with its reason."""

from collections.abc import Sequence
from datetime import UTC, datetime

from whet.core.memories import Embedder, Memories, Memory, Near, Question, Recalled, Recollection
from whet.memory.masking import masked
from whet.memory.reembedding import Models
from whet.memory.retrieval_ranking import Candidate, ranked
from whet.memory.retrieval_sentences import why

# Of each way of finding, so that what two ways found is there even if neither found it first. More are looked at when
# so many say the same that too few are left.
CANDIDATES_PER_WAY = 30
WIDER = (1, 4, 16)
LONGEST_RECOLLECTION = 300


class Retrieval:
    """Implements `whet.core.memories.Recall`. Looking counts as use only when it is said."""

    def __init__(self, memories: Memories, embedder: Embedder, models: Models | None = None) -> None:
        self._memories = memories
        self._models = models or Models(memories, embedder)

    def recall(self, question: Question, limit: int = 10, *, is_use: bool = False) -> list[Recalled]:
        if limit < 1:
            return []
        now = datetime.now(UTC)
        best = self._best(question, limit, now)
        recalled = [Recalled(one.memory, one.score, why(one, question, now)) for one in best]
        if is_use and recalled:
            self._memories.note_use([one.memory.id for one in recalled], now)
        return recalled

    def _best(self, question: Question, limit: int, now: datetime) -> list[Candidate]:
        best: list[Candidate] = []
        for wider in WIDER:
            each_way = wider * max(CANDIDATES_PER_WAY, 2 * limit)
            candidates = self._candidates(question, each_way)
            best = ranked(candidates, question, now, limit)
            if len(best) == limit or len(candidates) < each_way:
                break
        return best

    def _candidates(self, question: Question, limit: int) -> list[Candidate]:
        found: dict[str, Candidate] = {}
        for near in self._similar(question, limit):
            _candidate(found, near.memory).meet(likeness=near.likeness)
        for near in self._memories.sharing(question.wanted, question.subjects, limit) if question.subjects else ():
            _candidate(found, near.memory).meet(shared=near.likeness)
        for memory in self._memories.newest(question.wanted, limit):
            _candidate(found, memory)
        return list(found.values())

    def _similar(self, question: Question, limit: int) -> list[Near]:
        """Asked of every model that has places: while a new one is filled in, some memories are only in the old one."""
        if not question.text.strip():
            return []
        found: list[Near] = []
        for embedder in self._models.answering(question.wanted.project):
            (place,) = embedder.embed([masked(question.text)])
            found += self._memories.nearest(question.wanted, embedder.name, place, limit)
        return found


def to_recollections(recalled: Sequence[Recalled]) -> tuple[Recollection, ...]:
    """What a decision keeps of what it was reminded of; weights add up to 1."""
    total = sum(one.score for one in recalled)
    return tuple(
        Recollection(
            memory=one.memory.id,
            text=_short(one.memory.text),
            why=one.why,
            weight=one.score / total if total > 0 else 1 / len(recalled),
        )
        for one in recalled
    )


def _candidate(found: dict[str, Candidate], memory: Memory) -> Candidate:
    return found.setdefault(memory.id, Candidate(memory))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_RECOLLECTION else text[: LONGEST_RECOLLECTION - 1] + "…"
