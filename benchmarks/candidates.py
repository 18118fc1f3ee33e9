"""Does a candidate trained from the log beat the policy that logged it? `python benchmarks/candidates.py [--json OUT]`.

In each recorded world that counts as proof, live tables (Thompson sampling) decide and learn; from what they logged a
candidate is trained. Told is what a decision earns in the mean, by the recorded outcomes of every action, in reward
points against what the live tables earn with as many decisions more, in which they go on learning:

- *log*: the decisions that were logged, the first ones too
- *live, stopped*: the live tables as they are when the log ends, if they learned no more
- *tables*, *dqn*: the candidate, which learns no more either
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.lived import Living, earned, worth

from whet.agents.catalogue import agent_named
from whet.core.records import Experience
from whet.improvement.candidate_training import CandidateOrder, train
from whet.improvement.intervals import half_width
from whet.improvement.world import World, shipped
from whet.policies.frozen import opened_policy

SIZES = (50, 100, 200, 400)
Told = Mapping[str, tuple[float, float]]  # by way: mean reward, and the share of right decisions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", choices=("tables", "dqn"), default=["tables"])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--steps", type=int, default=8000, help="of training a network")
    parser.add_argument("--tuning", action="store_true", help="the worlds that choices were made with, instead")
    arguments = parser.parse_args()
    worlds = [world for world in shipped() if world.used_for_tuning == arguments.tuning]
    told: dict[int, Any] = {}
    for size in arguments.sizes:
        found = {
            world.name: [_life(world, seed, size, arguments.kinds, arguments.steps) for seed in range(arguments.seeds)]
            for world in worlds
        }
        told[size] = _summary(size, found)
    if arguments.json:
        arguments.json.write_text(json.dumps({"seeds": arguments.seeds, "decisions": told}, indent=2) + "\n")


def _life(world: World, seed: int, decisions: int, kinds: Sequence[str], steps: int) -> Told:
    life = Living(world, seed)
    log = life.live(decisions)
    stopped = worth(life.policy, life.there)
    ways = {kind: _candidate(kind, life, log, seed, steps) for kind in kinds}
    life.live(decisions)
    logged, later = earned(life, 0, decisions), earned(life, decisions, 2 * decisions)
    return {"live": later, "log": logged, "live, stopped": stopped, **ways}


def _candidate(kind: str, life: Living, log: Sequence[Experience], seed: int, steps: int) -> tuple[float, float]:
    agent = agent_named(life.world.agent)
    order = CandidateOrder.model_validate({"agent": agent.name, "kind": kind, "seed": seed, "steps": steps})
    with TemporaryDirectory() as place:
        out = Path(place) / "candidate"
        train(order, log, [], None, out)
        rng = np.random.default_rng(seed)
        return worth(opened_policy(order.kind, out, agent, "candidate-1", "0" * 64, order.rate, rng), life.there)


def _summary(size: int, found: Mapping[str, Sequence[Told]]) -> dict[str, Any]:
    ways, told = list(next(iter(found.values()))[0]), dict[str, Any]()
    print(f"{size:5} decisions  {'reward against live':>20} {'worst world':>12} {'right':>8}")
    for way in ways:
        apart = np.array([np.mean([life[way][0] - life["live"][0] for life in lives]) for lives in found.values()])
        right = float(np.mean([life[way][1] for lives in found.values() for life in lives]))
        told[way] = {"against_live": float(apart.mean()), "half_width": half_width(apart), "right": right}
        told[way]["by_world"] = dict(zip(found, apart.tolist(), strict=True))
        shown = f"{apart.mean():+.3f} ± {half_width(apart) or 0.0:.3f}"
        print(f"{way:16} {shown:>20} {apart.min():+12.3f} {right:8.1%}", flush=True)
    return told


if __name__ == "__main__":
    main()
