"""How often a policy's action is as good as the best: on held-out decisions as far as these tell, on worlds exactly."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.ports import Policy
from whet.fleet.gate import Gate
from whet.improvement.proving.chances import Answer, answer
from whet.improvement.proving.examining import Case
from whet.improvement.spots import TOLERANCE, spots
from whet.improvement.world import World
from whet.rewards.profiles import Profile

# An action counts as measured in a state from here on, and an accuracy as known from so many judged decisions.
FEWEST_TIMES = 10
FEWEST_JUDGED = 50.0
# Means closer than this many standard errors cannot be told apart; then neither action is wrong.
_TOLD_APART = 2.0

_Spot = tuple[str, tuple[str, ...]]


class Accuracy(NamedTuple):
    share: float | None  # of the judged decisions that were right; None: too few could be judged
    judged: float  # decisions; those that only partly fall on measured actions count partly
    of: int


def accuracy(cases: Sequence[Case], answers: Sequence[Answer]) -> Accuracy:
    """Judged where at least two actions were measured. An answer that cannot be used is wrong."""
    verdicts = _verdicts(cases)
    right = judged = 0.0
    for case, given in zip(cases, answers, strict=True):
        known = verdicts.get(case.spot)
        if known is None:
            continue
        running = given.running
        right += 0.0 if running is None else sum(running.get(name, 0.0) for name, good in known.items() if good)
        judged += 1.0 if running is None else sum(running.get(name, 0.0) for name in known)
    return Accuracy(right / judged if judged >= FEWEST_JUDGED else None, judged, len(cases))


def _verdicts(cases: Sequence[Case]) -> dict[_Spot, dict[str, bool]]:
    """By spot and measured action: whether it is as good as the best that was measured."""
    earned: dict[_Spot, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        earned[case.spot][case.action].append(case.reward)
    measured = {
        spot: {name: rewards for name, rewards in found.items() if len(rewards) >= FEWEST_TIMES}
        for spot, found in earned.items()
    }
    return {spot: _good(found) for spot, found in measured.items() if len(found) >= 2}


def _good(earned: Mapping[str, Sequence[float]]) -> dict[str, bool]:
    means = {name: float(np.mean(rewards)) for name, rewards in earned.items()}
    squares = {name: float(np.var(rewards, ddof=1)) / len(rewards) for name, rewards in earned.items()}
    best = max(means, key=lambda name: means[name])
    least = means[best] - TOLERANCE * abs(means[best])
    doubt = {name: _TOLD_APART * math.sqrt(squares[name] + squares[best]) for name in earned}
    return {name: name == best or means[name] + doubt[name] >= least for name in earned}


def examine_on_worlds(
    policy: Policy, worlds: Sequence[World], profile: Profile, weights: Mapping[str, float], gate: Gate
) -> Accuracy:
    """Recorded worlds have the outcome of every action, so every decision can be judged, and exactly."""
    shares = []
    for world in worlds:
        agent = agent_named(world.agent)
        for spot in spots(world, profile, weights):
            running = answer(policy, agent, spot.state, spot.allowed, gate).running or {}
            shares.append(math.fsum(chance for name, chance in running.items() if spot.right(name)))
    return Accuracy(float(np.mean(shares)) if shares else None, float(len(shares)), len(shares))
