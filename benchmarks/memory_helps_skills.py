"""What ordering makes of what it remembers, for `memory_helps.py --skills`.

A history's second half, once by an orderer that remembers the first, once by one that begins there. What exploring a
service remembers is measured by `benchmarks/api.py`: `whet again` is a second run that knows the first.
"""

import os
from pathlib import Path
from typing import Any

from benchmarks.ordering_history import History, read_history
from benchmarks.ordering_replay import replay
from benchmarks.ordering_whet import Ours

HISTORIES = Path(os.environ.get("WHET_CI_HISTORY", Path(__file__).parents[2] / "shared" / "data" / "ci_history"))
FIRST_FAILING = 20


def skills(seed: int = 1) -> dict[str, Any]:
    return {path.name: _told(path.name, read_history(path), seed) for path in sorted(HISTORIES.glob("*.csv.gz"))}


def _told(name: str, history: History, seed: int) -> dict[str, Any]:
    middle = len(history.cycles) // 2
    second = history._replace(cycles=history.cycles[middle:])
    first = frozenset(cycle.number for cycle in second.failing[:FIRST_FAILING])
    whole = frozenset(cycle.number for cycle in second.failing)
    runs = {"without": replay(second, Ours, "full", seed), "with": replay(history, Ours, "full", seed)}
    told = {
        part: {how: (run.mean(cycles) or {}).get("napfd") for how, run in runs.items()}
        for part, cycles in (("first failing runs", first), ("all failing runs", whole))
    }
    print(f"ordering, {name}: NAPFD {told}", flush=True)
    return told
