"""What counts, for whom, and when too much of it is missing."""

import random
from datetime import timedelta
from math import exp, log

import numpy as np
import pytest
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, START, candidate, lived, units_of

from whet.core.candidates import Stage
from whet.core.learning_log import UnitResult
from whet.improvement.rollout.arms import canary_arms, probation_arms, unlikelihood

CANARY = candidate(share=0.5)
NOW = START + 10 * HOUR
OWN, OTHERS = units_of(CANARY, 40, "unit")


def _result(unit: str, policy: str, reward: float = 1.0, hours: float = 1, decisions: int = 2) -> UnitResult:
    return UnitResult(unit, policy, decisions, reward, 1.0, START + hours * HOUR)


def test_a_run_counts_where_it_was_put_and_decided() -> None:
    results = [
        _result(OWN[0], "candidate-12"),
        _result(OWN[1], BASE),  # refused, or settings name a policy there
        _result(OTHERS[0], BASE),
        _result(OTHERS[1], "candidate-7"),  # in production
        _result(OTHERS[2], "candidate-12"),
        *(_result(OWN[2], policy) for policy in ("candidate-12", BASE)),
    ]
    arms = canary_arms(CANARY, results, NOW)
    assert [each.unit for each in arms.candidate] == [OWN[0]]
    assert sorted(each.unit for each in arms.baseline) == sorted(OTHERS[:2])
    assert arms.trouble is None


def test_only_this_step_counts_and_nothing_from_the_future() -> None:
    hours = (-1, 0, 5, 10, 11)
    results = [_result(OWN[n], "candidate-12", hours=hour) for n, hour in enumerate(hours)]
    assert [each.unit for each in canary_arms(CANARY, results, NOW).candidate] == OWN[1:4]


def test_one_run_is_one_value_however_many_policies_shared_it() -> None:
    """(2 · 1.0 + 6 · 5.0) / 8 = 4.0"""
    results = [_result(OTHERS[0], BASE, 1.0, 2, 2), _result(OTHERS[0], "random", 5.0, 1, 6)]
    assert canary_arms(CANARY, results, NOW).baseline == [UnitResult(OTHERS[0], BASE, 8, 4.0, 1.0, START + HOUR)]


def test_probation_compares_with_what_was_before() -> None:
    produced = candidate(share=1.0, stage=Stage.PRODUCTION, since=START + 5 * HOUR)
    results = [
        _result("a", BASE, hours=1),
        _result("b", "candidate-12", hours=2),  # while it was a canary
        _result("c", "candidate-12", hours=5),
        _result("d", BASE, hours=6),
        _result("e", "candidate-12", hours=11),
    ]
    arms = probation_arms(produced, results, NOW)
    assert ([each.unit for each in arms.candidate], [each.unit for each in arms.baseline]) == (["c"], ["a"])


def test_counts_against_a_share_by_hand() -> None:
    """Share ½, prior Beta(5, 5), 3 and 1 seen: B(8, 6) / B(5, 5) / ½⁴ = (7!·5!/13!) · (9!/(4!·4!)) · 16."""
    assert exp(unlikelihood(3, 1, 0.5)) == pytest.approx(5040 * 120 / 6227020800 * 362880 / 576 * 16)
    assert unlikelihood(0, 0, 0.1) == pytest.approx(0.0, abs=1e-12)


def test_missing_results_are_noticed() -> None:
    """Of a tenth, half do not come back: runs that the candidate broke leave nothing behind."""
    tenth = candidate(share=0.1)
    whole = lived(tenth, 100, random.Random(1), gain=0.0, when=START)
    arms = canary_arms(tenth, whole, NOW)
    assert (len(arms.candidate), arms.trouble) == (100, None)
    lost = [each for number, each in enumerate(whole) if each.policy == BASE or number % 2]
    trouble = canary_arms(tenth, lost, NOW).trouble
    assert trouble is not None
    assert "results of those it decides are missing" in trouble
    other = [each for number, each in enumerate(whole) if each.policy != BASE or number % 2]
    assert "those others decide" in str(canary_arms(tenth, other, NOW).trouble)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_share_that_is_met_is_hardly_ever_doubted_however_often_one_looks(share: float) -> None:
    """Looked at after each of 1,000 runs, 300 times over: at most 1 in 1,000 may be doubted."""
    rng = np.random.default_rng(3)
    doubted = 0
    for _ in range(300):
        own = np.cumsum(rng.random(1000) < share)
        doubted += any(unlikelihood(int(own[n]), int(n + 1 - own[n]), share) > log(1000) for n in range(0, 1000, 5))
    assert doubted <= 2


def test_a_clock_set_back_does_not_count_what_an_earlier_step_measured() -> None:
    """Results dated ahead of now came from before the clock was set right."""
    ahead = [_result(unit, "candidate-12", hours=24 * 30) for unit in OWN]
    assert canary_arms(CANARY, ahead, START + timedelta(days=1)).candidate == []
