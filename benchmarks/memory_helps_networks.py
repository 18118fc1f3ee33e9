"""What room for memories is worth to a network: `python benchmarks/memory_helps_networks.py [--json OUT] [--seeds N]`.

DQNs are trained on the worlds used for tuning, with room for memories and without, and live in the worlds that count as
proof. Those with room are reminded of an earlier life of the same agent: in the same project, whose tables were lost
since, or in all other projects. Told is the share of right decisions, with its difference to the network without room.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.memory_helps_lives import Remembered, Reminded, lived_in, spots_of

from whet.core.ports import Policy
from whet.improvement.environment import encoder_of
from whet.improvement.intervals import half_width
from whet.improvement.lives import Course, live
from whet.improvement.training import train
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import Scenes, of_worlds
from whet.improvement.training_subject import subject_of
from whet.improvement.world import World, shipped
from whet.policies.deep.deciding import DeepPolicy
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.opinions import Opinion, opened
from whet.policies.hierarchy import Hierarchy
from whet.rewards import profile
from whet.store.sql_store import SqlStore, open_store

FIRST, EARLIER = 20, 60
WAYS = ("without room", "nothing remembered", "same", "unrelated")
Shares = dict[str, list[float]]  # by way, of each world
Networks = Mapping[int, tuple[Opinion, Encoder]]  # by the room they have for memories


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--decisions", type=int, default=80)
    parser.add_argument("--steps", type=int, default=8_000)
    parser.add_argument("--memories", type=int, default=16)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/memories.db") as store:
        lives = list(_lives(store, Path(folder), asked))
    told = {part: _told(lives, number) for number, part in enumerate(("first", "all"))}
    if asked.json:
        asked.json.write_text(json.dumps({**vars(asked), "json": None, **told}, indent=2) + "\n")


def _lives(store: SqlStore, folder: Path, asked: argparse.Namespace) -> Iterator[dict[str, tuple[float, float]]]:
    """World by world: of each way, the share of right decisions at first and in all."""
    worlds = shipped()
    for world in worlds:
        own = [each for each in worlds if each.agent == world.agent and each.used_for_tuning]
        if world.used_for_tuning or not own:
            continue
        rows = [_lived(store, folder, world, own, seed, asked) for seed in range(asked.seeds)]
        yield {way: _mean([row[way] for row in rows]) for way in WAYS}
        print(world.name, {way: _mean([row[way] for row in rows]) for way in WAYS}, flush=True)


def _lived(
    store: SqlStore, folder: Path, world: World, own: Sequence[World], seed: int, asked: argparse.Namespace
) -> dict[str, tuple[float, float]]:
    scenes = of_worlds(own, profile("multi-objective"), {})
    networks = {room: _network(scenes, room, seed, folder, asked.steps) for room in (0, asked.memories)}
    others = [each for each in shipped() if each.agent == world.agent and each.project != world.project]
    found = {}
    for way, room, before in (
        (WAYS[0], 0, []),
        (WAYS[1], asked.memories, []),
        (WAYS[2], asked.memories, [world]),
        (WAYS[3], asked.memories, others),
    ):
        lived = [each for earlier in before for each in lived_in(earlier, EARLIER, seed)]
        memory = Remembered(store, f"{world.name} {way} {seed}", lived, timedelta(days=1), world.project)
        right = _life(world, networks[room], memory, asked.decisions, seed)
        found[way] = (float(right[:FIRST].mean()), float(right.mean()))
    return found


def _life(world: World, network: tuple[Opinion, Encoder], memory: Remembered, decisions: int, seed: int) -> np.ndarray:
    course = Course(decisions=decisions)
    make = partial(_policy, network, memory, course.rates.learning)
    return live("reminded", world, spots_of(world), replace(course, makers={"reminded": make}), seed).right


def _policy(
    network: tuple[Opinion, Encoder],
    memory: Remembered,
    rate: float,
    hierarchy: Hierarchy,
    rng: np.random.Generator,
    _seed: int,
) -> Policy:
    return Reminded(DeepPolicy(*network, hierarchy, rate, rng), memory)


def _network(scenes: Scenes, room: int, seed: int, place: Path, steps: int) -> tuple[Opinion, Encoder]:
    """Trained once for all worlds of its agent."""
    order = Order(
        agent=scenes.agent, policy="dqn", seed=seed, steps=steps, source="world", sources=scenes.sources,
        digest=scenes.digest, checkpoint_steps=steps, memories=room,
    )  # fmt: skip
    folder, encoder = TrainingFolder(place / scenes.agent / f"{room}-{seed}"), encoder_of(scenes, room)
    if not folder.learner.exists():
        for _ in train(subject_of(scenes, order), order, folder):
            pass
    return opened("dqn", folder.learner, encoder.layout), encoder


def _mean(shares: Sequence[tuple[float, float]]) -> tuple[float, float]:
    first, whole = (round(float(np.mean(column)), 3) for column in zip(*shares, strict=True))
    return first, whole


def _told(lives: Sequence[Mapping[str, tuple[float, float]]], part: int) -> dict[str, dict[str, float | None]]:
    """Over worlds, with the 95 % interval of the difference to the network without room."""
    told = {}
    for way in WAYS:
        shares = np.array([each[way][part] for each in lives])
        apart = shares - np.array([each[WAYS[0]][part] for each in lives])
        told[way] = {"right": float(shares.mean()), "more": float(apart.mean()), "half_width": half_width(apart)}
        print(f"{'first' if part == 0 else 'all':6}{way:22}{told[way]}", flush=True)
    return told


if __name__ == "__main__":
    main()
