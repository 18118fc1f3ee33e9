"""What skills make of what they remember: `python benchmarks/memory_helps_skills.py [--json OUT] [--seeds N]`.

What `whet api` learned of a service and what ordering knows of tests is their memory. Each way with it and without:

- api, same: a run on the example library, then a second of another seed, on a fresh library. Told are the requests
  until everything was reached that the first run reached.
- api, unrelated: runs on a small shop of the tests, in the store that knows the library and in an empty one.
- ordering: from four places of a history on, by an orderer that remembers everything before, by one that begins there,
  by one that does so with what came before in another history, and by one that never remembers a run. Told are NAPFD
  and how far through the order the first failing test stood, by how many failing runs there were since the beginning,
  and after how many of them the one that begins there has caught up with the one that remembers.
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
from benchmarks.ordering_replay import MakeMethod, Ran, Scores, average, replay
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
BEGINNINGS = (0.3, 0.4, 0.5, 0.6)  # of a history: the means over several depend less on what failed at one of them
STRETCHES = ((0, 5), (5, 10), (10, 20), (20, 40))  # failing runs since the beginning
CAUGHT_UP = 0.01  # of NAPFD behind, over a stretch of five failing runs
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


def ordering(names: list[str] | None = None) -> dict[str, Any]:
    histories = {path.name.removesuffix(".csv.gz"): read_history(path) for path in sorted(HISTORIES.glob("*.csv.gz"))}
    asked = [name for name in histories if not names or name in names]
    return {name: _ordered(name, histories) for name in asked}


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


def _ordered(name: str, histories: Mapping[str, History]) -> dict[str, Any]:
    others = sorted((other for other in histories if other != name), key=lambda other: len(histories[other].cycles))
    lives = [
        _lived(histories[name], histories[others[0]], beginning, seed) for beginning in BEGINNINGS for seed in (1, 2)
    ]
    curves = {way: _mean_curve([life[way] for life in lives]) for way in lives[0]}
    told = {way: [_stretch(curve, *ends) for ends in STRETCHES] for way, curve in curves.items()}
    behind = [
        ours["napfd"] - theirs["napfd"] for ours, theirs in zip(curves["with"], curves["begun there"], strict=True)
    ]
    found = {"failing_runs": STRETCHES, "ways": told, "caught_up_after": _caught_up(behind)}
    print(f"ordering, {name}: {json.dumps(found)}", flush=True)
    return found


def _lived(history: History, another: History, beginning: float, seed: int) -> dict[str, list[Scores]]:
    """By way, the scores of the failing runs, from the beginning on."""
    before, rest = _cut(history, beginning)
    makers: dict[str, MakeMethod] = {
        "with": _reminded(_learned(before, seed)),
        "begun there": lambda given, _seed: Ours(given),
        "begun there with another's": _reminded(_learned(_cut(another, beginning)[0], seed)),
        "without": lambda given, _seed: Forgetful(given),
    }
    return {way: list(replay(rest, make, "full", seed).scores.values()) for way, make in makers.items()}


def _cut(history: History, share: float) -> tuple[History, History]:
    middle = round(len(history.cycles) * share)
    return history._replace(cycles=history.cycles[:middle]), history._replace(cycles=history.cycles[middle:])


def _learned(history: History, seed: int) -> Ours:
    made: list[Ours] = []

    def make(given: History, _seed: int) -> Ours:
        made.append(Ours(given))
        return made[0]

    replay(history, make, "full", seed)
    return made[0]


def _mean_curve(lives: list[list[Scores]]) -> list[Scores]:
    """As far as the shortest goes."""
    return [average(scores) or {} for scores in zip(*lives, strict=False)]


def _stretch(curve: list[Scores], first: int, last: int) -> dict[str, float]:
    found = average(curve[first:last]) or {}
    return {name: round(found[name], 3) for name in ("napfd", "first_rank") if found}


def _caught_up(behind: list[float]) -> int | None:
    """After how many failing runs the next five are no more than this behind; None: never."""
    fives = [statistics.mean(behind[first : first + 5]) for first in range(len(behind) - 4)]
    return next((first for first, mean in enumerate(fives) if mean <= CAUGHT_UP), None)


if __name__ == "__main__":
    main()
