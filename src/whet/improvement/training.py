"""Training a deep learner on environments, chapter by chapter; after each one everything is saved.

A chapter begins its environments anew from a seed of its own, so that training that died goes on from the last chapter
to the weights it would have had.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from whet.core.errors import WhetError
from whet.improvement.environment import WorldEnvironment
from whet.improvement.training_learners import new_learner, open_learner
from whet.improvement.training_record import Order, Row, TrainingFolder
from whet.improvement.training_scenes import Scenes
from whet.policies.deep.gymnasium_steps import Environment, gymnasium_steps
from whet.policies.deep.learning import DeepLearner, Floats, Steps

_ROWS_A_CHAPTER = 25


class Progress(NamedTuple):
    steps: int
    row: Row


class Subject(NamedTuple):
    """What is learned: where decisions are tried, and by whom. Whatever environments share, they begin anew alike."""

    environments: Sequence[Environment]
    new: Callable[[], DeepLearner]
    opened: Callable[[Path], DeepLearner]


def subject_of(scenes: Scenes, order: Order) -> Subject:
    environments = [WorldEnvironment(scenes, points=1.0) for _ in range(order.environments)]
    names = tuple(action.name for action in scenes.actions)
    layout = environments[0].layout
    return Subject(
        environments,
        lambda: new_learner(order.policy, layout, names, scenes.spread, order.discount, order.seed),
        lambda folder: open_learner(order.policy, folder),
    )


def train(
    subject: Subject, order: Order, folder: TrainingFolder, *, resume: bool = False
) -> Generator[Progress, None, None]:
    """Yields what was measured, as it is; when it is exhausted the artefact is in `folder.learner`."""
    learner = _resumed(subject, order, folder) if resume else _begun(subject, order, folder)
    with _Writer(folder, learner.steps) as writer:
        while learner.steps < order.steps:
            rows = []
            for row in _chapter(learner, subject.environments, order):
                rows.append(row)
                yield Progress(int(row["step"]), row)
            folder.append(rows)
            learner.save(folder.checkpoint)
            writer.write(rows)
    learner.save(folder.learner)


def _begun(subject: Subject, order: Order, folder: TrainingFolder) -> DeepLearner:
    learner = subject.new()
    folder.clear()
    learner.save(folder.checkpoint)
    folder.begin(order)
    return learner


def _resumed(subject: Subject, order: Order, folder: TrainingFolder) -> DeepLearner:
    before = folder.order()
    if order != before.model_copy(update={"steps": order.steps}):
        told = [name for name in Order.model_fields if getattr(order, name) != getattr(before, name)]
        raise WhetError(
            f"The training in {folder.path} cannot go on: {', '.join(told)} changed since it began.",
            "Give what it began with, or train anew without --resume.",
        )
    learner = subject.opened(folder.checkpoint)
    folder.begin(order)
    folder.keep_rows_until(learner.steps)
    return learner


def _chapter(learner: DeepLearner, environments: Sequence[Environment], order: Order) -> Iterator[Row]:
    count = len(environments)
    rounds = max(1, min(order.checkpoint_steps, order.steps - learner.steps) // count)
    seed = int(np.random.SeedSequence([order.seed, learner.steps]).generate_state(1)[0])
    every, tally = max(1, rounds // _ROWS_A_CHAPTER), _Tally(count)
    for number, steps in enumerate(gymnasium_steps(environments, learner, seed, rounds), start=1):
        tally.add(steps, learner.learn(steps))
        if number % every == 0 or number == rounds:
            yield tally.row(learner)


class _Tally:
    """What happened since the last row."""

    def __init__(self, environments: int) -> None:
        self._returns, self._lengths = np.zeros(environments), np.zeros(environments)
        self._seen: dict[str, list[float]] = defaultdict(list)
        self._observations: Floats | None = None

    def add(self, steps: Steps, told: Mapping[str, float]) -> None:
        self._returns += steps.rewards
        self._lengths += 1
        for place in np.flatnonzero(steps.terminated | steps.truncated):
            self._seen["episode_reward"].append(float(self._returns[place]))
            self._seen["episode_length"].append(float(self._lengths[place]))
            self._returns[place] = self._lengths[place] = 0.0
        for name, value in told.items():
            self._seen[name].append(value)
        self._observations = steps.observations

    def row(self, learner: DeepLearner) -> Row:
        # NaN is a learner's word for what it could not measure, such as variance explained where nothing varied.
        known = {name: [value for value in values if math.isfinite(value)] for name, values in self._seen.items()}
        told = {name: float(np.mean(values)) for name, values in known.items() if values}
        worth = getattr(learner, "worth", None)  # a critic of states, which PPO has and DQN has not
        if worth is not None and self._observations is not None:
            told["value"] = float(worth(self._observations).mean())
        self._seen.clear()
        return {"step": learner.steps, **told}


class _Writer:
    """Event files for TensorBoard; what a died process wrote beyond the last save is marked as purged."""

    def __init__(self, folder: TrainingFolder, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder.tensorboard), purge_step=steps + 1)

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, rows: list[Row]) -> None:
        for row in rows:
            for name, value in row.items():
                if name != "step":
                    self._writer.add_scalar(f"train/{name}", value, int(row["step"]))
        self._writer.flush()
