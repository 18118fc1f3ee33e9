"""Does memory help decisions? `python benchmarks/memory_helps.py [--json OUT] [--seeds N]`.

On the recorded worlds: an agent lives a while in a project and remembers; then it begins again with empty tables, once
without and once with those memories, through the store and the recall that the loop uses. Three projects:

- the same: everything it meets was met before;
- held out: the memories are of the project's other contexts, each context in turn;
- unrelated: the memories are of the same agent in all other projects, imported.

Told are the decisions until the share of right ones (the last eight decisions, mean over worlds and lives) is 90 % and
95 % of what the start without memory has in its last quarter, and stays so on average; their ratio, with where 95 of
100 bootstraps lie that draw worlds, and of each world lives, anew (with and without memory of one seed stay a pair);
the share of right ones at first, over all and at last; and how far stated confidence is from the truth. Windows
of so few decisions of a few lives jump about: ask for ten seeds or more. Worlds that choices in the code were made
with are told apart. Worlds in which every action is right are left out, by name.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.memory_helps_lives import Remembered, live_with, lived_in, spots_of, without_memory

from whet.improvement.intervals import Matrix, half_width
from whet.improvement.lives import Course, Life
from whet.improvement.reliability import expected_error, reliability
from whet.improvement.spots import Spot
from whet.improvement.world import World, shipped
from whet.store.sql_store import SqlStore, open_store

WINDOW, FIRST, DRAWS = 8, 20, 400
BARS = (0.9, 0.95)
Pairs = Sequence[tuple[World, Sequence[World]]]  # each: where the new life is, and where the remembered were
WAYS = ("same", "held out", "unrelated")


class Compared(NamedTuple):
    """One world, one way: lives without and with memory, of the same seeds."""

    world: World
    way: str
    without: list[Life]
    with_memory: list[Life]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=80)
    parser.add_argument("--earlier", type=int, default=60, help="decisions of the life that is remembered")
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--worlds", default="", help="only those whose name has this in it")
    asked = parser.parse_args()
    if asked.decisions < 4 * WINDOW:
        parser.error(f"--decisions must be {4 * WINDOW} or more")
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/memories.db") as store:
        found = [told for told in _all(store, asked) if _show(told)]
    told: dict[str, Any] = {"worlds": [_figures([each]) for each in found], "together": _together(found)}
    if asked.json:
        asked.json.write_text(json.dumps({**vars(asked), "json": None, **told}, indent=2) + "\n")


def _all(store: SqlStore, asked: argparse.Namespace) -> Iterator[Compared]:
    worlds = {world.name: world for world in shipped()}
    there = {name: spots_of(world) for name, world in worlds.items()}
    print("every action is right in:", *(name for name, mine in there.items() if _all_right(mine)))
    print(f"{'':48}{'to 90 %, 95 %':>20}{'right at first':>20}{'in all':>16}{'at last':>16}")
    for name, world in worlds.items():
        if _all_right(there[name]) or asked.worlds not in name:
            continue
        others = [o for o in worlds.values() if o.agent == world.agent and o.project != world.project]
        pairs: dict[str, Pairs] = {
            "same": [(world, [world])],
            "held out": list(_held_out(world)),
            "unrelated": [(world, others)],
        }
        for way in asked.ways:
            yield _compare(store, asked, world, way, pairs[way])


def _compare(store: SqlStore, asked: argparse.Namespace, world: World, way: str, pairs: Pairs) -> Compared:
    course, found = Course(decisions=asked.decisions), Compared(world, way, [], [])
    for number, (here, before) in enumerate(pairs):
        there = spots_of(here)
        for seed in range(asked.seeds):
            lived = [each for w in before for each in lived_in(w, asked.earlier, seed)]
            memory = Remembered(store, f"{world.name} {way} {number} {seed}", lived, timedelta(days=1), world.project)
            found.without.append(without_memory(here, asked.decisions, seed))
            found.with_memory.append(live_with(memory, here, there, course, seed))
    return found


def _held_out(world: World) -> Iterator[tuple[World, Sequence[World]]]:
    for context in world.contexts:
        here = world.model_copy(update={"contexts": (context,)})
        others = tuple(each for each in world.contexts if each is not context)
        if not _all_right(spots_of(here)):
            yield here, [world.model_copy(update={"contexts": others})]


def _all_right(there: Sequence[Spot]) -> bool:
    return all(spot.right(name) for spot in there for name in spot.means)


def _show(told: Compared) -> bool:
    if told.without:
        name = f"{told.world.name}{' (tuning)' if told.world.used_for_tuning else ''}, {told.way}"
        print(f"{name:48}", _line(_figures([told])), flush=True)
    return bool(told.without)


def _together(found: Sequence[Compared]) -> dict[str, Any]:
    told = {}
    for way in WAYS:
        for tuning in (True, False):
            group = [each for each in found if each.way == way and each.world.used_for_tuning == tuning]
            if group:
                name = f"{way}, {'worlds used for tuning' if tuning else 'worlds never used'}"
                ratios = {f"{bar:.0%}": _ratio(group, bar) for bar in BARS}
                told[name] = _figures(group) | {"ratio": ratios, "suffers": _difference(group)}
                print(f"{name:48}", _line(told[name]), f"ratio {ratios}", flush=True)
                print(f"{'':48}", "with − without, per world:", told[name]["suffers"], flush=True)
    return told


def _figures(group: Sequence[Compared]) -> dict[str, Any]:
    curves = {"without": _curves(group, with_memory=False), "with": _curves(group, with_memory=True)}
    return {
        "worlds": [f"{each.world.name}, {each.way}" for each in group],
        "reached": {f"{bar:.0%}": _reached(curves["without"], curves["with"], bar) for bar in BARS},
        "first": {how: _mean(curve[:, :FIRST]) for how, curve in curves.items()},
        "all": {how: _mean(curve) for how, curve in curves.items()},
        "last": {how: _mean(curve[:, -curve.shape[1] // 4 :]) for how, curve in curves.items()},
        "calibration_error": {
            "without": _calibration([life for each in group for life in each.without]),
            "with": _calibration([life for each in group for life in each.with_memory]),
        },
    }


def _curves(group: Sequence[Compared], *, with_memory: bool) -> Matrix:
    """World by world, the mean over its lives."""
    return np.stack([_lives(each, with_memory=with_memory).mean(axis=0) for each in group])


def _lives(told: Compared, *, with_memory: bool) -> Matrix:
    return np.stack([life.right for life in (told.with_memory if with_memory else told.without)])


def _reached(without: Matrix, with_memory: Matrix, bar: float) -> dict[str, int | None]:
    """Each: a curve of every world."""
    means = {"without": without.mean(axis=0), "with": with_memory.mean(axis=0)}
    wanted = bar * float(means["without"][-without.shape[1] // 4 :].mean())
    return {how: _first_above(mean, wanted) for how, mean in means.items()}


def _first_above(curve: Matrix, wanted: float) -> int | None:
    windows = np.convolve(curve, np.full(WINDOW, 1.0 / WINDOW), "valid")
    ends = range(WINDOW, len(curve) + 1)
    good = (n for n, mean in zip(ends, windows, strict=True) if mean >= wanted and curve[n - 1 :].mean() >= wanted)
    return next(good, None)


def _ratio(group: Sequence[Compared], bar: float) -> dict[str, float]:
    """With over without, and where 95 of 100 bootstraps lie; "never" counts as all there were."""
    lives = [(_lives(each, with_memory=False), _lives(each, with_memory=True)) for each in group]
    told = _over([(without.mean(axis=0), with_memory.mean(axis=0)) for without, with_memory in lives], bar)
    rng = np.random.default_rng(1)
    low, high = np.quantile([_over(list(_drawn(lives, rng)), bar) for _ in range(DRAWS)], (0.025, 0.975))
    return {"ratio": round(told, 2), "low": round(float(low), 2), "high": round(float(high), 2)}


def _drawn(lives: Sequence[tuple[Matrix, Matrix]], rng: np.random.Generator) -> Iterator[tuple[Matrix, Matrix]]:
    for world in rng.integers(len(lives), size=len(lives)):
        without, with_memory = lives[world]
        drawn = rng.integers(len(without), size=len(without))
        yield without[drawn].mean(axis=0), with_memory[drawn].mean(axis=0)


def _over(curves: Sequence[tuple[Matrix, Matrix]], bar: float) -> float:
    reached = _reached(np.stack([each[0] for each in curves]), np.stack([each[1] for each in curves]), bar)
    most = len(curves[0][0])
    return (reached["with"] or most) / (reached["without"] or most)


def _difference(group: Sequence[Compared]) -> dict[str, dict[str, float | None]]:
    without, with_memory = _curves(group, with_memory=False), _curves(group, with_memory=True)
    quarter = without.shape[1] // 4
    parts = {"first": slice(FIRST), "all": slice(None), "last": slice(-quarter, None)}
    gains = {name: (with_memory[:, part] - without[:, part]).mean(axis=1) for name, part in parts.items()}
    return {name: {"mean": _mean(each), "half_width": _width(each)} for name, each in gains.items()}


def _width(values: Matrix) -> float | None:
    found = half_width(values)
    return None if found is None else round(found, 3)


def _calibration(lives: Sequence[Life]) -> float:
    sure, right = (np.concatenate([getattr(life, name) for life in lives]) for name in ("confidence", "right"))
    return round(float(expected_error(reliability(sure, right))), 3)


def _mean(curve: Matrix) -> float:
    return round(float(curve.mean()), 3)


def _line(figures: dict[str, Any]) -> str:
    reached = "  ".join(
        "→".join("never" if each is None else str(each) for each in told.values())
        for told in figures["reached"].values()
    )
    parts = [f"{figures[name]['without']:.2f} → {figures[name]['with']:.2f}" for name in ("first", "all", "last")]
    sure = figures["calibration_error"]
    return (
        f"{reached:>18}"
        + "".join(f"{part:>18}" for part in parts)
        + f"   calibration {sure['without']} → {sure['with']}"
    )


if __name__ == "__main__":
    main()
