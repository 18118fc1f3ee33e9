"""What the pytest plugin costs, unused and used: `python benchmarks/plugin.py [--json OUT]`.

Unused: pytest on one empty test with the plugin installed and with it switched off, in turn, medians, beside the
difference between two measurements of the same. Used: what
`--whet` adds to collecting 10,000 tests with 1,000 runs of history, its peak memory, and the same with a tenth of
the tests, to show how it grows. Compiled modules are kept, as they are wherever Whet is installed. Medians; `best` is
the difference of the quickest runs of either kind, which tells more on a machine that does other things meanwhile.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from whet.bootstrap.ordering import open_ordering
from whet.core.sheets import Sheet

_TESTS_PER_FILE = 100


class Spent(NamedTuple):
    wall: float
    processor: float
    megabytes: float  # at most, by pytest's own process
    megabytes_beside: float  # and by the one beside it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    figures = _unused(arguments.rounds)
    for tests in (arguments.tests // 10, arguments.tests):
        figures.update(_used(tests, arguments.runs, max(3, arguments.rounds // 3)))
    for name, value in figures.items():
        print(f"{name:48} {value:10.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _unused(rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pytest.ini").write_text("[pytest]\n")
        (root / "test_one.py").write_text("def test_nothing(): pass\n")
        off = ["-p", "no:whet"]
        spent = _in_turn(root, {"without": off, "with": [], "with again": [], "without again": off}, rounds)
    without, with_plugin = ([*spent[name], *spent[f"{name} again"]] for name in ("without", "with"))
    # The same thing measured twice: what is smaller than this difference was not measured.
    noise = abs(_median(spent["without"]).wall - _median(spent["without again"]).wall)
    return {
        "pytest_without_plugin_seconds": _median(without).wall,
        "pytest_with_plugin_unused_seconds": _median(with_plugin).wall,
        "unused_plugin_milliseconds": (_median(with_plugin).wall - _median(without).wall) * 1000,
        "unused_plugin_milliseconds_noise": noise * 1000,
        "unused_plugin_processor_milliseconds": (_processor(with_plugin) - _processor(without)) * 1000,
    }


def _processor(spent: list[Spent]) -> float:
    """The mean, since the system counts in steps of ten milliseconds."""
    return statistics.mean(one.processor for one in spent)


def _used(tests: int, runs: int, rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        root = _suite(Path(folder), tests)
        started = time.perf_counter()
        _history(root, tests, runs)
        learning = time.perf_counter() - started
        ways = {"plain": ["--collect-only", "-qq", "-p", "no:whet"], "whet": ["--collect-only", "-qq", "--whet"]}
        _in_turn(root, ways, 1)  # once for the caches of Python and of the disk
        spent = _in_turn(root, ways, rounds)
        plain, ordered = (_median(spent[name]) for name in ways)
        best = {name: min(one.wall for one in spent[name]) for name in ways}
    return {
        f"{tests}_tests_learning_{runs}_runs_seconds": learning,
        f"{tests}_tests_collecting_plain_seconds": plain.wall,
        f"{tests}_tests_collecting_whet_seconds": ordered.wall,
        f"{tests}_tests_added_seconds": ordered.wall - plain.wall,
        f"{tests}_tests_added_seconds_best": best["whet"] - best["plain"],
        f"{tests}_tests_added_processor_seconds": ordered.processor - plain.processor,
        f"{tests}_tests_added_in_pytest_mb": ordered.megabytes - plain.megabytes,
        f"{tests}_tests_beside_pytest_mb": ordered.megabytes_beside,
    }


def _suite(root: Path, tests: int) -> Path:
    (root / "pytest.ini").write_text("[pytest]\n")
    for file in range(tests // _TESTS_PER_FILE):
        body = "".join(f"def test_{number}(): pass\n" for number in range(_TESTS_PER_FILE))
        (root / f"test_{file}.py").write_text(body)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "suite"]):
        subprocess.run([*git, *command], cwd=root, check=True, capture_output=True)
    return root


def _history(root: Path, tests: int, runs: int) -> None:
    """Runs in which a few tests fail, some of them often; learned as `pytest --whet` would have."""
    draw = random.Random(7)
    names = [f"test_{n // _TESTS_PER_FILE}.py::test_{n % _TESTS_PER_FILE}" for n in range(tests)]
    often = draw.sample(range(tests), tests // 50)
    seconds = [draw.expovariate(20) for _ in names]
    first = datetime.now(UTC) - timedelta(hours=runs)

    def run(number: int) -> Sheet:
        failed = {draw.choice(often) for _ in range(draw.randrange(4))}
        outcomes = "".join("f" if place in failed else "p" for place in range(tests))
        at = first + timedelta(hours=number)
        return Sheet(f"run-{number}", at, "pytest", names, outcomes, seconds, branch="main")

    with open_ordering(root) as ordering:
        for start in range(0, runs, 50):
            ordering.sheets.add(run(number) for number in range(start, min(runs, start + 50)))
    with open_ordering(root):
        pass  # learns from what was added, and keeps the snapshot


def _in_turn(root: Path, ways: dict[str, list[str]], rounds: int) -> dict[str, list[Spent]]:
    spent: dict[str, list[Spent]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, arguments in ways.items():
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
            spent[name].append(_watched(command, root))
    return spent


def _watched(command: list[str], root: Path) -> Spent:
    before, started = os.times(), time.perf_counter()
    own = beside = 0.0
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=root, env=_environment(), stdout=silent, stderr=silent) as process:
        while process.poll() is None:
            own = max(own, _peak_megabytes(process.pid))
            beside = max([beside, *map(_peak_megabytes, _children(process.pid))])
            time.sleep(0.005)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(time.perf_counter() - started, processor, own, beside)


@cache
def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "whet-benchmark-bytecode")}


def _peak_megabytes(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peaks[0]) / 1024 if peaks else 0.0


def _children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _median(spent: list[Spent]) -> Spent:
    return Spent(*(statistics.median(column) for column in zip(*spent, strict=True)))


if __name__ == "__main__":
    main()
