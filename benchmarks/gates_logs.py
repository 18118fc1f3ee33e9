"""Simulated logs of production, and candidates judged by them: whet.improvement.proving.off_policy and its gate.

Four states, three actions that production takes with 0.5, 0.3 and 0.2, the candidate with 0.06, 0.88 and 0.06; a reward
has a spread of about one and lies within −10 … 5. Each decision is a run of its own unless said otherwise.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whet.improvement.intervals import Matrix
from whet.improvement.proving.gates import evidence_gate, verdict
from whet.improvement.proving.off_policy import Logged, Range, evidence

DECISIONS, STATES = 2000, 4
PRODUCTION, CANDIDATE = np.array([0.5, 0.3, 0.2]), np.array([0.06, 0.88, 0.06])
RARELY = np.array([0.6, 0.1, 0.3])
REWARD = Range(-10.0, 5.0)
# How much more often the candidate takes the second action, in which the scenes differ.
_SHIFT = float(CANDIDATE[1] - PRODUCTION[1])
Scene = Callable[[np.random.Generator], Logged]


class Deployed(NamedTuple):
    """Shares of the candidates that would be deployed: by the gate; by a plain normal approximation at 95 %."""

    gate: float
    plain: float


def _log(
    rng: np.random.Generator, lost: float = 0.0, gain: float = 0.0, together: int = 1, production: Matrix = PRODUCTION
) -> Logged:
    """The second action loses ten points with a chance of `lost`, and earns `gain` more otherwise."""
    actions = rng.choice(3, size=DECISIONS, p=production)
    usual = rng.standard_normal(DECISIONS // together).repeat(together) if together > 1 else np.zeros(DECISIONS)
    spread = np.sqrt(0.5) if together > 1 else 1.0
    rewards = np.clip(spread * (rng.standard_normal(DECISIONS) + usual), -4.0, 4.0)
    second = actions == 1
    rewards = np.where(second & (rng.random(DECISIONS) < lost), REWARD.low, rewards + gain * second)
    return Logged(
        runs=np.arange(DECISIONS) // together,
        states=rng.integers(STATES, size=DECISIONS),
        actions=actions,
        rewards=np.clip(rewards, *REWARD),
        production=np.tile(production, (DECISIONS, 1)),
        candidate=np.tile(CANDIDATE, (DECISIONS, 1)),
    )


def better(rng: np.random.Generator) -> Logged:
    """0.2 more per decision."""
    return _log(rng, gain=0.2 / _SHIFT)


def better_in_pairs(rng: np.random.Generator) -> Logged:
    """The same with two decisions in a run, alike by half."""
    return _log(rng, gain=0.2 / _SHIFT, together=2)


def better_in_fours(rng: np.random.Generator) -> Logged:
    return _log(rng, gain=0.2 / _SHIFT, together=4)


def better_by_a_rare_action(rng: np.random.Generator) -> Logged:
    """0.2 more per decision by an action that production takes in one decision of ten."""
    return _log(rng, gain=0.2 / float(CANDIDATE[1] - RARELY[1]), production=RARELY)


def worse_rarely(rng: np.random.Generator) -> Logged:
    """0.02 less per decision, all of it in losses of ten points, one in 250 of the action's decisions."""
    return _log(rng, lost=0.02 / _SHIFT / 10.0)


def worse_with_gains(rng: np.random.Generator) -> Logged:
    """0.02 less per decision: one decision of the action in 200 loses ten points, the others earn a little more."""
    return _log(rng, lost=0.005, gain=(10.0 * 0.005 - 0.02 / _SHIFT) / 0.995)


def deployed(scene: Scene, simulations: int, seed: int) -> Deployed:
    rng = np.random.default_rng(seed)
    found = np.array([_both(scene(rng)) for _ in range(simulations)], dtype=np.float64)
    return Deployed(*(float(each) for each in found.mean(axis=0)))


def _both(logged: Logged) -> tuple[bool, bool]:
    return passes(logged), plainly(logged)


def passes(logged: Logged, tried: int = 1) -> bool:
    return verdict([evidence_gate(evidence(logged, REWARD, tried), REWARD)]).outcome == "passed"


def plainly(logged: Logged) -> bool:
    """Importance weights and the 95 % bound of a normal distribution."""
    rows = np.arange(len(logged.rewards))
    ratios = logged.candidate[rows, logged.actions] / logged.production[rows, logged.actions]
    gains: Matrix = (ratios - 1.0) * (logged.rewards - logged.rewards.mean())
    return bool(gains.mean() - 1.645 * gains.std(ddof=1) / np.sqrt(len(gains)) > 0.0)


def best_of_many(simulations: int, seed: int, candidates: int = 20) -> Deployed:
    """Candidates that earn what production earns, one after the other on the same runs: was any deployed?"""
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(simulations):
        logged = _log(rng)
        chances = rng.dirichlet(np.ones(3), size=(candidates, STATES))
        tries = [logged._replace(candidate=each[logged.states]) for each in chances]
        found += (any(passes(each, k) for k, each in enumerate(tries, 1)), any(plainly(each) for each in tries))
    return Deployed(*(float(each) for each in found / simulations))


def spoilt_promotions(simulations: int, seed: int) -> int:
    """How many of these were promoted: good candidates, whose log has one number missing, infinite or impossible."""
    rng = np.random.default_rng(seed)
    return sum(passes(_spoilt(better(rng), kind, rng)) for kind in range(7) for _ in range(simulations // 7 + 1))


def _spoilt(logged: Logged, kind: int, rng: np.random.Generator) -> Logged:
    row = int(rng.integers(DECISIONS))
    taken, bad = int(logged.actions[row]), (np.nan, np.inf, -np.inf, np.nan, np.nan, 0.0, -0.1)[kind]
    if kind < 3:
        logged.rewards[row] = bad
    else:
        (logged.candidate if kind == 4 else logged.production)[row, taken] = bad
    return logged
