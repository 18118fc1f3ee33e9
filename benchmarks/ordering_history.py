"""Recorded CI verdicts: CSV, plain or gzipped, in one of the three dialects they are published in.

- `cycle,exec_id,test,duration,verdict[,time]`
- RETECS: `Id;Name;Duration;…;Verdict;Cycle`
- COLEMAN: the same with `BuildId` for the cycle

One row is one execution; a test may be executed several times in a cycle. Verdict 1 (any positive number): failed.
"""

import csv
import gzip
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from whet.core.errors import RefusedInput
from whet.skills.ordering.metrics import Flags, Seconds

Tests = npt.NDArray[np.intp]  # of each execution, the position of its test among the history's tests
_DIALECTS = (
    ("cycle", "exec_id", "test", "duration", "verdict"),
    ("BuildId", "Id", "Name", "Duration", "Verdict"),
    ("Cycle", "Id", "Name", "Duration", "Verdict"),
)
# Published histories keep whole lists of earlier verdicts in one field.
csv.field_size_limit(10**9)


class Cycle(NamedTuple):
    """One run of the suite, by execution."""

    number: int
    tests: Tests
    seconds: Seconds
    failed: Flags


class History(NamedTuple):
    name: str
    tests: tuple[str, ...]
    cycles: tuple[Cycle, ...]

    @property
    def failing(self) -> list[Cycle]:
        return [cycle for cycle in self.cycles if cycle.failed.any()]

    def first_failures(self) -> frozenset[int]:
        """The numbers of the failing cycles in which no failing test had failed before."""
        known: set[int] = set()
        numbers = set()
        for cycle in self.failing:
            failing = set(cycle.tests[cycle.failed].tolist())
            if known.isdisjoint(failing):
                numbers.add(cycle.number)
            known |= failing
        return frozenset(numbers)


class _Row(NamedTuple):
    cycle: int
    test: str
    seconds: float
    failed: bool


def read_history(path: Path) -> History:
    try:
        with _opened(path) as file:
            rows = list(_rows(file, path))
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise RefusedInput(f"{path} cannot be read: {error}.", "Give a CSV file, plain or gzipped (.gz).") from error
    if not rows:
        raise RefusedInput(f"{path} has no executions.", "One row stands for one execution of one test.")
    return _history(path.name.removesuffix(".gz").removesuffix(".csv"), rows)


def _opened(path: Path) -> TextIO:
    return gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")


def _rows(file: TextIO, path: Path) -> Iterator[_Row]:
    head = file.readline()
    file.seek(0)
    reader = csv.DictReader(file, delimiter=";" if head.count(";") > head.count(",") else ",")
    names = [name.strip() for name in reader.fieldnames or ()]
    dialect = next((d for d in _DIALECTS if set(d) <= set(names)), None)
    if dialect is None:
        allowed = " or ".join(",".join(d) for d in _DIALECTS)
        raise RefusedInput(f"{path} has the columns {', '.join(names) or 'of nothing'}.", f"It needs {allowed}.")
    reader.fieldnames = names
    for row in reader:
        yield _row(row, dialect, f"{path}, line {reader.line_num}")


def _row(row: Mapping[str, str], dialect: tuple[str, ...], where: str) -> _Row:
    cycle, _, test, duration, verdict = (row[name] for name in dialect)
    try:
        read = _Row(int(float(cycle)), test, float(duration), float(verdict) > 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise RefusedInput(f"{where}: {error}.", "Cycle, duration and verdict are numbers.") from error
    if not 0.0 <= read.seconds < math.inf:
        raise RefusedInput(f"{where}: a duration of {duration}.", "Durations are finite and not negative.")
    return read


def _history(name: str, rows: list[_Row]) -> History:
    codes: dict[str, int] = {}
    by_cycle: dict[int, list[_Row]] = defaultdict(list)
    for row in rows:
        codes.setdefault(row.test, len(codes))
        by_cycle[row.cycle].append(row)
    return History(name, tuple(codes), tuple(_cycle(n, by_cycle[n], codes) for n in sorted(by_cycle)))


def _cycle(number: int, rows: list[_Row], codes: Mapping[str, int]) -> Cycle:
    return Cycle(
        number,
        np.array([codes[row.test] for row in rows], dtype=np.intp),
        np.array([row.seconds for row in rows]),
        np.array([row.failed for row in rows], dtype=np.bool_),
    )
