"""Real pytest-testmon, with its data kept current along a history: a run at every failing commit, one after its revert.

Commits that no test fails at are left out: their runs would only bring back the data that were there before.
"""

import json
from pathlib import Path

from benchmarks.first_failures_history import History, checkout
from benchmarks.first_failures_recording import TESTMON, TESTMON_DATA, Suite, Told, load

LIMIT_SECONDS = 600


def follow(work: Path, history: History) -> None:
    """Record what is not recorded yet, one JSON line per failing commit."""
    suite = Suite(work, history, "testmon")
    path = _path(history)
    if not path.exists():
        (suite.root / TESTMON_DATA).unlink(missing_ok=True)
        _run(suite, history.base)
        path.touch()
    done = chosen(history)
    for recorded in load(history).pairs:
        if recorded.scored and recorded.pair.number not in done:
            told = _run(suite, recorded.pair.mutated)
            _run(suite, recorded.pair.reverted)
            with path.open("a") as lines:
                lines.write(json.dumps([recorded.pair.number, told.collected]) + "\n")


def chosen(history: History) -> dict[int, list[str]]:
    """By mutation, the tests that testmon ran, in its order."""
    path = _path(history)
    return dict(json.loads(line) for line in path.read_text().splitlines()) if path.exists() else {}


def _run(suite: Suite, commit: str) -> Told:
    checkout(suite.root, commit)
    told = suite.run(TESTMON, LIMIT_SECONDS)
    if told is None:
        raise RuntimeError(f"testmon at {commit} in {suite.root} took longer than {LIMIT_SECONDS} s")
    return told


def _path(history: History) -> Path:
    return history.folder / "testmon.jsonl"
