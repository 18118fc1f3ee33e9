"""Which of the memories that were found come first, and which of them say the same."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from whet.core.memories import Memory, Question
from whet.memory.embedding.hashed import HashedEmbedder

# What each counts when it was asked for. On recorded failures a fifth for shared subjects found about as many of the
# same cause as likeness alone, larger shares and reciprocal ranks fewer; it stays because some questions have subjects
# only. Age and importance decide between equals.
LIKENESS, SHARED, RECENCY, IMPORTANCE = 0.68, 0.17, 0.10, 0.05
HALF_LIFE_DAYS = 30.0
SAME_PLACE = 0.97
# Two texts are compared by their beginnings.
LONGEST_COMPARED = 2000

_CHANGING = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|[0-9]+")
_compared = HashedEmbedder()


@dataclass
class Candidate:
    memory: Memory
    likeness: float | None = None
    shared: float | None = None
    score: float = 0.0
    repeats: list[Memory] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """One memory of a project; its id would have to be reckoned from this."""
        return self.memory.kind.value, self.memory.source

    def meet(self, likeness: float | None = None, shared: float | None = None) -> None:
        self.likeness = _greater(self.likeness, likeness)
        self.shared = _greater(self.shared, shared)


class Candidates:
    """What was found, each once, whichever way."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], Candidate] = {}

    def met(self, memory: Memory) -> Candidate:
        candidate = Candidate(memory)
        return self._by_key.setdefault(candidate.key, candidate)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._by_key.values())


def ranked(candidates: Iterable[Candidate], question: Question, now: datetime, limit: int) -> list[Candidate]:
    """Best first; of near-duplicates the best, which knows the others that were found."""
    scored = list(candidates)
    for candidate in scored:
        candidate.score, candidate.repeats = _score(candidate, question, now), []
    scored.sort(key=lambda one: (-one.score, -_aware(one.memory.at).timestamp(), one.key))
    return _different(scored, limit)


def age_days(memory: Memory, now: datetime) -> float:
    return max(0.0, (now - _aware(memory.at)).total_seconds() / 86400)


def _score(candidate: Candidate, question: Question, now: datetime) -> float:
    """From 0 to 1: the mean of what was asked for, times how reliable the memory has been."""
    memory = candidate.memory
    parts = [(RECENCY, math.exp2(-age_days(memory, now) / HALF_LIFE_DAYS)), (IMPORTANCE, memory.importance)]
    if question.text.strip():
        parts.append((LIKENESS, min(1.0, max(0.0, candidate.likeness or 0.0))))
    if question.subjects:
        parts.append((SHARED, min(1.0, max(0.0, candidate.shared or 0.0))))
    mean = sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)
    return mean * (1 + memory.support) / (1 + memory.support + memory.against)


def _different(candidates: list[Candidate], limit: int) -> list[Candidate]:
    kept: list[Candidate] = []
    places: list[npt.NDArray[np.float32]] = []
    by_text: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        memory = candidate.memory
        key = memory.kind.value, _normalised(memory.found_by())
        same = by_text.get(key)
        if same is None and len(kept) < limit:
            same = _same_place(memory, key[1], kept, places)
        if same is not None:
            by_text[key] = same
            same.repeats.append(memory)
        elif len(kept) < limit:
            by_text[key] = candidate
            kept.append(candidate)
            places.append(_place(key[1]))
    return kept


def _same_place(
    memory: Memory, text: str, kept: list[Candidate], places: list[npt.NDArray[np.float32]]
) -> Candidate | None:
    """What happened and what was concluded from it may sound the same and are two things."""
    if not kept:
        return None
    likeness = np.array(places) @ _place(text)
    alike = (kept[index] for index in np.flatnonzero(likeness > SAME_PLACE))
    return next((one for one in alike if one.memory.kind == memory.kind), None)


@lru_cache(maxsize=4096)
def _place(text: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(_compared.embed([text])[0], "<f4")


@lru_cache(maxsize=4096)  # the newest are candidates of every question
def _normalised(text: str) -> str:
    """Without numbers and addresses, which differ each time the same thing happens."""
    return " ".join(_CHANGING.sub("0", text[:LONGEST_COMPARED]).lower().split())


def _greater(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
