"""Whet on a recorded history, asked as `pytest --whet` asks it.

The lines that tests execute are measured by one real `pytest --whet --whet-map full` run of the base, which also makes
the store. From then on the ordering is opened anew at every commit, in a real checkout of it: what changed comes from
git, what was learned from the store.
"""

import shutil
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks.first_failures_history import History, checkout, whet_python
from benchmarks.first_failures_recording import Recorded, Suite, Told

from whet.bootstrap.ordering import Ordering, open_ordering

MAPPING = ("-p", "no:cacheprovider", "-p", "no:testmon", "--whet", "--whet-map", "full")
ASKING_LIMIT_SECONDS = 600


class Opened(NamedTuple):
    commit: str
    ordering: Ordering


class Whet:
    """A method (`first_failures_methods.Method`) with a store of its own."""

    def __init__(self, work: Path, history: History, name: str = "whet") -> None:
        """`name`: of its checkout."""
        self._suite = Suite(work, history, name, whet_python(work))
        self._open = ExitStack()
        self._opened: Opened | None = None
        self._now = datetime.now(UTC)
        self.notes: set[str] = set()  # what did not work
        self.asking_seconds: list[float] = []  # going to the commit, opening the store and ranking

    def learn(self, commit: str, told: Told) -> None:
        if commit == self._suite.history.base:
            self._begin(told)
        else:
            self._record(self._at(commit), told)

    def order(self, recorded: Recorded, told: Told) -> Sequence[str]:
        started = time.perf_counter()
        ordering = self._at(recorded.pair.mutated)
        ranked = ordering.rank(told.collected).ranked
        self.asking_seconds.append(time.perf_counter() - started)
        self.notes.update(ordering.notes)
        return [one.test for one in ranked]

    def mean_asking_seconds(self) -> float | None:
        return statistics.fmean(self.asking_seconds) if self.asking_seconds else None

    def _begin(self, told: Told) -> None:
        """A first run with the map, in an empty store."""
        self._close()
        self._go_to(self._suite.history.base)
        shutil.rmtree(self._suite.root / ".whet", ignore_errors=True)
        mapped = self._suite.run(MAPPING, ASKING_LIMIT_SECONDS)
        if mapped is None or mapped.ran.keys() != told.ran.keys():
            raise RuntimeError(f"the first run with Whet in {self._suite.root} did not run the suite")
        self._now = datetime.now(UTC)  # what is older than the first run would be learned before it

    def _at(self, commit: str) -> Ordering:
        """The ordering at this commit, which is also what its run is recorded with. One that nothing failed at is not
        ranked: nearness teaches only where something failed."""
        if self._opened is None or self._opened.commit != commit:
            self._close()
            self._go_to(commit)
            self._opened = Opened(commit, self._open.enter_context(open_ordering(self._suite.root)))
        return self._opened.ordering

    def _close(self) -> None:
        self._open.close()
        self._opened = None

    def _go_to(self, commit: str) -> None:
        checkout(self._suite.root, commit, branch="main")

    def _record(self, ordering: Ordering, told: Told) -> None:
        self._now += timedelta(minutes=10)
        tests = list(told.ran)
        outcomes = "".join(told.ran[test].letter for test in tests)
        ordering.record(ordering.sheet(self._now, tests, outcomes, [told.ran[t].seconds for t in tests], whole=True))
        self._close()
