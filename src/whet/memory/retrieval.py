"""What is remembered about something: recent, similar and relevant memories merged, each with its reason."""

from collections.abc import Sequence
from datetime import UTC, datetime

from whet.core.memories import Embedder, Embedding, Memories, Question, Recalled, Recollection
from whet.memory.masking import masked
from whet.memory.reembedding import Models
from whet.memory.retrieval_ranking import Candidate, Candidates, ranked
from whet.memory.retrieval_sentences import why

# Of each way of finding, so that what two ways found is there even if neither found it first.
CANDIDATES_PER_WAY = 30
# When so many say the same that too few are left, so many times as many are looked at: of the similar ones, which are
# what was asked for. Once, since each takes time and nobody waits for what is far from the question.
WIDER = 3
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
        recalled = [Recalled(one.memory, one.score, why(one, question, now), one.likeness or 0.0) for one in best]
        if is_use and recalled:
            self._memories.note_use([one.memory.id for one in recalled], now)
        return recalled

    def _best(self, question: Question, limit: int, now: datetime) -> list[Candidate]:
        each_way, found, places = max(CANDIDATES_PER_WAY, 2 * limit), Candidates(), self._places(question)
        similar = self._find_similar(found, question, places, each_way)
        newest = self._find_others(found, question, each_way)
        best = ranked(found, question, now, limit)
        if len(best) == limit or max(similar, newest) < each_way:
            return best
        if places:
            self._find_similar(found, question, places, WIDER * each_way)
        else:
            self._find_others(found, question, WIDER * each_way)
        return ranked(found, question, now, limit)

    def _places(self, question: Question) -> list[tuple[str, Embedding]]:
        """By every model that has places: while a new one is filled in, some memories are only in the old one."""
        if not question.text.strip():
            return []
        text, models = masked(question.text), self._models.answering(question.wanted.project)
        return [(embedder.name, embedder.embed([text])[0]) for embedder in models]

    def _find_similar(
        self, found: Candidates, question: Question, places: Sequence[tuple[str, Embedding]], limit: int
    ) -> int:
        """How many there were."""
        similar = [n for model, place in places for n in self._memories.nearest(question.wanted, model, place, limit)]
        for near in similar:
            found.met(near.memory).meet(likeness=near.likeness)
        return len(similar)

    def _find_others(self, found: Candidates, question: Question, limit: int) -> int:
        """What is about the same, and what is new; how many of the latter."""
        for near in self._memories.sharing(question.wanted, question.subjects, limit) if question.subjects else ():
            found.met(near.memory).meet(shared=near.likeness)
        newest = self._memories.newest(question.wanted, limit)
        for memory in newest:
            found.met(memory)
        return len(newest)


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


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_RECOLLECTION else text[: LONGEST_RECOLLECTION - 1] + "…"
