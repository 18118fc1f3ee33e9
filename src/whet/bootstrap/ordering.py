"""A project's ordering, opened for one run: what was learned so far, the order it gives, and what the run adds."""

import math
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from whet.bootstrap.lane import Lane, find_lane
from whet.bootstrap.site import Site, open_site
from whet.bootstrap.surroundings import Lookout, Surroundings, read_file
from whet.core.errors import Busy
from whet.core.ports import Store
from whet.core.sheets import FAILURES, UNKNOWN_NEARNESS, Sheet, SheetKey, Sheets, Snapshot
from whet.skills.flakiness import FLAKY_AT, flaky_probability
from whet.skills.ordering import Goal, Orderer, Ranked
from whet.skills.ordering.identity import renames
from whet.skills.ordering.proximity import Near
from whet.store.engine import BUSY_SECONDS

_LATELY = timedelta(days=1)
_CLOCK, _KEPT_EVERY_SECONDS = time.monotonic, 5.0


class Standing(NamedTuple):
    """What a ranking rests on."""

    ranked: list[Ranked]
    near: dict[str, Near]
    failed_lately: frozenset[str]  # the last time they ran
    around: Surroundings = Surroundings()


@contextmanager
def open_ordering(
    root: Path, changed_since: str | None = None, wait_seconds: float = BUSY_SECONDS
) -> Iterator["Ordering"]:
    """`changed_since`: the commit that what is near to the change is judged from; else the lane's last full run's.
    `wait_seconds`: for others who hold the store locked."""
    site = open_site(root)
    with site.store(wait_seconds) as store:
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
        self.store, self._rescue = store, rescue
        self._lookout = Lookout(self.root, store.sheets, lane.branches, changed_since, self.notes)
        self._near: dict[str, Near] = {}
        self._useless: Snapshot | None = None
        self.orderer, self._last, self._count = self._recalled()
        self._catch_up()

    @property
    def sheets(self) -> Sheets:
        return self.store.sheets

    @property
    def root(self) -> Path:
        return self.site.project.root

    def look_around(self) -> Surroundings:
        return self._lookout.look_around()

    def rank(
        self,
        tests: Sequence[str],
        whole: bool = False,
        around: Surroundings | None = None,
        goal: Goal = Goal.WHOLE_RUN,
    ) -> Standing:
        """`whole`: these are all tests there are, so that one that is gone may have been renamed."""
        around = around or self.look_around()
        renamed = self._renamed(around.whole, tests) if whole and around.whole is not None else {}
        if renamed:
            self._rename(renamed)
            around = self.look_around()
        self._near = self._lookout.nearness(tests, around, self.orderer.seconds(tests))
        values = {test: near.value for test, near in self._near.items()} if self._near else None
        return Standing(self.orderer.rank(tests, values, goal), self._near, self._failing(tests), around)

    def _renamed(self, last: Sheet, tests: Sequence[str]) -> dict[str, str]:
        """On equal code other names come from other options, and a file that is still there was not moved."""
        if last.code_version is not None and last.code_version == self.site.project.code_version():
            return {}
        met = self.orderer.columns.place

        def sure(old: str, new: str) -> bool:
            home = old.partition("::")[0]
            return new not in met and (home == new.partition("::")[0] or not (self.root / home).is_file())

        return {old: new for old, new in renames(last.tests, tests).items() if sure(old, new)}

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
        sources = {file: read_file(self.root, file) for files in lines.values() for file in files}
        there = {file: content for file, content in sources.items() if content is not None}
        kept = {test: {f: n for f, n in files.items() if f in there} for test, files in lines.items()}
        self.sheets.map_tests(kept, there)

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
        snapshot = self._useless = self.sheets.snapshot(self.lane.name)
        if snapshot is not None and self.sheets.count(self.lane.branches, upto=snapshot.last) == snapshot.sheets:
            try:
                orderer, self._useless = Orderer.load(snapshot.state), None
                return orderer, snapshot.last, snapshot.sheets
            except ValueError:
                pass  # another version's state: what it was made from is still there
        return Orderer(), None, 0

    def _catch_up(self) -> None:
        """A long history is kept as it is learned: whoever is ended on the way has not worked for nothing."""
        kept_at, unkept = _CLOCK(), 0
        for sheet in self.sheets.read(self.lane.branches, after=self._last):
            self.orderer.learn(sheet)
            self._last = sheet.key
            self._count += 1
            unkept += 1
            if _CLOCK() > kept_at + _KEPT_EVERY_SECONDS:
                self._keep(sheet.key)
                kept_at, unkept = _CLOCK(), 0
        if unkept and self._last is not None:
            self._keep(self._last)

    def _keep(self, last: SheetKey) -> None:
        try:
            self.sheets.keep(self.lane.name, Snapshot(self._count, last, self.orderer.dump()), self._useless)
        except Busy as error:  # it is learned again next time
            self.notes.append(f"what was learned was not kept ({error})")

    def _failing(self, tests: Sequence[str]) -> frozenset[str]:
        """Those that failed when they ran last, whichever run that was."""
        columns = self.orderer.columns
        streaks = columns.streak[columns.places(tests)].tolist()
        return frozenset(test for test, streak in zip(tests, streaks, strict=True) if streak > 0)

    def _recorded_nearness(self, tests: Sequence[str]) -> bytes | None:
        if not self._near:
            return None
        return bytes(
            UNKNOWN_NEARNESS if (near := self._near.get(test)) is None else round(100 * min(1.0, max(0.0, near.value)))
            for test in tests
        )


def finite(seconds: float) -> float:
    """As a sheet takes it: unknown is NaN."""
    return seconds if math.isfinite(seconds) and seconds >= 0 else math.nan
