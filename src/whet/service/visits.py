"""Runs of programs that decide and learn through REST. A decision belongs to a run, and so does what came of it."""

from collections import OrderedDict
from threading import Lock
from typing import Final, Literal

from whet.bootstrap.assembly import valuing
from whet.bootstrap.site import Site
from whet.core.ports import RunRecord
from whet.core.records import new_id, now
from whet.service.problems import Refused
from whet.store.sql_store import SqlStore

_MOST_KNOWN: Final = 10_000
THROUGH: Final = "service"


class Visits:
    """Whoever does not say which run a decision belongs to shares one with the others, until this process ends."""

    def __init__(self, site: Site, store: SqlStore) -> None:
        self._site, self._store = site, store
        self._own: str | None = None
        self._running: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def begin(self, budget_seconds: float, code_version: str | None) -> str:
        run_id = new_id()
        record = RunRecord(
            id=run_id,
            project=self._site.name,
            code_version=code_version or self._site.project.code_version(),
            budget_seconds=budget_seconds,
            seed=0,
            started_at=now(),
        )
        self._store.runs.start(record)
        self._remember(run_id)
        return run_id

    def own(self) -> str:
        with self._lock:
            if self._own is None:
                self._own = self.begin(0.0, None)
            return self._own

    def require_running(self, run_id: str) -> None:
        if run_id in self._running:
            return
        found = self._store.views.run(run_id)
        if found is None:
            raise Refused(404, f"There is no run {run_id!r}.", "Begin one: POST /api/v1/runs")
        if found.run.status != "running":
            raise Refused(409, f"The run {run_id!r} has ended.", "Begin another: POST /api/v1/runs")
        self._remember(run_id)

    def finish(self, run_id: str, status: Literal["finished", "interrupted"]) -> None:
        self.require_running(run_id)
        self._running.pop(run_id, None)
        lived = self._store.views.run(run_id)
        turns = 0 if lived is None else lived.decisions
        summary = {"turns": turns, "through": THROUGH, "rewards": valuing(self._site.settings).described()}
        self._store.runs.finish(run_id, status, summary)

    def close(self) -> None:
        """The shared run ends with the process."""
        with self._lock:
            if self._own is not None:
                self.finish(self._own, "finished")
                self._own = None

    def _remember(self, run_id: str) -> None:
        self._running[run_id] = None
        if len(self._running) > _MOST_KNOWN:
            self._running.popitem(last=False)
