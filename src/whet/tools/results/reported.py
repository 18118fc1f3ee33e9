"""What a results file says of one run, before tests get their canonical names."""

from array import array
from collections.abc import Callable
from datetime import datetime, timedelta
from math import isnan
from typing import NamedTuple

# A longer name is no name; it would travel through every table and every screen.
LONGEST_NAME = 4096


class Reported(NamedTuple):
    """A test as a results file names it. Without a class, `name` is all there is."""

    classname: str
    name: str
    file: str = ""


NameOf = Callable[[Reported], str]


class Part:
    """A run, or what one file says of it. Rows stand in the order in which they were executed."""

    __slots__ = ("at", "complete", "dated_by_file", "origin", "outcomes", "seconds", "source", "tests")

    def __init__(self, source: str, origin: str, at: datetime, *, dated_by_file: bool, complete: bool = True) -> None:
        self.source = source
        self.origin = origin  # the file, to be named to people
        self.at = at
        self.dated_by_file = dated_by_file  # no time was stated: `at` is when the file was written
        self.complete = complete
        self.tests: list[Reported] = []
        self.outcomes = bytearray()
        self.seconds = array("d")

    def add(self, test: Reported, outcome: str, seconds: float) -> None:
        self.tests.append(test)
        self.outcomes.append(ord(outcome))
        self.seconds.append(seconds)

    def extend(self, other: "Part") -> None:
        self.tests.extend(other.tests)
        self.outcomes.extend(other.outcomes)
        self.seconds.extend(other.seconds)

    @property
    def span(self) -> tuple[datetime, datetime]:
        """From when to when it ran, by what its tests took; a file is written when they are done."""
        took = timedelta(seconds=sum(s for s in self.seconds if not isnan(s)))
        return (self.at - took, self.at) if self.dated_by_file else (self.at, self.at + took)
