"""A visit follows the tests that fail to where they first go another way than when they passed.

That runs them three times more, twice as they were at a commit where they passed. So few of them are followed, within a
small share of the budget, and only where such a commit is known and the code has changed since.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from whet.bootstrap.lane import find_lane
from whet.bootstrap.remembering import FleetMemory
from whet.bootstrap.same_cause import failures_of
from whet.bootstrap.site import Site
from whet.core.errors import RefusedInput
from whet.core.sheets import Sheet, Sheets
from whet.memory.failures import Turn
from whet.memory.failures_triage import failure_of
from whet.memory.failures_turning import measured
from whet.tools.budget import Budget
from whet.tools.process import Limits
from whet.tools.turning import ImportedByMany, Told, turns_of_any

# Of a visit's budget; a visit that has less than twice as much left follows nothing.
SHARE = 0.05
RUNS = 3
PASSED = "p"
# So many of the newest runs that name their commit.
LOOKED_AT = 20


class Passed(NamedTuple):
    commit: str
    at: datetime
    tests: tuple[str, ...]


def last_passed(site: Site, sheets: Sheets, tests: Collection[str], version: str) -> Passed | None:
    """The newest run, of other code than this, in which most of these passed: what passes by chance passes in any.
    Its commit is where it began: with work that is not committed it may have been other code, so whoever follows looks
    whether they pass there."""
    best: Passed | None = None
    for sheet in _newest(site, sheets):
        outcomes = dict(zip(sheet.tests, sheet.outcomes, strict=True))
        passed = tuple(test for test in tests if outcomes.get(test) == PASSED)
        if sheet.code_version != version and len(passed) > (0 if best is None else len(best.tests)):
            best = Passed(str(sheet.commit), sheet.at, passed)
        if best is not None and len(best.tests) == len(tests):
            break
    return best


def _newest(site: Site, sheets: Sheets) -> Iterator[Sheet]:
    branches, before = find_lane(site.project.root).branches, None
    for _ in range(LOOKED_AT):
        sheet = sheets.latest(branches, committed=True, before=before)
        if sheet is None:
            return
        yield sheet
        before = sheet.key


@dataclass
class Following:
    """Implements `whet.fleet.recalling.Follow`."""

    site: Site
    memory: FleetMemory
    _spent: float = field(default=0.0, init=False)

    def __call__(self, tests: Sequence[str], budget: Budget) -> Mapping[str, Turn]:
        version = self.site.project.code_version()
        known = self._known(tests[: self.site.settings.memory.follow], version)
        new = [test for test, turn in known.items() if turn is None]
        return {test: turn for test, turn in {**known, **self._followed(new, version, budget)}.items() if turn}

    def _known(self, tests: Sequence[str], version: str) -> dict[str, Turn | None]:
        """None where it was not followed on this code."""
        found = {test: failures_of(self.memory, test) for test in tests}
        return {
            test: next((failure_of(each).turned for each in known if each.about.get("followed") == version), None)
            for test, known in found.items()
        }

    def _followed(self, tests: Sequence[str], version: str, budget: Budget) -> Mapping[str, Turn | None]:
        seconds = SHARE * budget.total_seconds - self._spent
        if not tests or seconds < RUNS or budget.left() < 2 * seconds:
            return {}
        passed = last_passed(self.site, self.memory.store.sheets, tests, version)
        if passed is None:
            return {}
        begun = time.monotonic()
        try:
            told = self._turns(passed, begun + seconds)
        except RefusedInput:  # that commit is gone, or they do not pass there, or not in this time
            return {}
        finally:
            self._spent += time.monotonic() - begun
        return {test: measured(found) for test, found in told.items()}

    def _turns(self, passed: Passed, until: float) -> Mapping[str, Told]:
        def followed(tests: Sequence[str]) -> Mapping[str, Told]:
            seconds = max(1.0, (until - time.monotonic()) / RUNS)
            limits = Limits(timeout_seconds=seconds, memory_mb=self.site.settings.limits.memory_mb)
            return turns_of_any(self.site.project, self.site.python, tests, passed.commit, limits)

        try:
            return followed(passed.tests)
        except ImportedByMany as many:
            return followed(_of_one_file(many.failing))


def _of_one_file(tests: Sequence[str]) -> list[str]:
    """Of the one that most of them are in."""
    files = [test.partition("::")[0] for test in tests]
    most = max(files, key=files.count)
    return [test for test, file in zip(tests, files, strict=True) if file == most]
