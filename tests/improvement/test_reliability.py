"""Stated confidence against what was right: by hand, and against lives drawn at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.improvement.reliability import (
    Reliability,
    calibration_error,
    chance_error,
    expected_error,
    pooled,
    reliability,
)


def tenth(confidence: float, independent: float, decisions: int = 100, right: float = 0.5) -> Reliability:
    return Reliability(decisions=decisions, independent=independent, confidence=confidence, right=right)


def test_calibration_error_by_hand() -> None:
    confidence = np.array([0.95, 0.95, 0.15, 0.15])
    right = np.array([1.0, 0.0, 0.0, 0.0])
    # bin 0.9: |0.95 - 0.5| for two; bin 0.1: |0.15 - 0| for two
    assert calibration_error(confidence, right) == pytest.approx((2 * 0.45 + 2 * 0.15) / 4)
    assert calibration_error(np.array([1.0, 1.0]), np.array([1.0, 1.0])) == 0.0


def test_pooled_reliability_is_that_of_all_decisions_together() -> None:
    random = np.random.default_rng(3)
    lives = [(random.random(200), (random.random(200) < 0.6).astype(float)) for _ in range(3)]
    together = pooled([reliability(confidence, right) for confidence, right in lives])
    confidence, right = (np.concatenate(column) for column in zip(*lives, strict=True))
    assert expected_error(together) == pytest.approx(calibration_error(confidence, right))
    assert chance_error(together) == pytest.approx(chance_error(reliability(confidence, right)))
    assert sum(each.decisions for each in together) == 600


def test_too_sure_here_and_too_modest_there_is_calibrated_together() -> None:
    sure, modest = (tenth(0.55, 10, 10, right) for right in (0.45, 0.65))
    assert expected_error(pooled([[sure], [modest]])) == pytest.approx(0.0)


def test_decisions_on_one_fact_are_one_test_of_confidence() -> None:
    confidence, right = np.full(100, 0.7), np.ones(100)
    (alike,) = reliability(confidence, right, np.zeros(100, dtype=np.int64))
    assert (alike.decisions, alike.independent) == (100, 1.0)
    assert chance_error([alike]) == pytest.approx(2 * 0.7 * 0.3)  # off by 0.3 with 0.7, by 0.7 with 0.3
    (halves,) = reliability(confidence, right, np.arange(100, dtype=np.int64) // 50)
    assert halves.independent == pytest.approx(2.0)
    (alone,) = reliability(confidence, right)
    assert alone.independent == pytest.approx(100.0)


def test_facts_of_different_worlds_are_different() -> None:
    (both,) = pooled([[tenth(0.55, 1.0)], [tenth(0.55, 1.0)]])
    assert both.independent == pytest.approx(2.0)
    (uneven,) = pooled([[tenth(0.55, 4.0, 300)], [tenth(0.55, 1.0, 100)]])
    assert uneven.independent == pytest.approx(400**2 / (300**2 / 4 + 100**2))


@pytest.mark.parametrize("facts", [1, 3, 12, 200])
def test_what_chance_does_is_what_it_does_when_drawn(facts: int) -> None:
    random = np.random.default_rng(facts)
    confidence = np.repeat(random.random(facts), 5)
    asked = np.repeat(np.arange(facts), 5)
    drawn = [
        calibration_error(confidence, (random.random(facts)[asked] < confidence).astype(float)) for _ in range(2000)
    ]
    told = chance_error(reliability(confidence, np.zeros(len(asked)), asked))
    assert told == pytest.approx(np.mean(drawn), rel=0.08)


@given(confidence=st.floats(0.0, 1.0), facts=st.floats(1.0, 1e6))
def test_chance_is_never_more_than_one_fact_would_make_it(confidence: float, facts: float) -> None:
    assert 0.0 <= chance_error([tenth(confidence, facts)]) <= 2 * confidence * (1 - confidence) + 1e-8
