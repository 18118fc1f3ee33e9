"""Do other projects' weights help a new one? `python benchmarks/warm_start_networks.py [--json OUT]`.

For every shipped world: a learner (DQN) begins cold, after plain training on the same agent's worlds of all *other*
projects, or from weights found there by Reptile. Told are the decisions until its accuracy (share of states in which
the action it thinks best is right, mean over the seeds) is 90 % of what the cold start has in the end. Worlds in
which every action is right say nothing and are left out, by name.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.warm_start_rooms import Room, begin_from, curve, pretrained, reptile

from whet.agents.catalogue import agent_named
from whet.improvement.evaluation import Matrix, spots
from whet.improvement.world import World, shipped
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.rewards import profile

WAYS = ("cold", "plain", "reptile")
AT_ONCE = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--practice", type=int, default=1200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rooms = {world.name: _room(world) for world in shipped()}
    print("every action is right in:", *(name for name, room in rooms.items() if _all_right(room)))
    rooms = {name: room for name, room in rooms.items() if not _all_right(room)}
    print(f"{'held-out world':44}", *(f"{way:>9}" for way in WAYS), "  decisions to 90 % of the cold start's end")
    curves: dict[str, dict[str, Matrix]] = {}
    for name in rooms:
        curves[name] = _curves(name, rooms, arguments)
        print(f"{name:44}", *(f"{_shown(n):>9}" for n in reached(curves[name]).values()), flush=True)
    told = _told(curves)
    for name, counts in told["sums"].items():
        print(f"{name:44}", *(f"{_shown(n):>9}" for n in counts.values()))
    if arguments.json:
        arguments.json.write_text(json.dumps({**vars(arguments), "json": None, **told}, indent=2) + "\n")


def _curves(name: str, rooms: dict[str, Room], arguments: argparse.Namespace) -> dict[str, Matrix]:
    room, agent = rooms[name], name.split("/")[1]
    others = [other for theirs, other in rooms.items() if theirs != name and theirs.endswith(f"/{agent}")]
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for seed in range(arguments.seeds):
        for way in WAYS:
            learner = DQN(_config(room), seed)
            if way != "cold":
                practise = pretrained if way == "plain" else reptile
                random = np.random.default_rng([seed, 1])
                warm = practise(lambda: DQN(_config(room), 100 + seed), others, arguments.practice, random)  # noqa: B023 - called at once
                begin_from(learner, warm)
            random = np.random.default_rng([seed, 2])
            found[way].append(curve(learner, room, arguments.decisions, random, AT_ONCE))
    return {way: np.array(lives) for way, lives in found.items()}


def reached(curves: dict[str, Matrix]) -> dict[str, int | None]:
    """Decisions until the mean over the seeds is 90 % of the cold start's last quarter, and on average stays so."""
    means = {way: lives.mean(axis=0) for way, lives in curves.items()}
    bar = 0.9 * float(means["cold"][-len(means["cold"]) // 4 :].mean())
    told: dict[str, int | None] = {}
    for way, mean in means.items():
        good = [n for n in range(len(mean)) if mean[n] >= bar and mean[n:].mean() >= bar]
        told[way] = good[0] * AT_ONCE if good else None
    return told


def _told(curves: dict[str, dict[str, Matrix]]) -> dict[str, Any]:
    """World by world, and the mean curve of all worlds of each agent, and of all."""
    agents = sorted({name.split("/")[1] for name in curves})
    groups = {agent: [c for name, c in curves.items() if name.endswith(f"/{agent}")] for agent in agents}
    groups["all worlds"] = list(curves.values())
    sums = {
        name: {way: np.concatenate([c[way].mean(axis=0, keepdims=True) for c in group]) for way in WAYS}
        for name, group in groups.items()
    }
    return {
        "worlds": {name: reached(c) for name, c in curves.items()},
        "sums": {name: reached(c) for name, c in sums.items()},
        "curves": {name: {way: c[way].mean(axis=0).tolist() for way in WAYS} for name, c in sums.items()},
    }


def _room(world: World) -> Room:
    there = spots(world, profile("composite"), {})
    actions = tuple(action.name for action in agent_named(world.agent).actions)
    return Room(there, actions, points=10.0)


def _all_right(room: Room) -> bool:
    return all(spot.right(name) for spot in room.spots for name in spot.means)


def _config(room: Room) -> Config:
    return Config(
        layout=room.layout, actions=room.actions,
        network=Network(encoder=(64, 32), stream=32, heads=1, attention=16, attention_heads=2), learning_rate=2e-3,
        restart_updates=0, batch=32, warm_up_steps=4, steps_per_round=4, updates_per_round=2, capacity=2_000,
        target_rate=0.05, epsilon=0.3, epsilon_decay=0.995, epsilon_floor=0.05, device="cpu",
    )  # fmt: skip


def _shown(decisions: int | None) -> str:
    return "never" if decisions is None else str(decisions)


if __name__ == "__main__":
    main()
