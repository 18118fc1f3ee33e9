"""How long a learner waits for its replay: `python benchmarks/replay.py [--json OUT]`.

Fills each replay with a million transitions of 64 floats (state and next state, action, reward, done), gives them all
priorities, and then measures the cycle of a DQN: add 64, sample 256, update 256. The contenders take turns in one run,
so that a busy machine is busy for all. What is not installed is shown as such; `replay_peers.py` says how to get it.
"""

import argparse
import json
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.replay_peers import CONTENDERS, Batch, Contender, Whet

ADDED, DRAWN = 64, 256
PARTS = ("add", "sample", "update")
NAMES = {
    "whet_numpy": "whet without numba",
    "torchrl_own_threads": "torchrl, own threads",
    "naive_numpy": "naive numpy",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--floats", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    first_call = _first_call_seconds()
    contenders = _installed(arguments.items, arguments.floats)
    random = np.random.default_rng(1)
    for name, contender in contenders.items():
        print(f"filling {NAMES.get(name, name)} …", flush=True)
        _fill(contender, random, arguments.items, arguments.floats)
    figures = _summary(_measure(contenders, random, arguments.rounds, arguments.floats))
    figures |= {"first_call_seconds": first_call, **_saving(contenders["whet"])}
    figures["bytes_per_item"] = _bytes_per_item(arguments.items, arguments.floats)
    _show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _installed(items: int, floats: int) -> dict[str, Contender]:
    contenders: dict[str, Contender] = {}
    for name, contender in CONTENDERS.items():
        try:
            contenders[name] = contender(items, floats)
        except ModuleNotFoundError as missing:
            print(f"{name} is not installed: {missing}")
    return contenders


def _batch(random: np.random.Generator, rows: int, floats: int) -> Batch:
    return {
        "state": random.random((rows, floats), dtype=np.float32),
        "next_state": random.random((rows, floats), dtype=np.float32),
        "action": random.integers(0, 4, rows, dtype=np.int32),
        "reward": random.random(rows, dtype=np.float32),
        "done": random.random(rows) < 0.01,
    }


def _errors(random: np.random.Generator, rows: int) -> Any:
    return random.standard_exponential(rows, dtype=np.float32)


def _fill(contender: Contender, random: np.random.Generator, items: int, floats: int) -> None:
    """Pieces of which `items` is a multiple fill every place once."""
    piece = min(items, 10_000)
    batch = _batch(random, piece, floats)
    for _ in range(0, items, piece):
        contender.add(batch)
    for first in range(0, items, piece):
        contender.update(np.arange(first, min(first + piece, items)), _errors(random, min(piece, items - first)))


def _measure(
    contenders: dict[str, Contender], random: np.random.Generator, rounds: int, floats: int
) -> dict[str, list[list[float]]]:
    """For each contender and round the median seconds of add, sample, update and their sum."""
    seconds: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        names = list(contenders)
        random.shuffle(names)
        for name in names:
            cycles = 4 if name == "naive_numpy" else 60
            times = [_cycle(contenders[name], random, floats) for _ in range(cycles)]
            if number:  # the first round warms up
                seconds[name].append([median(part) for part in zip(*times, strict=True)])
    return seconds


def _cycle(contender: Contender, random: np.random.Generator, floats: int) -> tuple[float, float, float, float]:
    batch, errors = _batch(random, ADDED, floats), _errors(random, DRAWN)
    started = time.perf_counter()
    contender.add(batch)
    added = time.perf_counter()
    places = contender.sample(DRAWN)
    sampled = time.perf_counter()
    contender.update(places, errors)
    updated = time.perf_counter()
    return added - started, sampled - added, updated - sampled, updated - started


def _summary(seconds: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Times are medians over the rounds; a ratio is the median of the rounds' own ratios."""
    cycle: dict[str, float | None] = dict.fromkeys(CONTENDERS)
    ratio: dict[str, float | None] = dict.fromkeys(CONTENDERS)
    parts: dict[str, dict[str, float]] = {}
    for name, rounds in seconds.items():
        columns = [median(column) * 1e6 for column in zip(*rounds, strict=True)]
        cycle[name], parts[name] = columns[3], dict(zip(PARTS, columns, strict=False))
        ratio[name] = median(mine[3] / whets[3] for mine, whets in zip(rounds, seconds["whet"], strict=True))
    return {"cycle_microseconds": cycle, "times_whet": ratio, "part_microseconds": parts}


def _first_call_seconds() -> float:
    """Importing numba and compiling, or reading from its cache what was compiled before."""
    started = time.perf_counter()
    whet = Whet(1_000, 1)
    _fill(whet, np.random.default_rng(0), 1_000, 1)
    whet.sample(1)
    return time.perf_counter() - started


def _saving(whet: Any) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        whet.replay.save(Path(folder))
        saved = time.perf_counter()
        type(whet.replay).open(Path(folder))
        return {"save_seconds": saved - started, "open_seconds": time.perf_counter() - saved}


def _bytes_per_item(items: int, floats: int) -> float:
    tracemalloc.start()
    replay = Whet(items, floats)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del replay
    return held / items


def _show(figures: dict[str, Any]) -> None:
    print(f"\n{'µs':20} {'add 64':>10} {'sample 256':>10} {'update 256':>10} {'cycle':>10} {'× whet':>8}")
    for name, cycle in figures["cycle_microseconds"].items():
        shown = f"{NAMES.get(name, name):20}"
        if cycle is None:
            print(shown, f"{'not installed':>42}")
            continue
        parts = figures["part_microseconds"][name]
        print(shown, *(f"{parts[part]:10.0f}" for part in PARTS), f"{cycle:10.0f} {figures['times_whet'][name]:8.1f}")
    print(f"\nwhet: first call {figures['first_call_seconds']:.2f} s (import and compile, or numba's cache), ", end="")
    print(f"save {figures['save_seconds']:.2f} s, open {figures['open_seconds']:.2f} s, ", end="")
    print(f"{figures['bytes_per_item']:.0f} bytes an item")


if __name__ == "__main__":
    main()
