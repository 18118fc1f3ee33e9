"""What a trained choice is worth on cases it never saw, and how well its critic foretells that."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from whet.improvement.cases import Case
from whet.improvement.cases_environment import CaseEnvironment
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_running import Runner
from whet.policies.deep.gae import Doubles, explained_variance
from whet.policies.deep.learning import Floats

Choose = Callable[[Floats, Any], int]


class Sitting(NamedTuple):
    causes: int
    requests: int


class Foretold(NamedTuple):
    """`ceiling`: what a critic could explain at most, as what is drawn after it has spoken it cannot know.
    Both are NaN where nothing was found: then there was nothing to foretell."""

    explained_variance: float
    ceiling: float
    states: int


def by_policy(
    learner: CandidatePPO, cases: Sequence[Case], runner: Runner, budget: int, seeds: Sequence[int]
) -> list[Sitting]:
    """Always what it prefers."""
    environment = CaseEnvironment(cases, runner, budget, candidates=len(learner.config.actions))
    told = []
    for seed in seeds:
        _play(environment, *environment.reset(seed=seed), lambda row, mask: int(learner.values(row, mask).argmax()))
        told.append(Sitting(len(environment.causes), environment.requests))
    return told


def in_order(order: Sequence[Case], runner: Runner, budget: int) -> Sitting:
    """One after the other; what the rest of the budget does not allow is left out."""
    left, causes = budget, set[str]()
    for case in order:
        if max(1, len(case.steps)) <= left:
            verdict = runner.run(case)
            left -= verdict.requests
            causes |= {verdict.cause} if verdict.cause is not None else set()
    return Sitting(len(causes), budget - left)


def at_random(cases: Sequence[Case], runner: Runner, budget: int, seeds: Sequence[int]) -> list[Sitting]:
    orders = (np.random.default_rng(seed).permutation(len(cases)) for seed in seeds)
    return [in_order([cases[place] for place in order], runner, budget) for order in orders]


def foretold(
    learner: CandidatePPO, cases: Sequence[Case], runner: Runner, budget: int, seeds: Sequence[int], futures: int = 8
) -> Foretold:
    """The critic's word against what came, discounted, in sittings of the policy it speaks of: the exploring one.

    The ceiling: from one state in ten, several futures are played; how much they differ is nobody's to foretell.
    """
    environment = CaseEnvironment(cases, runner, budget, candidates=len(learner.config.actions))
    places, returns = list[tuple[CaseEnvironment, Floats, dict[str, Any]]](), list[float]()
    for seed in seeds:
        returns += _returns(learner, environment, *environment.reset(seed=seed), places)
    said = learner.worth(np.stack([row for _, row, _ in places])).astype(np.float64)
    came = np.array(returns)
    spreads = [_spread(learner, *places[each], futures, each) for each in range(0, len(places), 10)]
    varied = float(np.var(came))
    ceiling = 1.0 - float(np.mean(spreads)) / varied if varied else float("nan")
    return Foretold(explained_variance(said, came), ceiling, len(came))


def _spread(
    learner: CandidatePPO, environment: CaseEnvironment, row: Floats, info: dict[str, Any], futures: int, seed: int
) -> float:
    forks = (environment.fork(seed * futures + number) for number in range(futures))
    return float(np.var([_returns(learner, fork, row, info)[0] for fork in forks], ddof=1))


def _returns(
    learner: CandidatePPO, environment: CaseEnvironment, row: Floats, info: dict[str, Any],
    places: list[tuple[CaseEnvironment, Floats, dict[str, Any]]] | None = None,
) -> list[float]:  # fmt: skip
    """From each step of the sitting on."""

    def explore(rows: Floats, mask: Any) -> int:
        if places is not None:
            places.append((environment.fork(0), rows[0], {"action_mask": mask[0]}))
        return int(learner.act(rows, mask).actions[0])

    rewards = _play(environment, row, info, explore)
    return list(_discounted(np.array(rewards), learner.config.discount))


def _discounted(rewards: Doubles, discount: float) -> Doubles:
    returns, later = np.empty_like(rewards), 0.0
    for step in reversed(range(len(rewards))):
        returns[step] = later = rewards[step] + discount * later
    return returns


def _play(environment: CaseEnvironment, row: Floats, info: dict[str, Any], choose: Choose) -> list[float]:
    rewards, ended = list[float](), False
    while not ended:
        mask = np.asarray(info["action_mask"], dtype=np.bool_)[None]
        row, reward, ended, _, info = environment.step(np.int64(choose(row[None], mask)))
        rewards.append(reward)
    return rewards
