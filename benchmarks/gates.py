"""How often do the gates err? `python benchmarks/gates.py [--json OUT] [--quick]`.

By simulation, through the code that judges candidates: A/B comparisons looked at 24 times while 1,200 runs come in for
each arm, with and without steps that are alike within a run; candidates judged by 2,000 logged decisions; canaries with
a planted regression. A better candidate has to pass all four gates; worse and equal ones are held up by the evidence
alone, so that what the other gates would stop as well is not counted. Beside it, in the same run, what a t-test looked
at as often and a plain normal approximation do.
All figures are shares from 0 to 1, except `nan_promotions`, which is a count.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks import gates_arms, gates_candidates, gates_logs, gates_rollback
from whet.improvement.proving.sequences import compare_shares

SEED = 20260117
_PARTS = 4  # of the longest simulations, so that several cores can share them


class Sizes(NamedTuple):
    experiments: int
    simulations: int
    planted: int


class Row(NamedTuple):
    name: str
    value: float
    needed: str
    beside: float | None  # the usual method, on the same numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    arguments = parser.parse_args()
    sizes = Sizes(1000, 100, 10) if arguments.quick else Sizes(10_000, 1000, 100)
    began = time.monotonic()
    rows, more = measure(sizes)
    seconds = time.monotonic() - began
    _show(rows, more, seconds)
    if arguments.json:
        told = {row.name: row.value for row in rows}
        details = {
            "sizes": sizes._asdict(),
            "beside": {r.name: r.beside for r in rows},
            "more": more,
            "seconds": seconds,
        }
        arguments.json.write_text(json.dumps({**told, "details": details}, indent=2) + "\n")


def measure(sizes: Sizes) -> tuple[list[Row], dict[str, float]]:
    """All simulations, on all cores; each has a seed of its own, so that the order does not matter."""
    arms, logs, back = gates_arms, gates_logs, gates_rollback
    many, some, few = sizes
    asked: dict[str, Any] = {
        "null_ab_24_looks": partial(arms.peeked, arms.plain, many, SEED),
        "null_ab_clustered": partial(arms.peeked, arms.clustered, many, SEED + 1),
        **{
            f"best_of_20_deployed {part}": partial(logs.best_of_many, some // _PARTS, SEED + 2 + 100 * part)
            for part in range(_PARTS)
        },
        "power_d02_1200": partial(arms.peeked, arms.better, some, SEED + 3, only_better=True),
        "worse_policy_deployed": partial(logs.deployed, logs.worse_rarely, some, SEED + 4),
        "worse, with gains": partial(logs.deployed, logs.worse_with_gains, some, SEED + 5),
        **{
            f"better_policy_passes {part}": partial(
                gates_candidates.passing, logs.better, some // _PARTS, SEED + 6 + 100 * part
            )
            for part in range(_PARTS)
        },
        "better, by the evidence alone": partial(logs.deployed, logs.better, some, SEED + 6),
        "better, two decisions in a run": partial(logs.deployed, logs.better_in_pairs, some, SEED + 7),
        "better, four decisions in a run": partial(logs.deployed, logs.better_in_fours, some, SEED + 14),
        "better, by a rare action": partial(logs.deployed, logs.better_by_a_rare_action, some, SEED + 15),
        "nan_promotions": partial(logs.spoilt_promotions, some, SEED + 8),
        "null, heavy tails": partial(arms.peeked, arms.heavy, some, SEED + 9),
        "null, rare losses": partial(arms.peeked, arms.rare, some, SEED + 10),
        "null, success 0.9": partial(arms.peeked, arms.binary, some, SEED + 11, compare_shares),
        "null canary rolled back": partial(back.without_fault, few, SEED + 12),
        **{name: partial(back.rolled_back, each, few, SEED + 13) for name, each in back.PLANTED.items()},
    }
    # Not forked from here: in a process with threads a copy can inherit a lock that nobody lets go of, and never ends.
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        running = {name: pool.submit(each) for name, each in asked.items()}
        found = {name: each.result() for name, each in running.items()}
    parts = _parts(found, "best_of_20_deployed")
    found["best_of_20_deployed"] = tuple(sum(each) / _PARTS for each in zip(*parts, strict=True))
    gates = _parts(found, "better_policy_passes")
    mean = {name: sum(part[name] for part in gates) / _PARTS for name in gates[0]}
    found["better_policy_passes"] = (mean.pop("all"), found["better, by the evidence alone"].plain)
    return _rows(found), _more(found) | {f"better, the {name} gate": share for name, share in mean.items()}


def _parts(found: dict[str, Any], of: str) -> list[Any]:
    return [found.pop(name) for name in list(found) if name.startswith(of)]


def _rows(found: dict[str, Any]) -> list[Row]:
    """The worse of both worse policies counts, and the least of all planted regressions."""
    worse = max(found["worse_policy_deployed"], found["worse, with gains"])
    pairs = {name: found[name] for name in found if isinstance(found[name], tuple)} | {"worse_policy_deployed": worse}
    needed = {
        "null_ab_24_looks": "≤ 0.05",
        "null_ab_clustered": "≤ 0.05",
        "worse_policy_deployed": "≤ 0.05",
        "best_of_20_deployed": "≤ 0.05",
        "power_d02_1200": "≥ 0.90",
        "better_policy_passes": "≥ 0.80",
    }
    rows = [Row(name, pairs[name][0], limit, pairs[name][1]) for name, limit in needed.items()]
    back = min(found[name] for name in gates_rollback.PLANTED)
    rows.append(Row("planted_regression_rolled_back", back, "= 1", None))
    return [*rows, Row("nan_promotions", found["nan_promotions"], "= 0", None)]


def _more(found: dict[str, Any]) -> dict[str, float]:
    told = {name: each for name, each in found.items() if "_" not in name}
    return {name: each[0] if isinstance(each, tuple) else each for name, each in told.items()}


def _show(rows: list[Row], more: dict[str, float], seconds: float) -> None:
    print(f"{'':32} {'whet':>8} {'needed':>8} {'usual method':>14} {'ratio':>7}")
    for row in rows:
        beside = "" if row.beside is None else f"{row.beside:14.4f} {_ratio(row):>7}"
        print(f"{row.name:32} {row.value:8.4f} {row.needed:>8} {beside}")
    print("\nbesides")
    for name, value in more.items():
        print(f"{name:32} {value:8.4f}")
    print(f"\n{seconds:.0f} s. Usual: a t-test at 5 % at each look; a plain normal bound at 95 % for logs.")


def _ratio(row: Row) -> str:
    return "∞" if not row.value else f"{(row.beside or 0.0) / row.value:.1f}"


if __name__ == "__main__":
    main()
