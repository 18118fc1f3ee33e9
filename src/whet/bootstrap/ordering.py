"""A project's ordering, opened for one run: what was learned so far, the order it gives, and what the run adds."""

import math
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from whet.bootstrap.lane import Lane, find_lane
from whet.bootstrap.site import Site, open_site
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.sheets import FAILURES, UNKNOWN_NEARNESS, Sheet, SheetKey, Sheets, Snapshot
from whet.skills.flakiness import FLAKY_AT, flaky_probability
from whet.skills.ordering import Orderer, Ranked
from whet.skills.ordering.identity import renames
from whet.skills.ordering.proximity import Known, Near, nearness
from whet.tools.changes import Change, change_since
from whet.tools.imports import import_graph

T = TypeVar("T")
_READ_BYTES = 5_000_000
_LATELY = timedelta(days=1)


class Standing(NamedTuple):
    """What a ranking rests on."""

    ranked: list[Ranked]
    near: dict[str, Near]
    failed_lately: frozenset[str]


@contextmanager
def open_ordering(root: Path, changed_since: str | None = None) -> Iterator["Ordering"]:
    """`changed_since`: the commit that what is near to the change is judged from; else the lane's last full run's."""
    site = open_site(root)
    with site.store() as store:
        yield Ordering(site, store, find_lane(site.project.root), changed_since, lambda: site.rescue(store))


class Ordering:
    def __init__(
        self,
        site: Site,
        store: Store,
        lane: Lane,
        changed_since: str | None = None,
        rescue: Callable[[], object] = lambda: None,
    ) -> None:
        """`rescue` writes back a store that the suite deleted while it ran."""
        self.site = site
        self.lane = lane
        self.notes: list[str] = []  # what did not work, as sentences
        self._store, self._rescue = store, rescue
        self._changed_since = changed_since
        self._near: dict[str, Near] = {}
        self._touched: set[str] = set()  # tests that executed a file which changed
        self.orderer, self._last, self._count = self._recalled()
        self._catch_up()

    @property
    def sheets(self) -> Sheets:
        return self._store.sheets

    @property
    def root(self) -> Path:
        return self.site.project.root

    def rank(self, tests: Sequence[str], whole: bool = False) -> Standing:
        """`whole`: these are all tests there are, so that one that is gone may have been renamed."""
        latest = self.sheets.latest(self.lane.branches)
        if whole and latest is not None and latest.complete:
            self._rename(renames(latest.tests, tests))
        change = self._change(latest)
        self._near = self._nearness(tests, change) if change is not None and change.files else {}
        values = {test: near.value for test, near in self._near.items()} if self._near else None
        return Standing(self.orderer.rank(tests, values), self._near, _failed(latest))

    def record(self, sheet: Sheet) -> None:
        """Adds what a run showed and learns from it; and from what others added meanwhile."""
        self._rescue()
        self.sheets.add([sheet])
        self._catch_up()

    def sheet(
        self,
        at: datetime,
        tests: Sequence[str],
        outcomes: str,
        seconds: Sequence[float],
        whole: bool,
        source: str = "pytest",
    ) -> Sheet:
        """Of a run in this lane, with the nearness that its ranking went by."""
        return Sheet(
            id=uuid.uuid4().hex,
            at=at,
            source=source,
            tests=tests,
            outcomes=outcomes,
            seconds=seconds,
            branch=self.lane.branch,
            commit=self.lane.commit,
            code_version=self.site.project.code_version(),
            complete=whole,
            nearness=self._recorded_nearness(tests),
        )

    def map_tests(self, lines: Mapping[str, Mapping[str, Collection[int]]]) -> None:
        sources = {file: self._read(file) for files in lines.values() for file in files}
        there = {file: content for file, content in sources.items() if content is not None}
        kept = {test: {f: n for f, n in files.items() if f in there} for test, files in lines.items()}
        self.sheets.map_tests(kept, there)

    def unmapped(self, tests: Sequence[str]) -> set[str]:
        """Tests whose lines are not known, or were learned before what they executed changed."""
        known = self.sheets.mapped()
        return {test for test in tests if test not in known} | self._touched

    def flaky(self, tests: Collection[str]) -> tuple[str, ...]:
        """Those of `tests` that passed and failed on the present code lately, beyond doubt."""
        version, counted = self.site.project.code_version(), {test: [0, 0] for test in tests}
        lately = SheetKey(datetime.now(UTC) - _LATELY, "")
        for sheet in self.sheets.read(self.lane.branches, after=lately) if tests else ():
            if sheet.code_version == version:
                for test, outcome in zip(sheet.tests, sheet.outcomes, strict=True):
                    if test in counted and outcome in "pfe":
                        counted[test][0] += 1
                        counted[test][1] += outcome in FAILURES
        return tuple(
            test for test, (runs, failures) in counted.items() if flaky_probability(runs, failures) >= FLAKY_AT
        )

    def _rename(self, names: Mapping[str, str]) -> None:
        if names:
            self.sheets.rename(names)  # drops the snapshots, which hold the old names
            self.orderer, self._last, self._count = self._recalled()
            self._catch_up()

    def _recalled(self) -> tuple[Orderer, SheetKey | None, int]:
        """From the lane's snapshot, unless sheets came that are older than its last one: then anew."""
        snapshot = self.sheets.snapshot(self.lane.name)
        if snapshot is not None and self.sheets.count(self.lane.branches, upto=snapshot.last) == snapshot.sheets:
            try:
                return Orderer.load(snapshot.state), snapshot.last, snapshot.sheets
            except ValueError:
                pass  # another version's state: what it was made from is still there
        return Orderer(), None, 0

    def _catch_up(self) -> None:
        learned = 0
        for sheet in self.sheets.read(self.lane.branches, after=self._last):
            self.orderer.learn(sheet)
            self._last = sheet.key
            learned += 1
        if learned and self._last is not None:
            self._count += learned
            self.sheets.keep(self.lane.name, Snapshot(self._count, self._last, self.orderer.dump()))

    def _change(self, latest: Sheet | None) -> Change | None:
        base = self._changed_since or (latest.commit if latest is not None and latest.complete else None)
        return self._or_note(lambda: change_since(self.root, base), "what changed is not known")

    def _nearness(self, tests: Sequence[str], change: Change) -> dict[str, Near]:
        executed = self.sheets.executed(list(change.files))
        self._touched = {one.test for one in executed}
        known = Known(
            executed=executed,
            source=self.sheets.source,
            mapped=self.sheets.mapped(),
            read=self._read,
            imports=lambda: import_graph(self.root),
            seconds=self.orderer.seconds(tests),
        )
        return self._or_note(lambda: nearness(tests, change, known), "nearness to the change is not known") or {}

    def _or_note(self, work: Callable[[], T], lost: str) -> T | None:
        """Ordering goes on without it, and says so."""
        try:
            return work()
        except (WhetError, OSError, ValueError, RecursionError, NotImplementedError) as error:
            self.notes.append(f"{lost} ({type(error).__name__}: {error})")
            return None

    def _read(self, file: str) -> bytes | None:
        path = self.root / file
        try:
            return path.read_bytes() if path.stat().st_size <= _READ_BYTES else None
        except OSError:
            return None

    def _recorded_nearness(self, tests: Sequence[str]) -> bytes | None:
        if not self._near:
            return None
        return bytes(
            UNKNOWN_NEARNESS if (near := self._near.get(test)) is None else round(100 * min(1.0, max(0.0, near.value)))
            for test in tests
        )


def _failed(latest: Sheet | None) -> frozenset[str]:
    if latest is None:
        return frozenset()
    return frozenset(t for t, outcome in zip(latest.tests, latest.outcomes, strict=True) if outcome in FAILURES)


def finite(seconds: float) -> float:
    """As a sheet takes it: unknown is NaN."""
    return seconds if math.isfinite(seconds) and seconds >= 0 else math.nan
