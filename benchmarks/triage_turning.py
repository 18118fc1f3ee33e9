"""Where a failing test first went another way than when it passes: followed twice without the mutant, then with it."""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.triage_suite import Suite

IMPORTING = ""


def turns(suite: Suite, mutant: dict[str, Any], tests: list[str], limit_seconds: float) -> dict[str, Any]:
    """By test: empty where it went the same way throughout, None where it was not followed to the end. All runs have
    the same tests, so that what one test leaves behind for the next is the same."""
    with tempfile.TemporaryDirectory() as folder:
        plan, out = Path(folder) / "turning.json", Path(folder) / "turns.json"
        for mode in ("keep", "steady"):
            _write(plan, suite, mode)
            suite.run(tests, limit_seconds, turning=plan)
        _write(plan, suite, "compare")
        with suite.mutated(mutant):
            told = suite.run(tests, limit_seconds, turning=plan)
        turned: dict[str, Any] = json.loads(out.read_text()) if told is not None and out.exists() else {}
    imported = turned.pop(IMPORTING, None)
    return {test: imported or turn for test, turn in turned.items()}


def _write(plan: Path, suite: Suite, mode: str) -> None:
    (plan.parent / "events").mkdir(exist_ok=True)
    told = {
        "root": str(suite.repo),
        "sources": [str(suite.repo / source) for source in suite.sources()],
        "events": str(plan.parent / "events"),
        "mode": mode,
        "out": str(plan.parent / "turns.json"),
    }
    plan.write_text(json.dumps(told))
