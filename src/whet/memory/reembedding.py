"""Another embedder, without a pause: the old one's places answer until the new one has given a place to everything.

Nothing is written down about how far this got: what has no place yet is a question to the store. So a process that is
killed loses nothing, and several that do the same work at once only do some of it twice.
"""

import logging
import random
import time
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread

from whet.core.errors import WhetError
from whet.core.memories import Embedder, Memories
from whet.memory.embedding import embedder as named_embedder

# Small enough that stopping waits for one batch only, and that memory stays small.
BATCH = 32
# Asked for at once; each process takes a batch of them by chance, so that two hardly take the same.
PAGE = 4 * BATCH
# How long it is believed which models have places: another process may have changed it.
BELIEVED_SECONDS = 30.0
# A machine that still uses the old embedder says so this often, and keeps it alive this long.
KEPT_SECONDS = 24 * 3600
RETRY_SECONDS = 5.0
_EMBEDDERS = ("minilm", "hashed")

_log = logging.getLogger(__name__)


class Models:
    """Which embedders can answer about a project's memories."""

    def __init__(
        self,
        memories: Memories,
        embedder: Embedder,
        others: Sequence[Embedder] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memories, self._embedder, self._clock = memories, embedder, clock
        self._others = others
        self._known: dict[str, tuple[float, list[Embedder]]] = {}
        self._looking = Lock()

    def answering(self, project: str) -> list[Embedder]:
        """The one with most places first, then the present one, if it has any that the first has not."""
        with self._looking:
            since, known = self._known.get(project, (0.0, []))
            if not known or self._clock() - since > BELIEVED_SECONDS:
                known = self._answering(project)
                self._known[project] = self._clock(), known
            return known

    def look_again(self, project: str) -> None:
        with self._looking:
            self._known.pop(project, None)

    def _answering(self, project: str) -> list[Embedder]:
        places = self._memories.models(project)
        mine = self._embedder
        if set(places) <= {mine.name}:
            return [mine]
        others = [other for other in self._loadable() if places.get(other.name, 0) > places.get(mine.name, 0)]
        most = max(others, key=lambda other: places[other.name], default=mine)
        return [mine] if most is mine else [most, mine] if mine.name in places else [most]

    def _loadable(self) -> Sequence[Embedder]:
        if self._others is None:
            self._others = [found for name in _EMBEDDERS if (found := _loaded(name)) is not None]
        return [other for other in self._others if other.name != self._embedder.name]


class Reembedding:
    """Fills in what the present embedder has no place for, in the background, and lets go of the old places."""

    def __init__(
        self,
        memories: Memories,
        embedder: Embedder,
        models: Models | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._memories, self._embedder, self._clock = memories, embedder, clock
        self._models = models or Models(memories, embedder)
        self._stopping = Event()
        self._worker: Thread | None = None

    def start(self) -> None:
        if self._worker is None:
            self._stopping.clear()
            self._worker = Thread(target=self._work, name="re-embedding memories", daemon=True)
            self._worker.start()

    def stop(self) -> None:
        """Returns when the batch under way is done."""
        self._stopping.set()
        if self._worker is not None:
            self._worker.join()
            self._worker = None

    def __enter__(self) -> "Reembedding":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def catch_up(self, project: str) -> int:
        """How many got a place. Stops early when it is told to stop."""
        self._memories.set_mark(project, _in_use(self._embedder.name), int(self._clock()))
        placed = 0
        while not self._stopping.is_set() and (got := self._one_batch(project)):
            placed += got
        if placed:
            self._models.look_again(project)
        if not self._stopping.is_set():
            self._let_go(project)
        return placed

    def _one_batch(self, project: str) -> int:
        page = self._memories.without(project, self._embedder.name, PAGE)
        batch = random.sample(page, min(BATCH, len(page)))
        embeddings = self._embedder.embed([memory.found_by() for memory in batch])
        self._memories.place([memory.id for memory in batch], self._embedder.name, embeddings)
        return len(batch)

    def _let_go(self, project: str) -> None:
        """Of models that nobody has used for a day. One that nobody ever spoke for is noted, and has a day from now."""
        now = int(self._clock())
        for model in set(self._memories.models(project)) - {self._embedder.name}:
            used = self._memories.mark(project, _in_use(model))
            if used == 0:
                self._memories.set_mark(project, _in_use(model), now)
            elif now - used > KEPT_SECONDS:
                self._memories.drop_model(project, model)
                self._models.look_again(project)

    def _work(self) -> None:
        """Once through all projects. What fails now is tried again later: nothing waits for it."""
        for project in self._projects():
            while not self._stopping.is_set():
                try:
                    self.catch_up(project)
                    break
                except Exception as failure:
                    _log.warning("Memories of %r get their places later: %s", project, failure)
                    self._stopping.wait(RETRY_SECONDS)

    def _projects(self) -> list[str]:
        try:
            return self._memories.projects()
        except WhetError as failure:
            _log.warning("Memories get their places later: %s", failure)
            return []


def _in_use(model: str) -> str:
    return f"embedder in use: {model}"


def _loaded(name: str) -> Embedder | None:
    try:
        return named_embedder(name)
    except WhetError:
        return None
