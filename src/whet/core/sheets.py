"""What runs of a suite showed, kept so that ordering can learn from it wherever it was made.

A *sheet* is one run's results by column. Sheets are never changed: a store of sheets is a set, so that
adding the same ones twice, or in another order, gives the same store. What is learned from them is a
fold over the sheets in the order of their keys, and may be kept as a snapshot.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

# One letter per outcome; the order of a sheet's `outcomes`.
OUTCOMES: Mapping[str, str] = {
    "p": "passed",
    "f": "failed",
    "e": "error",
    "s": "skipped",
    "x": "xfailed",
    "X": "xpassed",
    "-": "left out",
}
SKIPPED = "s"
LEFT_OUT = "-"  # in the suite, but a selection did not run it: nothing is known of it
FAILURES = frozenset("fe")
UNKNOWN_NEARNESS = 255


class SheetKey(NamedTuple):
    """Sorts sheets: by time, and by id where times are equal."""

    at: datetime
    id: str


class Sheet(NamedTuple):
    """One run of a suite. `tests`, `outcomes`, `seconds` and, if known, `nearness` have the same length.

    A test stands once in a sheet; when it ran several times, its last outcome counts.
    """

    id: str  # the same id is the same run, wherever it is met
    at: datetime  # with its time zone; when the run began
    source: str  # pytest, visit, junit, allure, qase, pytest-cache
    tests: Sequence[str]
    outcomes: str  # letters of OUTCOMES
    seconds: Sequence[float]  # NaN: not known
    branch: str | None = None
    commit: str | None = None
    code_version: str | None = None
    complete: bool = True  # nothing that was collected was left out
    nearness: bytes | None = None  # 0..100: how near a test was to the change; UNKNOWN_NEARNESS; None: no change known

    @property
    def key(self) -> SheetKey:
        return SheetKey(self.at, self.id)


class Added(NamedTuple):
    sheets: int
    results: int
    known: int  # sheets that were there already


class Snapshot(NamedTuple):
    """What was learned from the `sheets` first sheets of a lane, up to and with `last`."""

    sheets: int
    last: SheetKey
    state: bytes


class Executed(NamedTuple):
    """The lines of one file that one test executed, when the file's content had this digest."""

    test: str
    file: str
    digest: str  # of the content: sha256, hexadecimal
    lines: frozenset[int]


class Sheets(Protocol):
    """Branches: None in a set of branches stands for sheets that name no branch."""

    def add(self, sheets: Iterable[Sheet]) -> Added:
        """All of them or none, in one transaction; ids that are known already change nothing.

        Refuses what is no sheet (columns of unequal length, unknown letters, negative or infinite seconds,
        a time without zone) with a sentence.
        """

    def read(self, branches: Collection[str | None] | None = None, after: SheetKey | None = None) -> Iterator[Sheet]:
        """Those of these branches (None: all), later than `after`, oldest first. Renames are applied."""

    def count(self, branches: Collection[str | None] | None = None, upto: SheetKey | None = None) -> int:
        """How many; with `upto`, those up to and with that key."""

    def latest(
        self,
        branches: Collection[str | None] | None = None,
        *,
        complete: bool = False,
        committed: bool = False,
        before: SheetKey | None = None,
    ) -> Sheet | None:
        """The newest; when `complete`, of those that left nothing out; when `committed`, that name their commit; when
        `before`, of those earlier than that."""

    def branches(self) -> dict[str | None, int]:
        """The branches there are, with the number of their sheets."""

    def snapshot(self, lane: str) -> Snapshot | None: ...

    def keep(self, lane: str, snapshot: Snapshot, instead_of: Snapshot | None = None) -> None:
        """Replaces the lane's snapshot unless the kept one has more sheets and is not `instead_of`, which was found to
        be of no use. What it was made from stays."""

    def rename(self, names: Mapping[str, str]) -> None:
        """Old name → new name, from now on in everything that is read; drops the snapshots, which hold old names."""

    def renamed(self) -> dict[str, str]: ...

    def quarantine(self, test: str, reason: str) -> None: ...

    def release(self, test: str) -> bool:
        """Whether it was in quarantine."""

    def quarantined(self) -> dict[str, str]:
        """By test, the reason."""

    def map_tests(self, lines: Mapping[str, Mapping[str, Collection[int]]], sources: Mapping[str, bytes]) -> None:
        """test → file → lines it executed, and each file's content then. Replaces what was known of these tests;
        other tests keep theirs."""

    def executed(self, files: Collection[str]) -> list[Executed]:
        """Who executed what in these files."""

    def source(self, digest: str) -> bytes | None:
        """The content with this digest, while some test's lines still refer to it."""

    def mapped(self) -> dict[str, int]:
        """The tests whose lines are known, with how many lines each executed in all."""
