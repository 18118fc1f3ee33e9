"""Planted regressions go back within three looks, improvements reach production, and equals do neither."""

from datetime import datetime
from typing import NamedTuple

import numpy as np
import pytest
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, candidate, units_of

from whet.core.candidates import Candidate
from whet.core.learning_log import UnitResult
from whet.improvement.rollout.arms import canary_arms
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.watching import Verdict, watch

PLAN = Plan()


class Effect(NamedTuple):
    """What a run earns with the candidate where it earns 50 ± 25 otherwise and succeeds nine times in ten."""

    reward: float = 0.0
    success: float = 0.0
    rarely: float = 0.0  # what one run in five loses on top


REGRESSIONS = [Effect(reward=-15), Effect(reward=-10), Effect(success=-0.2), Effect(rarely=-90)]


def _results(
    units: list[str], policy: str, effect: Effect, when: datetime, rng: np.random.Generator
) -> list[UnitResult]:
    rewards = rng.normal(50 + effect.reward, 25, len(units)) + effect.rarely * (rng.random(len(units)) < 0.2)
    successes = rng.random(len(units)) < 0.9 + effect.success
    drawn = zip(units, rewards.tolist(), successes.tolist(), strict=True)
    return [UnitResult(unit, policy, 5, reward, float(success), when) for unit, reward, success in drawn]


def _looks(chosen: Candidate, effect: Effect, looks: int, per_look: int, seed: int) -> list[Verdict]:
    """One a day, up to the first that is not to wait."""
    rng = np.random.default_rng(seed)
    results: list[UnitResult] = []
    verdicts: list[Verdict] = []
    for day in range(looks):
        when = chosen.since + 24 * day * HOUR
        own, others = units_of(chosen, per_look, f"{seed}-{chosen.share}-{day}")
        results += _results(own, f"candidate-{chosen.number}", effect, when, rng)
        results += _results(others, BASE, Effect(), when, rng)
        verdicts.append(watch(chosen, canary_arms(chosen, results, when + 25 * HOUR), PLAN, when + 25 * HOUR).verdict)
        if verdicts[-1] is not Verdict.WAIT:
            break
    return verdicts


def test_100_of_100_planted_regressions_go_back_within_three_looks() -> None:
    ends = [
        _looks(candidate(), effect, 3, 100, 1000 * kind + seed)[-1]
        for kind, effect in enumerate(REGRESSIONS)
        for seed in range(25)
    ]
    assert ends.count(Verdict.ROLL_BACK) == len(ends) == 100


@pytest.mark.parametrize("seed", range(5))
def test_improvements_reach_production_step_by_step(seed: int) -> None:
    ends = [_looks(candidate(share=share), Effect(reward=10), 5, 100, seed)[-1] for share in PLAN.shares]
    assert ends == [Verdict.NEXT_SHARE, Verdict.PROMOTE]


def test_equals_hardly_ever_go_back_or_reach_production() -> None:
    """Each looked at ten times. Nominally at most one in twenty does either; the benchmark of the gates counts them."""
    ends = [_looks(candidate(share=0.5), Effect(), 10, 40, 5000 + seed)[-1] for seed in range(20)]
    assert ends.count(Verdict.ROLL_BACK) <= 2
    assert ends.count(Verdict.PROMOTE) <= 2
