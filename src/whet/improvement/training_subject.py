"""What is learned: where decisions are tried, by whom, and how well each world is mastered."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from whet.improvement.environment import WorldEnvironment, encoder_of
from whet.improvement.training_common import CommonGround
from whet.improvement.training_learners import new_learner, open_learner
from whet.improvement.training_record import Order
from whet.improvement.training_scenes import Draw, Scenes
from whet.policies.deep.gymnasium_steps import Environment
from whet.policies.deep.learning import DeepLearner, Flags, Floats


class Situations(NamedTuple):
    """Every state that is trained on, and what is allowed there."""

    rows: Floats
    masks: Flags


class Course(NamedTuple):
    """One world of several, to practise by itself."""

    environments: Sequence[Environment]
    score: Callable[[DeepLearner], float]


class Subject(NamedTuple):
    """Whatever environments share, they begin anew alike. `courses`, `situations`, `common`: where they are known."""

    environments: Sequence[Environment]
    new: Callable[[], DeepLearner]
    opened: Callable[[Path], DeepLearner]
    courses: Mapping[str, Course] = {}
    situations: Situations | None = None
    common: CommonGround | None = None


def subject_of(scenes: Scenes, order: Order, worlds: Mapping[str, Scenes] | None = None) -> Subject:
    """`worlds`: the same scenes, world by world, for a curriculum."""
    environments = _environments(scenes, order)
    names = tuple(action.name for action in scenes.actions)
    layout, situations = environments[0].layout, situations_of(scenes, order.memories)
    return Subject(
        environments,
        lambda: new_learner(
            order.policy, layout, names, scenes.spread, order.discount, order.steps, order.seed, order.device
        ),
        lambda folder: open_learner(order.policy, folder),
        {name: _course(mine, order, scenes.spread) for name, mine in (worlds or {}).items()},
        situations,
        CommonGround(scenes, *situations) if order.share else None,
    )


def situations_of(scenes: Scenes, memories: int = 0) -> Situations:
    """As they look when nothing is remembered; `memories`: for how many there is room."""
    encoder = encoder_of(scenes, memories)
    rows = np.stack([encoder.row(scene.state) for scene in scenes.scenes])
    masks = np.array([[action.name in scene.draws for action in scenes.actions] for scene in scenes.scenes])
    return Situations(rows, masks)


def _environments(scenes: Scenes, order: Order) -> list[WorldEnvironment]:
    return [WorldEnvironment(scenes, 1.0, order.memories) for _ in range(order.environments)]


def _course(scenes: Scenes, order: Order, points: float) -> Course:
    """Scored by what is thought best, which needs no luck: how much is explored must not look like progress."""
    rows, masks = situations_of(scenes, order.memories)
    worth = np.array([[_mean(scene.draws.get(action.name)) for action in scenes.actions] for scene in scenes.scenes])

    def score(learner: DeepLearner) -> float:
        best = learner.values(rows, masks).argmax(axis=1)
        return float(worth[np.arange(len(best)), best].mean()) / points

    return Course(_environments(scenes, order), score)


def _mean(draws: Sequence[Draw] | None) -> float:
    return float(np.mean([draw.credited for draw in draws])) if draws else float("nan")
