"""A project's memory, put together from settings: what is recalled, what is made of it, what is let go."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from whet.bootstrap.site import Site
from whet.core.memories import Embedder, Memories, Recall, Wanted
from whet.core.ports import Store
from whet.memory.consolidating import Consolidated, consolidate
from whet.memory.embedding import embedder
from whet.memory.failures_triage import Triage
from whet.memory.forgetting import Bound, Leaving, forget
from whet.memory.reembedding import Reembedding
from whet.memory.remembering import MARK, Remembering
from whet.memory.remembering_episodes import NOTHING_SEEN, Seen
from whet.memory.retrieval import Retrieval
from whet.settings.memory import Memory as MemorySettings

_PLACED_AT_ONCE = 64
_CONSOLIDATED, _FORGOTTEN, _TENDED = "consolidated", "forgotten", "tended"


class Tended(NamedTuple):
    remembered: int
    consolidated: Consolidated | None  # None: not due
    forgotten: Leaving


@dataclass(frozen=True)
class FleetMemory:
    """What the loop, the command line and services share. Whoever opened the store closes it."""

    store: Store
    project: str
    settings: MemorySettings

    @property
    def memories(self) -> Memories:
        return self.store.memories

    @cached_property
    def embedder(self) -> Embedder:
        """Loaded when first needed: a model takes a moment."""
        return embedder(self.settings.embedding)

    @cached_property
    def recall(self) -> Recall:
        return Retrieval(self.memories, self.embedder)

    @cached_property
    def triage(self) -> Triage:
        return Triage(self.memories, self.embedder)

    def catch_up(self, seen: Seen = NOTHING_SEEN) -> int:
        """Remembers what was lived since the last time; how many memories are new. `seen`: of failing tests, by the
        visit that has just ended."""
        self._place_newest()
        return Remembering(self.store, self.memories, self.embedder, self.project).catch_up(seen=seen)

    def reembedding(self) -> Reembedding:
        """To be entered: gives everything a place by the present model, in the background."""
        return Reembedding(self.memories, self.embedder)

    def _place_newest(self) -> None:
        """What runs of the suite left was placed by words alone. The rest is for `reembedding`."""
        waiting = self.memories.without(self.project, self.embedder.name, _PLACED_AT_ONCE)
        places = self.embedder.embed([memory.found_by() for memory in waiting])
        self.memories.place([memory.id for memory in waiting], self.embedder.name, places)

    def tend(self, now: datetime | None = None, at_once: bool = False, seen: Seen = NOTHING_SEEN) -> Tended:
        """What is due: remembering, facts and procedures (`at_once`: even if little is new), forgetting."""
        remembered, at = self.catch_up(seen), now or datetime.now(UTC)
        done = self.consolidate() if at_once or self._consolidating_is_due() else None
        return Tended(remembered, done, self.forget(at) if at_once or self._forgetting_is_due(at) else Leaving([], []))

    def tend_beside_a_run(self, now: datetime | None = None) -> None:
        """For who only ever runs pytest: everything once a day, the bound always. The day is noted first: whoever waits
        for this does not wait for long, and what was ended half-way must not be begun anew by every run."""
        at = now or datetime.now(UTC)
        if self.memories.mark(self.project, _TENDED) != at.toordinal():
            self.memories.set_mark(self.project, _TENDED, at.toordinal())
            self.tend(at, at_once=True)
        elif self._is_over_the_bound():
            self.forget(at)

    def consolidate(self) -> Consolidated:
        done = consolidate(self.memories, self.embedder, self.project)
        self.memories.set_mark(self.project, _CONSOLIDATED, self.memories.mark(self.project, MARK))
        return done

    def forget(self, now: datetime) -> Leaving:
        gone = forget(self.memories, self.project, now, Bound(self.settings.keep, self.settings.keep_days))
        self.memories.set_mark(self.project, _FORGOTTEN, now.toordinal())
        return gone

    def _consolidating_is_due(self) -> bool:
        lived, seen = (self.memories.mark(self.project, name) for name in (MARK, _CONSOLIDATED))
        return lived - seen >= self.settings.consolidate_every

    def _forgetting_is_due(self, now: datetime) -> bool:
        """Once a day for what is old: forgetting for good writes the store anew."""
        another_day = self.memories.mark(self.project, _FORGOTTEN) != now.toordinal()
        return another_day or self._is_over_the_bound()

    def _is_over_the_bound(self) -> bool:
        return self.memories.count(Wanted(project=self.project)) > self.settings.keep


def opened_memory(site: Site, store: Store) -> FleetMemory | None:
    """None when the settings say that nothing shall be remembered."""
    return fleet_memory(site, store) if site.settings.memory.enabled else None


def fleet_memory(site: Site, store: Store) -> FleetMemory:
    """For whoever looks at what is remembered, whether or not more is to be."""
    return FleetMemory(store, site.name, site.settings.memory)
