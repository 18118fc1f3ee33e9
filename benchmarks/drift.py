"""How often drift is seen where there is none, and how late where there is. `python benchmarks/drift.py [--json OUT]`.

Everything goes through `DriftWatch`, as experiences of the test-executor, one run each. Stable streams: outcomes drawn
from the recorded worlds by chance or by a policy that learns, and rewards and states of known distributions, neighbours
that resemble each other included. Planted drifts begin at run 400; told is how many runs later they are seen. At last:
what a policy gives away after its actions pay something else, with exploration reopened and without.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.drift_streams import BEGIN, CHANGED, RESEMBLING, STABLE, Stream
from benchmarks.drift_worlds import CHANGES, after_a_change, recorded

from whet.agents.catalogue import AGENTS
from whet.improvement.drift import DriftWatch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--streams", type=int, default=200, help="of each kind")
    parser.add_argument("--runs", type=int, default=1000, help="in a stable stream")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument(
        "--first-seed", type=int, default=5000, help="the choices in the code were made with those below"
    )
    given = parser.parse_args()
    told = {name: _told(name, TABLES[name](given, _seeds(given))) for name in given.only}
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n")


def _seeds(given: argparse.Namespace) -> range:
    return range(given.first_seed, given.first_seed + given.streams)


def _told(table: str, rows: Iterator[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    print(f"\n{table.replace('_', ' ')}", flush=True)
    told = {}
    for name, figures in rows:
        print(f"  {name:44}", "  ".join(f"{key} {_shown(value)}" for key, value in figures.items()), flush=True)
        told[name] = figures
    return told


def _stable(given: argparse.Namespace, seeds: range) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, _alarms(make, seeds, given.runs)) for name, make in STABLE.items())


def _recorded(given: argparse.Namespace, seeds: range) -> Iterator[tuple[str, dict[str, Any]]]:
    some = seeds[: max(1, len(seeds) // 4)]
    yield from ((name, _alarms(make, some, given.runs)) for name, make in recorded().items())


def _resembling(given: argparse.Namespace, seeds: range) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, _alarms(make, seeds, given.runs)) for name, make in RESEMBLING.items())


def _planted(_given: argparse.Namespace, seeds: range) -> Iterator[tuple[str, dict[str, Any]]]:
    some = seeds[: max(1, len(seeds) // 2)]
    yield from ((name, _delays(make, some)) for name, make in CHANGED.items())


def _lives(_given: argparse.Namespace, seeds: range) -> Iterator[tuple[str, dict[str, Any]]]:
    for change, policy, reopens in product(CHANGES, ("thompson", "epsilon-greedy"), (False, True)):
        name = f"{change}, {policy}{', reopened' if reopens else ''}"
        yield name, after_a_change(change, policy, reopens, seeds[:20])


TABLES = {
    "false_alarms": _stable,
    "false_alarms_in_recorded_worlds": _recorded,
    "false_alarms_with_resembling_neighbours": _resembling,
    "delays": _planted,
    "after_a_change_of_what_actions_pay": _lives,
}


def _first(stream: Iterator[Any], kind: str | None = None) -> int | None:
    watch = DriftWatch(AGENTS)
    for run, experience in enumerate(stream):
        if any(kind in (None, drift.kind) for drift in watch.observe(experience)):
            return run
    return None


def _alarms(make: Stream, seeds: range, runs: int) -> dict[str, float | int]:
    alarmed = sum(_first(make(np.random.default_rng(seed), runs)) is not None for seed in seeds)
    return {"streams": len(seeds), "alarmed": alarmed / len(seeds)}


def _delays(make: Callable[..., Any], seeds: range) -> dict[str, float | int | None]:
    found = [_first(make(np.random.default_rng(seed), BEGIN + 600)) for seed in seeds]
    late = [run - BEGIN for run in found if run is not None and run >= BEGIN]
    early = sum(run is not None and run < BEGIN for run in found)
    return {
        "streams": len(seeds),
        "seen": len(late) / (len(seeds) - early) if early < len(seeds) else None,
        "median_delay": float(np.median(late)) if late else None,
        "late_delay_90": float(np.quantile(late, 0.9)) if late else None,
    }


def _shown(value: float | int | None) -> str:
    return "never" if value is None else f"{value:.3g}"


if __name__ == "__main__":
    main()
