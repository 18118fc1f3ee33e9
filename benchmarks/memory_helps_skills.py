"""What skills make of what they remember: `python benchmarks/memory_helps_skills.py [--json OUT] [--seeds N]`.

What `whet api` learned of a service and what ordering knows of tests is their memory. Each way with it and without:

- api, same: a run on the example library, then a second of another seed, on a fresh library. Told are the requests
  until everything was reached that the first run reached.
- api, unrelated: runs on a small shop of the tests, in the store that knows the library and in an empty one.
- ordering: a history's second half, by an orderer that remembers everything before, by one that never remembers a run,
  by one that begins there, and by one that does so with the first half of another history. Told are NAPFD and how
  far through the order the first failing test stood, of the first 20 failing runs and of all.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.ordering_history import History, read_history
from benchmarks.ordering_replay import MakeMethod, Ran, Replay, replay
from benchmarks.ordering_whet import Ours
from examples.api.running import running
from tests.skills.api.shop_service import SHOP, Shop
from tests.skills.api.small_service import served

from whet.bootstrap.api import Asked, prepare
from whet.skills.api.access import Credential
from whet.skills.api.campaign import Budget
from whet.store.sql_store import SqlStore, open_store

HISTORIES = Path(os.environ.get("WHET_CI_HISTORY", Path(__file__).parents[2] / "shared" / "data" / "ci_history"))
KEY = Credential("header", "X-Api-Key", "library-demo-key")
FIRST_FAILING = 20
Reached = Mapping[str, int]  # by operation, the request that first got a 2xx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=5, help="runs on each service")
    parser.add_argument("--requests", type=int, default=1_000)
    parser.add_argument("--histories", nargs="*", help="names of the histories; all by default")
    asked = parser.parse_args()
    told = {"api": api(asked.seeds, asked.requests), "ordering": ordering(asked.histories)}
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=2) + "\n")


def api(seeds: int, requests: int) -> dict[str, Any]:
    found: dict[str, list[dict[str, int]]] = {"same": [], "unrelated": []}
    for seed in range(1, seeds + 1):
        with _store() as knowing, _store() as empty, _store() as blank:
            first = _library(knowing, seed, requests)
            shop = {"with": _shop(knowing, seed, requests), "without": _shop(blank, seed, requests)}
            again = {
                how: _library(store, seed + 1000, requests) for how, store in (("with", knowing), ("without", empty))
            }
        found["same"].append({how: _all_of(first, run, requests) for how, run in again.items()})
        found["unrelated"].append({how: _all_of(shop["without"], run, requests) for how, run in shop.items()})
        print("api, requests until everything was reached:", {way: each[-1] for way, each in found.items()}, flush=True)
    told = {way: _medians(each) | {"runs": each} for way, each in found.items()}
    print({way: {how: each[how] for how in ("with", "without", "ratio")} for way, each in told.items()}, flush=True)
    return told


def _medians(runs: list[dict[str, int]]) -> dict[str, Any]:
    """The ratio is of each pair."""
    middle: dict[str, Any] = {how: statistics.median(run[how] for run in runs) for how in ("with", "without")}
    return middle | {"ratio": round(statistics.median(run["with"] / run["without"] for run in runs), 2)}


@contextmanager
def _store() -> Iterator[SqlStore]:
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/knowledge.db") as store:
        yield store


def _library(store: SqlStore, seed: int, requests: int) -> Reached:
    with running("all", supervised=True) as service:
        return _explored(store, Asked(service.document, budget=Budget(requests), credentials=(KEY,), seed=seed))


def _shop(store: SqlStore, seed: int, requests: int) -> Reached:
    with served(Shop(seed), dict(SHOP.given)) as service:
        return _explored(store, Asked(f"{service.url}/openapi.json", budget=Budget(requests), seed=seed))


def _explored(store: SqlStore, asked: Asked) -> Reached:
    """A whole run, as `whet api` makes it."""
    visit = prepare(asked, store.knowledge)
    with visit.client:
        for _ in visit.campaign.turns():
            pass
        visit.campaign.conclude()
    visit.remember(store.knowledge)
    return {name: told.reached_at for name, told in visit.campaign.operations.items() if told.reached_at is not None}


def _all_of(wanted: Reached, reached: Reached, most: int) -> int:
    """Requests until all of these were reached; never counts as all there were."""
    return max(reached.get(operation, most) for operation in wanted)


def ordering(names: list[str] | None = None, seed: int = 1) -> dict[str, Any]:
    histories = {path.name.removesuffix(".csv.gz"): read_history(path) for path in sorted(HISTORIES.glob("*.csv.gz"))}
    asked = [name for name in histories if not names or name in names]
    return {name: _ordered(name, histories, seed) for name in asked}


class Forgetful(Ours):
    """Every run is its first."""

    def learn(self, cycle: int, ran: Ran) -> None:
        """Nothing stays."""


class Reminded(Ours):
    """Goes on from what another knew."""

    def __init__(self, history: History, before: Ours) -> None:
        super().__init__(history)
        self.orderer, self._cycles = before.orderer, before._cycles


def _reminded(before: Ours) -> MakeMethod:
    return lambda history, _seed: Reminded(history, before)


def _ordered(name: str, histories: Mapping[str, History], seed: int) -> dict[str, Any]:
    second = _half(histories[name], second=True)
    others = sorted((other for other in histories if other != name), key=lambda other: len(histories[other].cycles))
    runs = {"without": replay(second, Forgetful, "full", seed), "begun there": replay(second, Ours, "full", seed)}
    for way, other in (("with", name), ("begun there with another's", others[0])):
        before = _learned(_half(histories[other], second=False), seed)
        runs[way] = replay(second, _reminded(before), "full", seed)
    told = {part: {way: _scores(run, cycles) for way, run in runs.items()} for part, cycles in _parts(second).items()}
    print(f"ordering, {name}: {json.dumps(told)}", flush=True)
    return told


def _parts(history: History) -> dict[str, frozenset[int]]:
    failing = [cycle.number for cycle in history.failing]
    return {"first failing runs": frozenset(failing[:FIRST_FAILING]), "all failing runs": frozenset(failing)}


def _half(history: History, *, second: bool) -> History:
    middle = len(history.cycles) // 2
    return history._replace(cycles=history.cycles[middle:] if second else history.cycles[:middle])


def _learned(history: History, seed: int) -> Ours:
    made: list[Ours] = []

    def make(given: History, _seed: int) -> Ours:
        made.append(Ours(given))
        return made[0]

    replay(history, make, "full", seed)
    return made[0]


def _scores(run: Replay, cycles: frozenset[int]) -> dict[str, float]:
    found = run.mean(cycles) or {}
    return {name: round(found[name], 3) for name in ("napfd", "first_rank")}


if __name__ == "__main__":
    main()
