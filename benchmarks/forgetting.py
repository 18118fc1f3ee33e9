"""How much of earlier tasks is forgotten? `python benchmarks/forgetting.py [--json OUT]`.

*Worlds*: candidates trained one after the other in three recorded projects (forgetting_worlds.py), by tables and by a
network. *Bandits*: one learner (DQN) meets three tasks one after the other, contextual bandits over observations of
their own, in each of which one of four actions pays. Told is the share of right decisions on the last task when all is
over, and how much of the accuracy that was reached on the first two is kept: with and without holding on (EWC; of
tables, the parent's), and with and without the experiences of earlier tasks.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.forgetting_worlds import forgetting

from whet.improvement.candidate_training import KINDS
from whet.improvement.evaluation import half_width
from whet.policies.deep.dqn import DQN, schema_of
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.ewc import Consolidation
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Floats, Steps, Whole
from whet.policies.deep.replay import Replay

Interval = tuple[float, float | None]  # a mean, and how far it may be off
TASKS, OBSERVATIONS, WIDTH, ACTIONS = 3, 6, 8, 4
WAYS = {"neither": (False, False), "EWC": (True, False), "replay": (False, True), "EWC + replay": (True, True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=8000, help="of training a network in a world")
    parser.add_argument("--tasks", nargs="+", choices=("bandits", *KINDS), default=("bandits", *KINDS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    told: dict[str, Any] = {"seeds": arguments.seeds, "tasks": {}}
    for task in arguments.tasks:
        learn = _bandits if task == "bandits" else partial(forgetting, task, ways=WAYS, steps=arguments.steps)
        told["tasks"][task] = _told(task, [learn(arguments.first_seed + number) for number in range(arguments.seeds)])
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


def _told(what: str, lives: Sequence[Mapping[str, tuple[float, float]]]) -> dict[str, dict[str, Interval]]:
    print(f"{what:14} {'kept of old accuracy':>22} {'last task':>18}")
    told = {}
    for way in WAYS:
        values = np.array([life[way] for life in lives])
        told[way] = {name: _interval(values[:, place]) for place, name in enumerate(("kept", "last_task"))}
        cells = (f"{mean:.1%}" + ("" if half is None else f" ± {half:.1%}") for mean, half in told[way].values())
        print(f"{way:14}", *(f"{cell:>{width}}" for cell, width in zip(cells, (22, 18), strict=True)), flush=True)
    return told


def _bandits(seed: int) -> dict[str, tuple[float, float]]:
    return {way: life(seed, ewc=ewc, replay=replay) for way, (ewc, replay) in WAYS.items()}


def life(seed: int, *, ewc: bool, replay: bool, updates: int = 250) -> tuple[float, float]:
    """The share of old accuracy that is kept, and the accuracy on the last task."""
    random, learner, memory = np.random.default_rng(seed), DQN(config(), seed), Consolidation()
    tasks, reached = [_task(random) for _ in range(TASKS)], []
    for number, task in enumerate(tasks):
        if not replay:
            learner.replay = Replay(schema_of(learner.config), learner.config.capacity, seed + number)
        with memory.guard(learner.online) if ewc else nullcontext():
            for _ in range(updates):
                learner.learn(_lived(task, random))
        reached.append(_accuracy(learner, task))
        rows = torch.from_numpy(task[0])
        memory.consolidate(learner.online, rows, torch.ones(len(rows), ACTIONS, dtype=torch.bool))
    kept = [_accuracy(learner, task) / before for task, before in zip(tasks[:-1], reached, strict=False)]
    return float(np.mean(kept)), reached[-1]


def _task(random: np.random.Generator) -> tuple[Floats, Whole]:
    return random.normal(size=(OBSERVATIONS, WIDTH)).astype(np.float32), random.integers(0, ACTIONS, OBSERVATIONS)


def _lived(task: tuple[Floats, Whole], random: np.random.Generator, rows: int = 8) -> Steps:
    """By a policy that draws evenly, so that every way sees equally much of every task."""
    seen, pays = task
    states, actions = random.integers(0, OBSERVATIONS, rows), random.integers(0, ACTIONS, rows)
    rewards = (actions == pays[states]).astype(np.float32)
    masks, ended = np.ones((rows, ACTIONS), dtype=bool), np.ones(rows, dtype=bool)
    chances = np.full(rows, 1.0 / ACTIONS, dtype=np.float32)
    return Steps(seen[states], masks, actions, chances, rewards, seen[states], masks, ended, ~ended)


def _accuracy(learner: DQN, task: tuple[Floats, Whole]) -> float:
    seen, pays = task
    values = learner.values(seen, np.ones((OBSERVATIONS, ACTIONS), dtype=bool))
    return float((values.argmax(axis=1) == pays).mean())


def config() -> Config:
    return Config(
        layout=Layout(tokens=1, width=WIDTH), actions=tuple("abcd"),
        network=Network(encoder=(64, 64), stream=32, heads=1),
        learning_rate=2e-3, restart_updates=0, batch=32, warm_up_steps=8, steps_per_round=8, capacity=20_000,
        target_rate=0.05, device="cpu",
    )  # fmt: skip


def _interval(values: Any) -> Interval:
    return float(values.mean()), half_width(values)


if __name__ == "__main__":
    main()
