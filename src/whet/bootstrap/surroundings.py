"""What a ranking looks at beside the tests: what changed, who executed it, and how near that is to each test."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from whet.core.errors import WhetError
from whet.core.sheets import Executed, Sheet, Sheets
from whet.skills.ordering.proximity import Known, Near, nearness
from whet.tools.changes import Change, change_since
from whet.tools.imports import import_graph

T = TypeVar("T")
_READ_BYTES = 5_000_000


class Surroundings(NamedTuple):
    whole: Sheet | None = None  # the newest run of everything
    change: Change | None = None
    executed: Sequence[Executed] = ()  # of the files that changed
    mapped: Mapping[str, int] = {}

    def unmapped(self, tests: Sequence[str]) -> set[str]:
        """Tests whose lines are not known, or were learned before what they executed changed."""
        return {test for test in tests if test not in self.mapped} | {one.test for one in self.executed}


class Lookout:
    """What cannot be seen is noted, and ordering goes on without it."""

    def __init__(
        self,
        root: Path,
        sheets: Sheets,
        branches: Collection[str | None],
        changed_since: str | None,
        notes: list[str],
    ) -> None:
        self._root, self._sheets, self._branches = root, sheets, branches
        self._changed_since = changed_since
        self._notes = notes

    def look_around(self) -> Surroundings:
        """Needs no tests, so that it can be done while they are collected."""
        whole = self._sheets.latest(self._branches, complete=True)
        change = self._or_note(lambda: change_since(self._root, self._base(whole)), "what changed is not known")
        if change is None and any((folder / ".git").exists() for folder in (self._root, *self._root.parents)):
            self._notes.append("what changed is not known: git does not answer here (`git status` says why)")
        executed = self._sheets.executed(list(change.files)) if change is not None else []
        return Surroundings(whole, change, executed, self._sheets.mapped())

    def nearness(self, tests: Sequence[str], around: Surroundings, seconds: Mapping[str, float]) -> dict[str, Near]:
        """`seconds`: what each test is expected to take."""
        change = around.change
        if change is None or not change.files:
            return {}
        known = Known(
            executed=around.executed,
            source=self._sheets.source,
            mapped=around.mapped,
            read=lambda file: read_file(self._root, file),
            imports=lambda: import_graph(self._root),
            seconds=seconds,
        )
        return self._or_note(lambda: nearness(tests, change, known), "nearness to the change is not known") or {}

    def _base(self, whole: Sheet | None) -> str | None:
        """The commit of the last run of everything: what later selections left out was not tried on the change yet."""
        if self._changed_since is not None or whole is None:
            return self._changed_since
        if whole.commit is None:  # results from a file may know none
            whole = self._sheets.latest(self._branches, complete=True, committed=True)
        return None if whole is None else whole.commit

    def _or_note(self, work: Callable[[], T], lost: str) -> T | None:
        try:
            return work()
        except (WhetError, OSError, ValueError, RecursionError, NotImplementedError) as error:
            self._notes.append(f"{lost} ({type(error).__name__}: {error})")
            return None


def read_file(root: Path, file: str) -> bytes | None:
    """None where it is missing, or more than is kept."""
    path = root / file
    try:
        return path.read_bytes() if path.stat().st_size <= _READ_BYTES else None
    except OSError:
        return None
