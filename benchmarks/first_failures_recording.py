"""What each commit of a history does to the suite: one plain run, and what real pytest-testmon would run of it.

Records are JSON lines, one per pair of commits, so that an interrupted recording goes on where it stopped.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.first_failures_history import HERE, History, Pair, checkout, suites_python

PLAIN = ("-p", "no:cacheprovider", "-p", "no:testmon")
TESTMON = ("--testmon",)
TESTMON_DATA = ".testmondata"
TIME_LIMIT_FACTOR = 5


class Verdict(NamedTuple):
    letter: str
    seconds: float

    @property
    def failed(self) -> bool:
        return self.letter in "fe"


class Told(NamedTuple):
    """One pytest run: the tests in the order they stood after collection, and the verdicts of those that ran."""

    collected: list[str]
    broken: list[str]  # could not be collected
    ran: dict[str, Verdict]


class Recorded(NamedTuple):
    """One mutation: None where the run took longer than its limit."""

    pair: Pair
    plain: Told | None
    testmon: Told | None  # what testmon chooses that knows one green run of the base; only where it is scored

    @property
    def scored(self) -> bool:
        """The suite could be collected, ran to its end, and some test failed."""
        return self.plain is not None and not self.plain.broken and any(v.failed for v in self.plain.ran.values())


class Recording(NamedTuple):
    base: Told  # a plain run of the green suite
    pairs: list[Recorded]


class Suite:
    """The suite of one history in a checkout of its own, run by real pytest processes."""

    def __init__(self, work: Path, history: History, name: str, python: Path | None = None) -> None:
        self.history = history
        self.root = history.folder / name
        self.python = python or suites_python(work)
        self.out = history.folder / f"{name}.told.json"
        if not self.root.exists():
            subprocess.run(["git", "clone", "-q", "--local", history.repo, self.root], check=True)
            shutil.copy(history.repo / ".git" / "info" / "exclude", self.root / ".git" / "info" / "exclude")

    def command(self, options: Sequence[str]) -> list[str]:
        return [str(self.python), "-m", "pytest", "-q", "--no-header", *options, self.history.project.tests]

    def run(self, options: Sequence[str], limit_seconds: float) -> Told | None:
        """None: it took longer than the limit."""
        self.out.unlink(missing_ok=True)
        ended = run(self.command((*options, "-p", "first_failures_probe")), self.root, self._environ(), limit_seconds)
        if ended is None:
            return None
        if not self.out.exists():
            raise RuntimeError(f"pytest in {self.root} told nothing:\n{ended}")
        told = json.loads(self.out.read_text())
        return Told(told["collected"], told["broken"], {t: Verdict(*v) for t, v in told["ran"].items()})

    def _environ(self) -> dict[str, str]:
        plugins = self.history.folder / "plugins"
        plugins.mkdir(exist_ok=True)
        shutil.copy(HERE / "first_failures_probe.py", plugins)
        return clean_environ(self, FIRST_FAILURES_OUT=str(self.out), extra_path=str(plugins))


def clean_environ(suite: Suite, extra_path: str = "", **more: str) -> dict[str, str]:
    paths = [str(suite.root / suite.history.project.import_root), *([extra_path] if extra_path else [])]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV", "WHET_"))}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        **more,
    }


def run(command: Sequence[str], folder: Path, environ: dict[str, str], limit_seconds: float) -> str | None:
    """The process's output; None when it had to be ended after the limit, with everything it started."""
    process = subprocess.Popen(
        ["nice", "-n", "10", *command], cwd=folder, env=environ, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    try:
        return process.communicate(timeout=limit_seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None


def record(work: Path, history: History, log: Any = print) -> None:
    """Record what is not recorded yet."""
    suite = Suite(work, history, "recording")
    _warm(suite)
    base = _base(suite)
    limit = TIME_LIMIT_FACTOR * base["wall_seconds"]
    path = history.folder / "recorded.jsonl"
    done = len(path.read_text().splitlines()) if path.exists() else 0
    for pair in history.pairs[done:]:
        line = _recorded(suite, pair, limit)
        with path.open("a") as lines:
            lines.write(json.dumps(line) + "\n")
        if pair.number % 20 == 19:
            log(f"{history.project.name}: {pair.number + 1} of {len(history.pairs)} recorded", flush=True)


def load(history: History) -> Recording:
    """What was recorded so far, with each test's usual duration."""
    base = _told(json.loads((history.folder / "base.json").read_text())["plain"])
    assert base is not None
    known = {pair.mutated: pair for pair in history.pairs}
    lines = map(json.loads, (history.folder / "recorded.jsonl").read_text().splitlines())
    pairs = [
        Recorded(known[p["mutated"]], _told(p["plain"]), _told(p["testmon"])) for p in lines if p["mutated"] in known
    ]
    return _usual(Recording(base, pairs))


def _usual(recording: Recording) -> Recording:
    """What a test that did not fail took, as the median over all such runs: most take less than a millisecond, and
    what one run shows of those is how busy the machine was. How long a failing one takes depends on the mutation."""
    told = [recording.base, *(pair.plain for pair in recording.pairs if pair.plain is not None)]
    seen: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in told:
        for test, verdict in one.ran.items():
            seen[test, verdict.letter].append(verdict.seconds)
    usual = {key: statistics.median(seconds) for key, seconds in seen.items()}

    def timed(one: Told) -> Told:
        calm = {t: v if v.failed else Verdict(v.letter, usual[t, v.letter]) for t, v in one.ran.items()}
        return one._replace(ran=calm)

    pairs = [p._replace(plain=None if p.plain is None else timed(p.plain)) for p in recording.pairs]
    return Recording(timed(recording.base), pairs)


def _warm(suite: Suite) -> None:
    """Compile the base once. Later runs write no byte code, and a file that a checkout writes is newer than this."""
    checkout(suite.root, suite.history.base)
    environ = clean_environ(suite)
    del environ["PYTHONDONTWRITEBYTECODE"]
    run(suite.command(PLAIN), suite.root, environ, 600)


def _base(suite: Suite) -> dict[str, Any]:
    path = suite.history.folder / "base.json"
    if not path.exists():
        started = time.perf_counter()
        plain = suite.run(PLAIN, 600)
        wall_seconds = time.perf_counter() - started
        assert plain is not None
        assert not plain.broken, plain.broken
        assert not any(v.failed for v in plain.ran.values()), "the released suite is not green here"
        suite.run(TESTMON, 600)
        shutil.copy(suite.root / TESTMON_DATA, _kept(suite))
        path.write_text(json.dumps({"wall_seconds": wall_seconds, "plain": plain}))
    told: dict[str, Any] = json.loads(path.read_text())
    return told


def _recorded(suite: Suite, pair: Pair, limit: float) -> dict[str, Any]:
    checkout(suite.root, pair.mutated)
    plain = suite.run(PLAIN, limit)
    testmon = _testmon(suite, limit) if Recorded(pair, plain, None).scored else None
    return {"mutated": pair.mutated, "plain": plain, "testmon": testmon}


def _testmon(suite: Suite, limit: float) -> Told | None:
    """What real testmon selects, and in which order, with its data of the tree before the mutation: the base."""
    for file in suite.root.glob(TESTMON_DATA + "*"):
        file.unlink()
    shutil.copy(_kept(suite), suite.root / TESTMON_DATA)
    return suite.run((*TESTMON, "--collect-only"), limit)


def _kept(suite: Suite) -> Path:
    return suite.history.folder / "base.testmondata"


def _told(told: Any) -> Told | None:
    return None if told is None else Told(told[0], told[1], {t: Verdict(*v) for t, v in told[2].items()})
