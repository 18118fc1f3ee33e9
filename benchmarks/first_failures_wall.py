"""Real `pytest -x` processes at mutated commits, end to end: what ordering gains after what it costs.

Every tool keeps its own state from one green run of the base, in a checkout of its own, and finds that state again
before each commit, as after a revert and a green run. Tools take turns at each commit, so that a busy machine is busy
for all of them.
"""

import random
import shutil
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.first_failures_history import SEED, History, checkout, suites_python, whet_python
from benchmarks.first_failures_recording import Recorded, Recording, Suite, clean_environ, run

LIMIT_SECONDS = 600


class Tool(NamedTuple):
    options: tuple[str, ...]
    first: tuple[str, ...]  # the options of its green run of the base
    state: str | None  # what it keeps, below the root of the checkout
    with_whet: bool = False


NO_TESTMON = ("-p", "no:testmon")
NO_CACHE = ("-p", "no:cacheprovider")
TOOLS = {
    "own": Tool((*NO_TESTMON, *NO_CACHE), (*NO_TESTMON, *NO_CACHE), None),
    "ff": Tool((*NO_TESTMON, "--ff"), NO_TESTMON, ".pytest_cache"),
    "testmon": Tool(("--testmon",), ("--testmon",), ".testmondata"),
    "whet": Tool((*NO_TESTMON, *NO_CACHE, "--whet"), (*NO_TESTMON, *NO_CACHE, "--whet", "--whet-map", "full"),
                 ".whet", with_whet=True),
}  # fmt: skip


class Bench:
    """One tool in one checkout."""

    def __init__(self, work: Path, history: History, name: str, tool: Tool) -> None:
        self._tool = tool
        self._suite = Suite(work, history, f"wall-{name}", (whet_python if tool.with_whet else suites_python)(work))
        self._kept = history.folder / f"wall-{name}.state"
        self._begin()

    def seconds(self, recorded: Recorded) -> float:
        """From start to end of the process, which stops at the first failure."""
        checkout(self._suite.root, self._suite.history.base, branch="main")
        self._restore()
        checkout(self._suite.root, recorded.pair.mutated, branch="main")
        return self._timed(("-x", *self._tool.options))

    def _begin(self) -> None:
        checkout(self._suite.root, self._suite.history.base, branch="main")
        if self._tool.state:
            _remove(self._suite.root / self._tool.state)
        self._timed(self._tool.first)
        if self._tool.state:
            _remove(self._kept)
            _copy(self._suite.root / self._tool.state, self._kept)

    def _restore(self) -> None:
        if self._tool.state:
            for path in self._suite.root.glob(self._tool.state + "*"):
                _remove(path)
            _copy(self._kept, self._suite.root / self._tool.state)

    def _timed(self, options: tuple[str, ...]) -> float:
        command = self._suite.command(options)
        started = time.perf_counter()
        if run(command, self._suite.root, clean_environ(self._suite), LIMIT_SECONDS) is None:
            raise RuntimeError(f"{' '.join(command)} took longer than {LIMIT_SECONDS} s")
        return time.perf_counter() - started


def wall_clock(work: Path, history: History, recording: Recording, commits: int) -> dict[str, Any]:
    scored = [recorded for recorded in recording.pairs if recorded.scored]
    chosen = random.Random(SEED).sample(scored, min(commits, len(scored)))
    benches = {name: Bench(work, history, name, tool) for name, tool in TOOLS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in TOOLS}
    for recorded in chosen:
        for name, bench in benches.items():
            seconds[name].append(bench.seconds(recorded))
    return {
        "commits": len(chosen),
        "mean_seconds": {name: statistics.fmean(values) for name, values in seconds.items()},
        "median_seconds": {name: statistics.median(values) for name, values in seconds.items()},
    }


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _copy(one: Path, other: Path) -> None:
    if one.is_dir():
        shutil.copytree(one, other)
    else:
        shutil.copy(one, other)
