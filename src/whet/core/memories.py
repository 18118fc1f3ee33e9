"""What the fleet remembers: what happened, what is true, how things are done; and how it is found again.

Texts come from test output, services and people. They are data: nothing in them is ever followed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from whet.core.keys import Atom, state_key
from whet.core.records import Count, Probability, Record
from whet.core.records import Recollection as Recollection

# Unit length, float32, little-endian: what every store keeps and numpy reads without copying.
Embedding = bytes
LONGEST_TEXT = 4000
MOST_SUBJECTS = 32


class Kind(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


Topic = Literal["experience", "finding", "failure", "fact", "procedure", "note"]


class Memory(Record):
    """One thing remembered. `source` says what it was made from; the same source is the same memory.

    `cue` is what it is found by, where that is not the text people read. `subjects` are what it is exactly about,
    such as "test:tests/test_a.py::test_x" or "file:src/prices.py". All texts are masked before they come here.
    """

    project: str = Field(min_length=1, max_length=200)
    kind: Kind
    topic: Topic
    source: str = Field(min_length=1, max_length=400)
    agent: str | None = None
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    cue: str | None = Field(None, min_length=1, max_length=LONGEST_TEXT)
    subjects: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = Field((), max_length=MOST_SUBJECTS)
    about: dict[str, Atom] = Field(default_factory=dict)
    importance: Probability = 0.5
    support: Count = Field(1, description="how often it held or worked")
    against: Count = Field(0, description="how often it did not")
    at: datetime
    pinned: bool = False
    used: Count = 0
    last_used: datetime | None = None

    @property
    def id(self) -> str:
        return state_key((self.project, self.kind.value, self.source))

    def found_by(self) -> str:
        return self.text if self.cue is None else self.cue


class Wanted(Record):
    """Which memories a question is about; empty means any. A project never sees another's."""

    project: str
    kinds: tuple[Kind, ...] = ()
    topics: tuple[Topic, ...] = ()
    agent: str | None = None
    since: datetime | None = None


class Outline(NamedTuple):
    """What forgetting looks at."""

    id: str
    kind: Kind
    importance: float
    used: int
    last_used: datetime | None
    at: datetime
    pinned: bool


class Near(NamedTuple):
    memory: Memory
    likeness: float  # cosine; for `sharing`: the share of the subjects asked for, the rare ones counting more


class Embedder(Protocol):
    """Turns texts into places, near each other when they mean something alike. Offline; any number of threads."""

    @property
    def name(self) -> str:
        """Changes whenever the same text would get another place."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One each. An empty or wordless text gets a place too."""


class Memories(Protocol):
    """Rows are the truth. Whatever index there is follows from them: it never answers with what was forgotten, and
    always knows what was kept, whoever was killed between the two."""

    def keep(self, memories: Sequence[Memory], model: str, embeddings: Sequence[Embedding]) -> int:
        """All of them or none. Known ones are replaced, but stay pinned and used as they were; how many were new.
        RefusedInput for an embedding of another length than the model's, or that is not finite and of length 1."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, in the order asked for."""

    def find(self, project: str, prefix: str, limit: int = 10) -> list[Memory]:
        """Whose id begins so."""

    def newest(self, wanted: Wanted, limit: int, offset: int = 0) -> list[Memory]:
        """By `at`, then id."""

    def nearest(
        self, wanted: Wanted, model: str, embedding: Embedding, limit: int, *, exact: bool = False
    ) -> list[Near]:
        """Most alike first, equals by id. Not exact: at least 95 of 100 of the exact ones, in milliseconds."""

    def sharing(self, wanted: Wanted, subjects: Sequence[str], limit: int) -> list[Near]:
        """Those with most of the subjects; a subject that few have says more than one that many have."""

    def count(self, wanted: Wanted) -> int: ...

    def projects(self) -> list[str]: ...

    def note_use(self, ids: Sequence[str], at: datetime) -> None: ...

    def pin(self, memory_id: str, pinned: bool) -> bool:
        """Pinned ones are never forgotten by themselves. False when there is none with this id."""

    def outlines(self, project: str) -> Iterator[Outline]: ...

    def forget(self, ids: Sequence[str], why: str) -> int:
        """Erased, pinned or not: no trace in rows, index or write-ahead log. Audited by id, never by content.
        How many there were."""

    def models(self, project: str) -> dict[str, int]:
        """How many memories each model has embeddings of."""

    def without(self, project: str, model: str, limit: int) -> list[Memory]:
        """Memories this model has no embedding of, newest first."""

    def place(self, ids: Sequence[str], model: str, embeddings: Sequence[Embedding]) -> None:
        """Embeddings of memories that are there already; what was forgotten meanwhile is left out."""

    def drop_model(self, project: str, model: str) -> None:
        """Its embeddings are no longer needed."""

    def mark(self, project: str, name: str) -> int:
        """How far somebody got with something; 0 at first."""

    def set_mark(self, project: str, name: str, position: int) -> None:
        """Never backwards."""


class Question(Record):
    """What somebody is looking at: `text` is what memories are to be like, `subjects` what they are to be about."""

    wanted: Wanted
    text: str = ""
    subjects: tuple[str, ...] = ()


class Recalled(NamedTuple):
    memory: Memory
    score: float  # 0 to 1
    why: str  # a sentence: what it has in common with the question
    likeness: float = 0.0  # of the texts alone, where they were compared


class Recall(Protocol):
    def recall(self, question: Question, limit: int = 10) -> list[Recalled]:
        """Best first, near-duplicates once. Recent, similar and relevant ones merged."""
