"""Do agents of a category learn sooner from each other? `python benchmarks/sharing_agents.py [--json OUT]`.

Trains all agents that have worlds used for tuning, as `whet train --agent all` does, with --share and without. Told is
in how many of its states each agent thinks a right action best, on the way, and how much it borrowed.
"""

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from whet.agents.catalogue import AGENTS
from whet.improvement.intervals import Matrix, half_width
from whet.improvement.spots import spots
from whet.improvement.training import train_all
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import Scenes, of_worlds
from whet.improvement.training_subject import situations_of, subject_of
from whet.improvement.training_under_way import Trainee
from whet.improvement.world import World, shipped
from whet.policies.deep.learning import DeepLearner, Flags
from whet.rewards import profile

PROFILE = profile("multi-objective")
WAYS = (False, True)


class Pupil:
    """An agent, and what is right in each of its states."""

    def __init__(self, worlds: list[World]) -> None:
        self.scenes: Scenes = of_worlds(worlds, PROFILE, {})
        there = [spot for world in worlds for spot in spots(world, PROFILE, {})]
        names = [action.name for action in self.scenes.actions]
        self.right: Flags = np.array([[name in spot.means and spot.right(name) for name in names] for spot in there])

    def score(self, learner: DeepLearner) -> float:
        best = learner.values(*situations_of(self.scenes)).argmax(axis=1)
        return float(self.right[np.arange(len(best)), best].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1600)
    arguments = parser.parse_args()
    tuning = [world for world in shipped() if world.used_for_tuning]
    own = [[world for world in tuning if world.agent == name] for name in AGENTS]
    pupils = [Pupil(worlds) for worlds in own if worlds]
    told: dict[str, Any] = {}
    lives = {share: [_life(pupils, share, seed, arguments.steps) for seed in range(arguments.seeds)] for share in WAYS}
    print(f"{'agent':28} {'alone':>8} {'sharing':>8} {'difference':>18} {'borrowed of 8':>14}")
    for place, pupil in enumerate(pupils):
        alone, sharing = (np.array([scores[place] for scores, _ in lives[share]]) for share in WAYS)
        told[pupil.scenes.agent] = _told(alone, sharing, [borrowed[place] for _, borrowed in lives[True]])
        print(f"{pupil.scenes.agent:28} {_line(told[pupil.scenes.agent])}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seeds": arguments.seeds, "agents": told}, indent=2) + "\n")


def _life(pupils: list[Pupil], share: bool, seed: int, steps: int) -> tuple[list[list[float]], list[float]]:
    """One training of all: the scores of each on the way, and how much each borrowed a round."""
    scores: dict[str, list[float]] = {pupil.scenes.agent: [] for pupil in pupils}
    borrowed: dict[str, list[float]] = {pupil.scenes.agent: [] for pupil in pupils}
    with tempfile.TemporaryDirectory(prefix="whet-sharing-") as folder:
        orders = [_order(pupil.scenes, share, seed, steps, tuple(scores)) for pupil in pupils]
        subjects = [subject_of(pupil.scenes, order) for pupil, order in zip(pupils, orders, strict=True)]
        learners = {order.agent: subject.new() for order, subject in zip(orders, subjects, strict=True)}
        trainees = [
            Trainee(
                subject._replace(new=partial(learners.__getitem__, order.agent)),
                order,
                TrainingFolder(Path(folder) / order.agent),
            )
            for order, subject in zip(orders, subjects, strict=True)
        ]
        judges = {pupil.scenes.agent: pupil for pupil in pupils}
        for progress in train_all(trainees):
            borrowed[progress.agent].append(progress.row.get("borrowed", 0.0))
            scores[progress.agent].append(judges[progress.agent].score(learners[progress.agent]))
    return list(scores.values()), [float(np.mean(each)) for each in borrowed.values()]


def _order(scenes: Scenes, share: bool, seed: int, steps: int, together: tuple[str, ...]) -> Order:
    return Order(
        agent=scenes.agent, policy="dqn", seed=seed, steps=steps, source="world", sources=scenes.sources,
        digest=scenes.digest, share=share, together=together,
    )  # fmt: skip


def _told(alone: Matrix, sharing: Matrix, borrowed: list[float]) -> dict[str, Any]:
    gains = (sharing - alone).mean(axis=1)
    return {
        "alone": float(alone.mean()),
        "sharing": float(sharing.mean()),
        "gain": float(gains.mean()),
        "half_width": half_width(gains),
        "borrowed": float(np.mean(borrowed)),
    }


def _line(told: dict[str, Any]) -> str:
    gain = f"{told['gain']:+.1%} ± {told['half_width']:.1%}"
    return f"{told['alone']:8.1%} {told['sharing']:8.1%} {gain:>18} {told['borrowed']:14.2f}"


if __name__ == "__main__":
    main()
