"""Does memory help decisions? `python benchmarks/memory_helps.py [--json OUT] [--seeds N] [--skills]`.

On the recorded worlds: an agent lives a while in a project and remembers; then it begins again with empty tables, once
without and once with those memories, through the store and the recall that the loop uses. Three projects:

- the same: everything it meets was met before;
- held out: the memories are of the project's other contexts, each context in turn;
- unrelated: the memories are of the same agent in all other projects, imported.

Told are the decisions until the share of right ones (mean over seeds and worlds, four decisions at a time) is 90 % of
what the start without memory has in its last quarter, and stays so on average; their ratio, with a bootstrap over
seeds; the share of right ones at first, over all and at last; and how far stated confidence is from the truth. Worlds
that choices in the code were made with are told apart. Worlds in which every action is right are left out, by name.
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

from benchmarks.memory_helps_lives import Remembered, live_with, remembered

from whet.improvement.intervals import Matrix, half_width
from whet.improvement.lives import Course, Life, live
from whet.improvement.reliability import expected_error, reliability
from whet.improvement.spots import Spot, spots
from whet.improvement.world import World, shipped
from whet.rewards import profile
from whet.store.sql_store import SqlStore, open_store

AT_ONCE, FIRST, DRAWS = 4, 20, 400
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
    parser.add_argument("--decisions", type=int, default=120)
    parser.add_argument("--earlier", type=int, default=60, help="decisions of the life that is remembered")
    parser.add_argument("--worlds", default="", help="only those whose name has this in it")
    parser.add_argument("--skills", action="store_true", help="also what ordering remembers; takes minutes")
    asked = parser.parse_args()
    if asked.decisions % AT_ONCE:
        parser.error(f"--decisions must be a multiple of {AT_ONCE}")
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/memories.db") as store:
        found = [told for told in _all(store, asked) if _show(told)]
    told: dict[str, Any] = {"worlds": [_figures([each]) for each in found], "together": _together(found)}
    if asked.skills:
        from benchmarks.memory_helps_skills import skills

        told["skills"] = skills()
    if asked.json:
        asked.json.write_text(json.dumps({**vars(asked), "json": None, **told}, indent=2) + "\n")


def _all(store: SqlStore, asked: argparse.Namespace) -> Iterator[Compared]:
    worlds = {world.name: world for world in shipped()}
    there = {name: _spots(world) for name, world in worlds.items()}
    print("every action is right in:", *(name for name, mine in there.items() if _all_right(mine)))
    print(f"{'':48}{'decisions to 90 %':>20}{'right at first':>20}{'in all':>16}{'at last':>16}")
    for name, world in worlds.items():
        if _all_right(there[name]) or asked.worlds not in name:
            continue
        others = [o for o in worlds.values() if o.agent == world.agent and o.project != world.project]
        yield _compare(store, asked, world, "same", [(world, [world])])
        yield _compare(store, asked, world, "held out", list(_held_out(world)))
        yield _compare(store, asked, world, "unrelated", [(world, others)])


def _compare(
    store: SqlStore, asked: argparse.Namespace, world: World, way: str, pairs: Sequence[tuple[World, Sequence[World]]]
) -> Compared:
    """Each pair: where the new life is, and where those were that are remembered."""
    course, found = Course(decisions=asked.decisions), Compared(world, way, [], [])
    for number, (here, before) in enumerate(pairs):
        there = _spots(here)
        for seed in range(asked.seeds):
            lived = [each for w in before for each in remembered(w, _spots(w), asked.earlier, seed)]
            memory = Remembered(store, f"{world.name} {way} {number} {seed}", lived, timedelta(days=1))
            found.without.append(live("thompson", here, there, course, seed))
            found.with_memory.append(live_with(memory, here, there, course, seed))
    return found


def _held_out(world: World) -> Iterator[tuple[World, Sequence[World]]]:
    for context in world.contexts:
        here = world.model_copy(update={"contexts": (context,)})
        others = tuple(each for each in world.contexts if each is not context)
        if not _all_right(_spots(here)):
            yield here, [world.model_copy(update={"contexts": others})]


def _spots(world: World) -> list[Spot]:
    return spots(world, profile("multi-objective"), {})


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
                told[name] = _figures(group) | {"ratio": _ratio(group), "suffers": _difference(group)}
                print(f"{name:48}", _line(told[name]), f"ratio {told[name]['ratio']}", flush=True)
                print(f"{'':48}", "with − without, per world:", told[name]["suffers"], flush=True)
    return told


def _figures(group: Sequence[Compared]) -> dict[str, Any]:
    curves = {"without": _curves(group, with_memory=False), "with": _curves(group, with_memory=True)}
    return {
        "worlds": [f"{each.world.name}, {each.way}" for each in group],
        "reached": _reached(*curves.values()),
        "first": {how: _mean(curve[:, :FIRST]) for how, curve in curves.items()},
        "all": {how: _mean(curve) for how, curve in curves.items()},
        "last": {how: _mean(curve[:, -curve.shape[1] // 4 :]) for how, curve in curves.items()},
        "calibration_error": {
            "without": _calibration([life for each in group for life in each.without]),
            "with": _calibration([life for each in group for life in each.with_memory]),
        },
    }


def _curves(group: Sequence[Compared], *, with_memory: bool, draw: Matrix | None = None) -> Matrix:
    """World by world, the mean over its lives; `draw` chooses them instead, for the bootstrap."""
    rows = []
    for each in group:
        lives = np.stack([life.right for life in (each.with_memory if with_memory else each.without)])
        rows.append((lives if draw is None else lives[(draw * len(lives)).astype(int)]).mean(axis=0))
    return np.stack(rows)


def _reached(without: Matrix, with_memory: Matrix) -> dict[str, int | None]:
    means = [curves.reshape(len(curves), -1, AT_ONCE).mean(axis=(0, 2)) for curves in (without, with_memory)]
    bar = 0.9 * float(means[0][-len(means[0]) // 4 :].mean())
    good = [[n for n in range(len(mean)) if mean[n] >= bar and mean[n:].mean() >= bar] for mean in means]
    return {how: (each[0] + 1) * AT_ONCE if each else None for how, each in zip(("without", "with"), good, strict=True)}


def _ratio(group: Sequence[Compared]) -> dict[str, float | None]:
    """With over without, and where 95 of 100 bootstraps over the lives lie; "never" counts as all there were."""
    rng, found = np.random.default_rng(1), []
    most = len(group[0].without[0].right)
    lives = min(len(each.without) for each in group)
    for _ in range(DRAWS):
        draw = rng.random(lives)
        told = _reached(_curves(group, with_memory=False, draw=draw), _curves(group, with_memory=True, draw=draw))
        found.append((told["with"] or most) / (told["without"] or most))
    low, middle, high = (round(float(each), 2) for each in np.quantile(found, (0.025, 0.5, 0.975)))
    return {"low": low, "median": middle, "high": high}


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
    reached = "→".join("never" if each is None else str(each) for each in figures["reached"].values())
    parts = [f"{figures[name]['without']:.2f} → {figures[name]['with']:.2f}" for name in ("first", "all", "last")]
    sure = figures["calibration_error"]
    return (
        f"{reached:>14}"
        + "".join(f"{part:>18}" for part in parts)
        + f"   calibration {sure['without']} → {sure['with']}"
    )


if __name__ == "__main__":
    main()
