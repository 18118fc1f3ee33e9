"""Small recorded histories to score."""

import csv
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.ordering_history import History, read_history


class Execution(NamedTuple):
    cycle: int
    exec_id: int
    test: str
    duration: float
    verdict: int


Fails = Callable[[int, int, random.Random], bool]  # in this cycle, this test


def executions(cycles: int, tests: int, fails: Fails, seed: int = 0, again: float = 0.0) -> list[Execution]:
    """`again` is the chance that a test is executed once more in a cycle."""
    rng, rows = random.Random(seed), list[Execution]()
    for cycle in range(1, cycles + 1):
        for test in range(tests):
            for _ in range(1 + (rng.random() < again)):
                seconds = round(rng.random() * (1 + test), 3)
                rows.append(Execution(cycle, len(rows), f"test_{test}", seconds, int(fails(cycle, test, rng))))
    return rows


def always_the_seventh(cycle: int, test: int, rng: random.Random) -> bool:
    return test == 7


def now_and_then(cycle: int, test: int, rng: random.Random) -> bool:
    """Some tests much more than others, and some cycles none."""
    return cycle % 3 != 0 and rng.random() < (0.4 if test % 5 == 0 else 0.03)


def never(cycle: int, test: int, rng: random.Random) -> bool:
    return False


def written(
    path: Path, rows: Sequence[Execution], names: Sequence[str] = Execution._fields, between: str = ","
) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=between)
        writer.writerow(names)
        writer.writerows(rows)
    return path


def history(path: Path, rows: Sequence[Execution]) -> History:
    return read_history(written(path, rows))
