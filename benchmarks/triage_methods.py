"""Ways to rank past failures by likeness to one: the usual ones, and Whet's."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from benchmarks.triage_cases import Case, Recording

from whet.core.memories import Embedder, Kind, Memory
from whet.memory import failures_turning
from whet.memory.embedding import embedder
from whet.memory.failures import Turn, remembered_failure
from whet.memory.failures_lines import told
from whet.memory.failures_triage import Triage
from whet.memory.remembering_texts import fitting, subjects
from whet.store import open_store

_WORD = re.compile(r"\w+")
Floats = npt.NDArray[np.float64]


class Method(Protocol):
    def first(self, query: int, count: int) -> list[int]:
        """The cases that look most like this one, without it."""


class Bm25:
    """Okapi BM25 with the usual constants, over lower-case words."""

    K1, B = 1.2, 0.75

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [Counter(_WORD.findall(text.lower())) for text in texts]
        lengths = np.array([sum(words.values()) for words in self._words], float)
        self._norms = self.K1 * (1 - self.B + self.B * lengths / max(lengths.mean(), 1.0))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for index, words in enumerate(self._words):
            for word, count in words.items():
                postings[word].append((index, count))
        self._gains = {word: self._gain(np.array(found)) for word, found in postings.items()}

    def _gain(self, found: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Floats]:
        documents, counts = found[:, 0], found[:, 1].astype(float)
        rarity = math.log((len(self._words) - len(found) + 0.5) / (len(found) + 0.5) + 1)
        return documents, rarity * counts * (self.K1 + 1) / (counts + self._norms[documents])

    def scores(self, query: int) -> Floats:
        scores = np.zeros(len(self._words))
        for word, count in self._words[query].items():
            documents, gains = self._gains[word]
            scores[documents] += count * gains
        return scores

    def first(self, query: int, count: int) -> list[int]:
        return _best(self.scores(query), query, count)


class Cosine:
    """The nearest by plain cosine of their embeddings."""

    def __init__(self, texts: Sequence[str], model: Embedder, kept: Path) -> None:
        digest = hashlib.blake2b("\0".join([model.name, *texts]).encode("utf-8", "replace"), digest_size=8).hexdigest()
        path = kept / f"places-{digest}.npy"
        if not path.exists():
            np.save(path, np.frombuffer(b"".join(model.embed([text or " " for text in texts])), "<f4"))
        self._places = np.load(path).reshape(len(texts), -1)

    def first(self, query: int, count: int) -> list[int]:
        return _best((self._places @ self._places[query]).astype(float), query, count)


class Whet:
    """As it is used: a real store that holds all failures, asked about each."""

    def __init__(
        self, recording: Recording, folder: Path, *, covered: bool = False, lines: bool = False, turns: bool = False
    ) -> None:
        self._cases, self._project, self._lines, self._turns = recording.cases, recording.project, lines, turns
        store = open_store(f"sqlite:///{folder / f'{recording.project}-{covered}-{lines}-{turns}.db'}")
        model = embedder("hashed")
        memories = [self._memory(index, case) for index, case in enumerate(recording.cases)]
        store.memories.keep(memories, model.name, model.embed([memory.found_by() for memory in memories]))
        self._index = {memory.id: index for index, memory in enumerate(memories)}
        self._triage = Triage(store.memories, model, recording.covered if covered else None)

    def first(self, query: int, count: int) -> list[int]:
        case = self._cases[query]
        found = self._triage.same_cause(
            self._project, case.test, case.text, self._diverged(case), self._turned(case), limit=count + 1
        )
        return [index for one in found if (index := self._index[one.memory.id]) != query][:count]

    def _diverged(self, case: Case) -> frozenset[str] | None:
        return case.diverged if self._lines else None

    def _turned(self, case: Case) -> Turn | None:
        return case.turned if self._turns else None

    def _memory(self, index: int, case: Case) -> Memory:
        """Each failure is a memory of its own, named by a number that says nothing of its mutant."""
        lines, turned = self._diverged(case), self._turned(case)
        kept = remembered_failure(case.test, case.text, lines, turned)
        return Memory(
            project=self._project,
            kind=Kind.EPISODIC,
            topic="failure",
            source=f"failure:{hashlib.blake2b(str(index).encode(), digest_size=8).hexdigest()}",
            text=fitting(case.text),
            cue=fitting(kept.cue),
            subjects=subjects(*kept.subjects),
            about={"test": case.test}
            | ({} if lines is None else {"lines": told(lines)})
            | ({} if turned is None else {"turned": failures_turning.told(turned)}),
            at=datetime(2024, 1, 1, tzinfo=UTC),
        )


def _best(scores: Floats, query: int, count: int) -> list[int]:
    scores[query] = -np.inf
    return [int(index) for index in np.argsort(-scores, kind="stable")[:count]]
