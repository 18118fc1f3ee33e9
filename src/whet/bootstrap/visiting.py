"""What a visit of the fleet and `pytest --whet` learn is the same: runs of the suite, in the same lane."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from whet.bootstrap.lane import find_lane
from whet.bootstrap.ordering import Ordering
from whet.bootstrap.remembering_runs import changed_by, remember_run
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.sheets import OUTCOMES
from whet.tools import git
from whet.tools.suite import SuiteRun

_LETTERS = {outcome: letter for letter, outcome in OUTCOMES.items()}


class VisitOrdering:
    """Opened when it is first needed: a visit that neither orders nor finishes a run pays nothing for it."""

    def __init__(self, site: Site, store: Store) -> None:
        self._site, self._store = site, store
        self._opened: Ordering | None = None

    def rank(self, tests: Sequence[str]) -> list[str]:
        return [ranked.test for ranked in self._ordering().rank(tests, whole=True).ranked]

    def remember(self, run: SuiteRun, work: git.Changes | None) -> None:
        """`work`: what was being changed when the run began."""
        last = {test.id: test for test in run.tests}  # a retried test's last outcome counts
        began = datetime.now(UTC) - timedelta(seconds=run.duration_seconds)
        outcomes = "".join(_LETTERS[test.outcome] for test in last.values())
        seconds = [test.duration_seconds for test in last.values()]
        ordering = self._ordering()
        sheet = ordering.sheet(began, list(last), outcomes, seconds, run.finished, "visit")
        ordering.record(sheet)
        with suppress(WhetError):  # the run itself is recorded, and memory never ends a visit
            remember_run(self._site, self._store, sheet, changed_by(work))  # what failed is told by the findings

    def _ordering(self) -> Ordering:
        if self._opened is None:
            self._opened = Ordering(self._site, self._store, find_lane(self._site.project.root))
        return self._opened
