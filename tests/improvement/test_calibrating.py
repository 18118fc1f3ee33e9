"""Fitting confidence: recovers what was put in, and judges each world by the others."""

import numpy as np
import pytest

from whet.improvement.calibrating import Told, fitted
from whet.policies.confidence import Calibration

TRUE = Calibration(offset=0.8, slope=1.3, untried=-0.7)


def told(world: str, decisions: int, truth: Calibration = TRUE) -> Told:
    random = np.random.default_rng([*world.encode()])
    probabilities, untried = random.uniform(0.02, 0.98, decisions), random.random(decisions) < 0.3
    right = (random.random(decisions) < truth(probabilities, untried)).astype(np.float64)
    return Told("thompson", world, probabilities, untried, right)


def test_what_was_put_in_is_found_again() -> None:
    fit = fitted([told(name, 20_000) for name in "abc"])
    found = fit.calibration
    assert (found.offset, found.slope, found.untried) == pytest.approx((0.8, 1.3, -0.7), abs=0.06)
    assert fit.decisions == 60_000
    assert fit.error_before > 0.08
    assert fit.error_left_out < 0.02


def test_a_world_has_no_say_in_how_it_is_judged() -> None:
    """Two worlds of which each is what the other is not: fitted on both they agree, left out neither does."""
    sure, modest = Calibration(offset=2.0), Calibration(offset=-2.0)
    one, other = told("a", 5_000, sure), told("b", 5_000, modest)
    alone = fitted([one, one._replace(world="c")])
    assert alone.error_left_out < 0.02
    apart = [fitted([one, other]), fitted([other, one])]
    assert apart[0].error_left_out == pytest.approx(apart[1].error_left_out)
    assert apart[0].error_left_out > 0.2
