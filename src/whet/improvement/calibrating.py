"""Fitting confidence to what was right, on lives in which beliefs told it as it is (`Raw`).

Every policy lives in each of the worlds used for tuning. A deep one lives there with what it learned on the other
worlds of that agent; where there is no other, a blank network stands for one that learned elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whet.agents.catalogue import agent_named
from whet.improvement.contest import DEEP, Maker, Rules, makers_of, trained
from whet.improvement.intervals import Matrix
from whet.improvement.lives import Life, live
from whet.improvement.reliability import calibration_error
from whet.improvement.spots import spots
from whet.improvement.training_learners import new_learner
from whet.improvement.world import World
from whet.policies.confidence import Calibration, Fitted, Flags, Raw, log_odds
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.opinions import opened

POLICIES = ("thompson", "epsilon-greedy", *DEEP)
_BLANK_POINTS = 10.0  # of the size of rewards
_STEPS, _SETTLED = 100, 1e-10


class Told(NamedTuple):
    """What one policy's beliefs said of its decisions in one world, and whether these were right."""

    policy: str
    world: str
    probabilities: Matrix
    untried: Flags
    right: Matrix


def lives(worlds: Sequence[World], rules: Rules) -> Iterator[Told]:
    for world in worlds:
        others = [each for each in worlds if each.agent == world.agent and each.name != world.name]
        raw = replace(rules, course=replace(rules.course, calibration=Raw()), folder=rules.folder / world.project)
        makers = trained(others, raw) if others else _blank(world.agent, raw)
        there, course = spots(world, rules.profile, rules.weights), replace(raw.course, makers=makers)
        for policy in POLICIES:
            yield _told(policy, world, [live(policy, world, there, course, seed) for seed in range(course.seeds)])


def _blank(agent: str, rules: Rules) -> dict[str, Maker]:
    encoder, actions = Encoder(agent_named(agent).state_type), tuple(a.name for a in agent_named(agent).actions)
    opinions = {}
    for kind in DEEP:
        folders = [rules.folder / agent / kind / str(seed) for seed in range(rules.course.seeds)]
        for seed, folder in enumerate(folders):
            new_learner(kind, encoder.layout, actions, _BLANK_POINTS, 0.0, 1, seed).save(folder)
        opinions[kind] = [opened(kind, folder, encoder.layout) for folder in folders]
    return makers_of(opinions, encoder, rules.course)


def _told(policy: str, world: World, lived: Sequence[Life]) -> Told:
    return Told(
        policy,
        world.name,
        np.concatenate([life.confidence for life in lived]),
        np.concatenate([_first_times(life) for life in lived]),
        np.concatenate([life.right for life in lived]),
    )


def _first_times(life: Life) -> Flags:
    asked = np.stack((life.spot, life.action), axis=1)
    first = np.zeros(len(asked), dtype=np.bool_)
    first[np.unique(asked, axis=0, return_index=True)[1]] = True
    return first


def fitted(told: Sequence[Told]) -> Fitted:
    """On all of these worlds; judged on each by what the others say."""
    left_out = [_fit([each for each in told if each is not one])(one.probabilities, one.untried) for one in told]
    right = np.concatenate([one.right for one in told])
    return Fitted(
        calibration=_fit(told),
        decisions=len(right),
        error_before=calibration_error(np.concatenate([one.probabilities for one in told]), right),
        error_left_out=calibration_error(np.concatenate(left_out), right),
    )


def _fit(told: Sequence[Told]) -> Calibration:
    """The likeliest three numbers, by Newton's method."""
    odds, untried, right = (
        np.concatenate(column)
        for column in zip(*((log_odds(each.probabilities), each.untried, each.right) for each in told), strict=True)
    )
    columns, numbers = np.stack((np.ones_like(odds), odds, untried), axis=1), np.array([0.0, 1.0, 0.0])
    for _ in range(_STEPS):
        chances = 1.0 / (1.0 + np.exp(-columns @ numbers))
        curvature = (columns * (chances * (1.0 - chances))[:, None]).T @ columns + 1e-6 * np.eye(3)
        step = np.linalg.solve(curvature, columns.T @ (right - chances))
        numbers = numbers + step
        if np.abs(step).max() < _SETTLED:
            break
    offset, slope, new = (round(float(each), 4) for each in numbers)
    return Calibration(offset=offset, slope=slope, untried=new)
