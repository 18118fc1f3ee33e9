"""What a trained choice is worth on cases it never saw, and how well its critic foretells that."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from whet.improvement.cases import Case
from whet.improvement.cases_environment import CaseEnvironment
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_running import Runner
from whet.improvement.intervals import half_width
from whet.policies.deep.gae import Doubles, explained_variance
from whet.policies.deep.learning import Floats

Choose = Callable[[Floats, Any], int]
# Of the curve over requests left: what a sitting still finds falls to nothing, at first slowly or fast.
_DEGREE = 2


class Sitting(NamedTuple):
    causes: int
    requests: int


class HeldOut(NamedTuple):
    """Failures of a new cause a request, on cases that were not trained on, in sittings of equal budgets."""

    cases: int
    requests: int  # that were sent to find out
    policy: float
    random: float
    file_order: float
    more_than_random: float
    more_than_random_half_width: float | None  # of the 95 % interval over sittings

    @property
    def better_than_random(self) -> bool:
        return self.more_than_random > (self.more_than_random_half_width or 0.0)


class Foretold(NamedTuple):
    """`ceiling`: what a critic could explain at most, as what is drawn after it has spoken it cannot know.
    `by_budget_alone`: what is explained by how many requests are left, and by nothing else of the sitting.
    All are NaN where nothing was found: then there was nothing to foretell."""

    explained_variance: float
    ceiling: float
    by_budget_alone: float
    states: int

    @property
    def beyond_budget(self) -> float:
        """What the critic explains of the variance that the budget alone leaves."""
        return _of_the_rest(self.explained_variance, self.by_budget_alone)

    @property
    def ceiling_beyond_budget(self) -> float:
        """The same for the ceiling. What is drawn later differs from a state as much, whatever the budget explains."""
        return _of_the_rest(self.ceiling, self.by_budget_alone)


class _Played(NamedTuple):
    """Every state of some sittings, and what came from there on."""

    places: list[tuple[CaseEnvironment, Floats, dict[str, Any]]]
    returns: Doubles

    @property
    def left(self) -> Doubles:
        return np.array([environment.budget - environment.requests for environment, _, _ in self.places], np.float64)


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


def compared(
    learner: CandidatePPO, cases: Sequence[Case], runner: Runner, budget: int, seeds: Sequence[int]
) -> HeldOut:
    chosen, drawn = by_policy(learner, cases, runner, budget, seeds), at_random(cases, runner, budget, seeds)
    ordered = [in_order(cases, runner, budget)]
    more = np.array([rate([mine]) - rate([other]) for mine, other in zip(chosen, drawn, strict=True)])
    sent = sum(each.requests for each in (*chosen, *drawn, *ordered))
    told = (rate(chosen), rate(drawn), rate(ordered))
    return HeldOut(len(cases), sent, *told, float(more.mean()), half_width(more))


def rate(sittings: Sequence[Sitting]) -> float:
    return sum(each.causes for each in sittings) / sum(each.requests for each in sittings)


def foretold(
    learner: CandidatePPO, trained_on: Sequence[Case], cases: Sequence[Case], runner: Runner, budget: int,
    seeds: Sequence[int], futures: int = 8,
) -> Foretold:  # fmt: skip
    """The critic's word against what came, discounted, in sittings of the policy it speaks of: the exploring one.

    The ceiling: from one state in ten, several futures are played; how much they differ is nobody's to foretell.
    The budget alone: a curve over requests left, from as many sittings with the cases that were trained on.
    """
    played = _played(learner, cases, runner, budget, seeds)
    said = learner.worth(np.stack([row for _, row, _ in played.places])).astype(np.float64)
    spreads = [_spread(learner, *played.places[each], futures, each) for each in range(0, len(said), 10)]
    varied = float(np.var(played.returns))
    ceiling = 1.0 - float(np.mean(spreads)) / varied if varied else float("nan")
    known = _played(learner, trained_on, runner, budget, seeds)
    by_budget = Polynomial.fit(known.left, known.returns, _DEGREE)(played.left)
    return Foretold(
        explained_variance(said, played.returns), ceiling, explained_variance(by_budget, played.returns), len(said)
    )


def _played(learner: CandidatePPO, cases: Sequence[Case], runner: Runner, budget: int, seeds: Sequence[int]) -> _Played:
    environment = CaseEnvironment(cases, runner, budget, candidates=len(learner.config.actions))
    places, returns = list[tuple[CaseEnvironment, Floats, dict[str, Any]]](), list[float]()
    for seed in seeds:
        returns += _returns(learner, environment, *environment.reset(seed=seed), places)
    return _Played(places, np.array(returns))


def _of_the_rest(explained: float, before: float) -> float:
    """NaN where there is no rest, or nobody knows."""
    return 1.0 - (1.0 - explained) / (1.0 - before) if before < 1.0 else float("nan")


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
