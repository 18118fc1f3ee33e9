"""Does what other projects taught help a new one? `python benchmarks/warm_start.py [--json OUT]`.

Every shipped world is held out in turn: the prior comes from the same agent's worlds of all *other* projects; with
--as-shipped from the worlds used for tuning alone, as `whet train` makes it, and judged on those that count as proof.
Cold is what Whet does without (Thompson sampling over empty tables), warm the same with the prior. Told are the
decisions until the share of right ones, exploring included (mean over seeds, four decisions at a time), is 90 % of what
the cold start has in its last quarter, and stays so on average. Worlds in which every action is right are left out, by
name.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from whet.improvement.intervals import Matrix, half_width
from whet.improvement.lives import Course, live
from whet.improvement.reliability import expected_error, reliability
from whet.improvement.spots import Spot, spots
from whet.improvement.warm_start import learned_prior
from whet.improvement.world import World, shipped
from whet.policies.warm_start import WarmStart
from whet.rewards import profile

COLD, WARM = "thompson", "warm-start"
AT_ONCE = 4
Lives = dict[str, Matrix]  # by way: seeds × decisions, whether they were right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--as-shipped", action="store_true")
    parser.add_argument("--profile", choices=("composite", "multi-objective"), default="multi-objective")
    arguments = parser.parse_args()
    worlds = {world.name: world for world in shipped()}
    there = {name: spots(world, profile(arguments.profile), {}) for name, world in worlds.items()}
    print("every action is right in:", *(name for name, mine in there.items() if _all_right(mine)))
    lives: dict[str, Lives] = {}
    sure: list[Matrix] = []
    print(f"{'held-out world':44} {'cold':>6} {'warm':>6}  decisions to 90 %")
    tuning = {name for name, world in worlds.items() if world.used_for_tuning} if arguments.as_shipped else set()
    for name in (name for name, mine in there.items() if not _all_right(mine) and name not in tuning):
        taught = {n: mine for n, mine in there.items() if n != name and (n in tuning or not arguments.as_shipped)}
        lives[name], confidence = _lives(worlds[name], there[name], taught, arguments)
        sure.append(confidence)
        print(f"{name:44}", *(f"{_shown(n):>6}" for n in reached(lives[name]).values()), flush=True)
    told = _told(lives) | {"calibration_error": _calibration(lives, sure)}
    for name, figures in told["sums"].items():
        print(f"{name:44}", *(f"{_shown(n):>6}" for n in figures["reached"].values()), figures["right"])
    print("calibration error of the warm start, all worlds together:", round(told["calibration_error"], 3))
    if arguments.json:
        arguments.json.write_text(json.dumps({**vars(arguments), "json": None, **told}, indent=2) + "\n")


def _lives(
    world: World, there: list[Spot], taught: Mapping[str, list[Spot]], arguments: argparse.Namespace
) -> tuple[Lives, Matrix]:
    of_agent = {name: mine for name, mine in taught.items() if name.endswith(f"/{world.agent}")}
    prior, rate = learned_prior(world.agent, of_agent), Course().rates.learning
    course = Course(
        decisions=arguments.decisions, makers={WARM: lambda hierarchy, rng, _: WarmStart(prior, hierarchy, rate, rng)}
    )
    found = {way: [live(way, world, there, course, seed) for seed in range(arguments.seeds)] for way in (COLD, WARM)}
    right = {way: np.stack([life.right for life in each]) for way, each in found.items()}
    return right, np.stack([life.confidence for life in found[WARM]])


def reached(lives: Lives) -> dict[str, int | None]:
    """Decisions until the mean over the seeds is 90 % of the cold start's last quarter, and on average stays so."""
    means = {way: right.reshape(len(right), -1, AT_ONCE).mean(axis=(0, 2)) for way, right in lives.items()}
    bar = 0.9 * float(means[COLD][-len(means[COLD]) // 4 :].mean())
    told: dict[str, int | None] = {}
    for way, mean in means.items():
        good = [n for n in range(len(mean)) if mean[n] >= bar and mean[n:].mean() >= bar]
        told[way] = good[0] * AT_ONCE if good else None
    return told


def _told(lives: Mapping[str, Lives]) -> dict[str, Any]:
    """World by world, and all worlds of each agent, and of all: each world counts once."""
    agents = sorted({name.split("/")[1] for name in lives})
    groups = {agent: [mine for name, mine in lives.items() if name.endswith(f"/{agent}")] for agent in agents}
    groups["all worlds"] = list(lives.values())
    return {
        "worlds": {name: reached(mine) for name, mine in lives.items()},
        "sums": {name: _sum(group) for name, group in groups.items()},
    }


def _sum(group: list[Lives]) -> dict[str, Any]:
    together = {way: np.stack([mine[way].mean(axis=0) for mine in group]) for way in (COLD, WARM)}
    gains = np.array([mine[WARM].mean() - mine[COLD].mean() for mine in group])
    return {
        "reached": reached(together),
        "right": {way: round(float(right.mean()), 3) for way, right in together.items()},
        "first": {way: float(right[:, 0].mean()) for way, right in together.items()},
        "last": {way: float(right[:, -right.shape[1] // 4 :].mean()) for way, right in together.items()},
        "gain": {"mean": float(gains.mean()), "half_width": half_width(gains)},
        "curves": {way: right.mean(axis=0).tolist() for way, right in together.items()},
    }


def _calibration(lives: Mapping[str, Lives], sure: list[Matrix]) -> float:
    right = np.concatenate([mine[WARM].ravel() for mine in lives.values()])
    return float(expected_error(reliability(np.concatenate([each.ravel() for each in sure]), right)))


def _all_right(there: list[Spot]) -> bool:
    return all(spot.right(name) for spot in there for name in spot.means)


def _shown(decisions: int | None) -> str:
    return "never" if decisions is None else str(decisions)


if __name__ == "__main__":
    main()
