"""Does the order of worlds matter? `python benchmarks/curriculum.py [--json OUT]`.

Twelve locks of known difficulty: the k-th has k wheels of four turns, and only the whole combination pays. A lock
ends with the wheels of the shorter ones, so that who can open those has less to find out; by trying, the longest
opens once in 16,777,216 times. The learner (policy gradient) needs many attempts for a wheel, and visits one lock for
ten of them. Told are the visits until the longest lock, and with it every other, opens at least every second time,
with 95 % intervals over the seeds; then once more among as many broken locks, which open by chance: there is nothing
to learn from them.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from whet.improvement.curriculum import Curriculum
from whet.improvement.evaluation import student_95

LOCKS, TURNS, RATE = 12, 4, 0.1
Table = npt.NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--limit", type=int, default=3_000)
    parser.add_argument("--first-seed", type=int, default=100, help="the choices here were made with those below 100")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    told: dict[str, dict[str, Any]] = {}
    for broken in (0, LOCKS):
        told[f"{broken} broken"] = {}
        print(f"{LOCKS} locks and {broken} broken ones")
        for order in ("curriculum", "uniform", "hardest only"):
            counts = np.array([visits(order, broken, seed, arguments.limit) for seed in seeds], dtype=float)
            half = student_95(len(counts) - 1) * counts.std(ddof=1) / np.sqrt(len(counts))
            done = int((counts < arguments.limit).sum())
            figures = {"visits": float(counts.mean()), "half_width": float(half), "opened_all": done}
            told[f"{broken} broken"][order] = figures
            print(
                f"  {order:14} {counts.mean():6.0f} ± {half:<4.0f} visits; done with {done} of {len(counts)} seeds",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps({"seeds": arguments.seeds, **told}, indent=2) + "\n")


def visits(order: str, broken: int, seed: int, limit: int) -> int:
    """Until every lock opens every second time; `limit` if that does not happen."""
    random, preferences = np.random.default_rng([seed, 1]), np.zeros((LOCKS + 1, TURNS))
    curriculum = Curriculum([str(lock) for lock in range(1, LOCKS + broken + 1)], seed)
    pick = _picker(order, curriculum, random, LOCKS + broken)
    for visit in range(1, limit + 1):
        lock = pick()
        curriculum.observe(str(lock), float(np.mean([_attempt(lock, preferences, random) for _ in range(10)])))
        if _chances(preferences[1:])[:, 0].prod() >= 0.5:
            return visit
    return limit


def _picker(order: str, curriculum: Curriculum, random: np.random.Generator, count: int) -> Callable[[], int]:
    if order == "curriculum":
        return lambda: int(curriculum.next())
    return (lambda: int(random.integers(1, count + 1))) if order == "uniform" else (lambda: LOCKS)


def _attempt(lock: int, preferences: Table, random: np.random.Generator) -> float:
    """The right turn of every wheel is the first; the wheel that is `wheel` from the end is the same in every lock."""
    if lock > LOCKS:
        return float(random.random() < 0.5)
    wheels = np.arange(1, lock + 1)
    chances = _chances(preferences[wheels])
    turns = (chances.cumsum(axis=1) <= random.random((lock, 1))).sum(axis=1)
    opened = float((turns == 0).all())
    # The gradient of the chance of what was done, times what it brought (Williams, 1992).
    preferences[wheels] += RATE * opened * (np.eye(TURNS)[turns] - chances)
    return opened


def _chances(preferences: Table) -> Table:
    powers = np.exp(preferences)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
