"""A sheet's results as columns of numbers: checked once, packed small, the same bytes on every machine."""

import hashlib
import sys
from array import array
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from operator import sub
from typing import NamedTuple, Self, TypeVar

from whet.core.errors import RefusedInput
from whet.core.sheets import OUTCOMES, UNKNOWN_NEARNESS, Sheet

N = TypeVar("N", "array[int]", "array[float]")

_LETTERS = frozenset(OUTCOMES)
_NEARNESSES = bytes((*range(101), UNKNOWN_NEARNESS))
_LONGEST_SECONDS = 1e9  # thirty years; no run takes as long, and it fits four bytes
_NUMBER, _SECONDS = 4, 4  # bytes


class Columns(NamedTuple):
    """`numbers` are places in some list of names; which one, the owner knows."""

    numbers: "array[int]"
    outcomes: str
    seconds: "array[float]"
    nearness: bytes | None

    def packed(self) -> bytes:
        """Numbers as steps from one to the next: suites mostly run in one order, and equal steps pack to nothing."""
        steps = array("i", map(sub, self.numbers, (0, *self.numbers)))
        return b"".join((_little(steps), self.outcomes.encode(), _little(self.seconds), self.nearness or b""))

    @classmethod
    def unpacked(cls, packed: bytes, results: int) -> Self:
        """ValueError when it is not what `packed` made."""
        letters, seconds = results * _NUMBER, results * (_NUMBER + 1)
        nearness = seconds + results * _SECONDS
        if len(packed) not in (nearness, nearness + results):
            raise ValueError(f"{len(packed)} bytes cannot be {results} results")
        try:
            numbers = array("i", accumulate(_from_little(array("i"), packed[:letters])))
        except OverflowError as error:
            raise ValueError("a test's number is too large") from error
        outcomes = packed[letters:seconds].decode("ascii")
        return cls(numbers, outcomes, _from_little(array("f"), packed[seconds:nearness]), packed[nearness:] or None)

    def problem(self) -> str | None:
        """Why these can be no run's results."""
        results = len(self.numbers)
        beside = (self.outcomes, self.seconds, *([] if self.nearness is None else [self.nearness]))
        if any(len(column) != results for column in beside):
            return f"its columns are unequal: {results} tests beside {[len(column) for column in beside]} values"
        if wrong := set(self.outcomes) - _LETTERS:
            return f"it has the outcomes {sorted(wrong)!r:.60}; there are {''.join(OUTCOMES)}"
        wrong_seconds = [each for each in self.seconds if not 0.0 <= each <= _LONGEST_SECONDS and each == each]
        if wrong_seconds:
            return f"a test cannot take {wrong_seconds[0]} seconds"
        if self.nearness and self.nearness.translate(None, _NEARNESSES):
            return f"nearness is 0 to 100, or {UNKNOWN_NEARNESS} where it is unknown"
        return None

    def at_places(self, places: Sequence[int]) -> Self:
        return type(self)(
            array("i", (self.numbers[place] for place in places)),
            "".join(self.outcomes[place] for place in places),
            array("f", (self.seconds[place] for place in places)),
            None if self.nearness is None else bytes(self.nearness[place] for place in places),
        )


class Filed(NamedTuple):
    """A checked sheet: `head` is the sheet without its columns, `content` a digest of all of it."""

    head: Sheet
    columns: Columns
    content: str


def filed(sheet: Sheet, places: dict[str, int]) -> Filed:
    """Checks a sheet. `places` numbers the names of all sheets that are filed together."""
    numbers = array("i", [places.setdefault(test, len(places)) for test in sheet.tests])
    columns = Columns(numbers, sheet.outcomes, _four_bytes(sheet), sheet.nearness or None)
    refuse(sheet.id, columns.problem() or _time_problem(sheet.at))
    tests = sheet.tests
    if len(last := last_places(tests)) < len(tests):
        columns, tests = columns.at_places(last), [tests[place] for place in last]
    head = sheet._replace(at=sheet.at.astimezone(UTC), tests=(), outcomes="", seconds=(), nearness=None)
    return Filed(head, columns, content_digest(head, tests, columns))


def refuse(sheet_id: str, problem: str | None) -> None:
    if problem is not None:
        raise RefusedInput(
            f"The sheet {sheet_id[:60]!r} was refused, and nothing was changed: {problem}.",
            "Correct the values where they are measured.",
        )


def last_places(tests: Sequence[str]) -> Sequence[int]:
    """Where each test stands last. A test that ran several times counts with its last outcome."""
    if len(set(tests)) == len(tests):
        return range(len(tests))
    return sorted({test: place for place, test in enumerate(tests)}.values())


def content_digest(head: Sheet, tests: Iterable[str], columns: Columns) -> str:
    told = (head.id, head.at.isoformat(), head.source, head.branch, head.commit, head.code_version, head.complete)
    digest = hashlib.sha256(repr(told).encode())
    digest.update("\0".join(tests).encode("utf-8", "surrogatepass"))
    digest.update(b"".join((columns.outcomes.encode(), _little(columns.seconds), columns.nearness or b"")))
    return digest.hexdigest()


def _four_bytes(sheet: Sheet) -> "array[float]":
    try:
        return array("f", sheet.seconds)
    except (TypeError, OverflowError) as error:
        refuse(sheet.id, f"its seconds are no numbers ({error})")
        raise


def _time_problem(at: datetime) -> str | None:
    if at.tzinfo is None:
        return f"its time {at} has no time zone"
    try:
        at.astimezone(UTC)
    except OverflowError:
        return f"its time {at} is outside of the calendar"
    return None


def _little(numbers: "array[int] | array[float]") -> bytes:
    if sys.byteorder == "little":
        return numbers.tobytes()
    swapped = numbers[:]
    swapped.byteswap()
    return swapped.tobytes()


def _from_little(numbers: N, packed: bytes) -> N:
    numbers.frombytes(packed)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers
