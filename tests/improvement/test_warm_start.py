"""What other worlds taught is where a new one begins."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.warm_start import reached
from tests.improvement.test_evaluation import PROFILE, world

from whet.core.errors import WhetError
from whet.improvement.lives import Course, live
from whet.improvement.spots import spots
from whet.improvement.warm_start import learned_prior
from whet.improvement.world import shipped
from whet.policies.warm_start import WarmStart

BY_HAND = spots(world(), PROFILE, {})


def test_a_prior_by_hand() -> None:
    """30, 15 and 29 are 5.33, −9.67 and 4.33 from their mean: a unit of 6.85. 0 and 30 are 15 from theirs."""
    prior = learned_prior("regression-risk-analyzer", {"by hand": BY_HAND})
    first = np.sqrt((5.3333**2 + 9.6667**2 + 4.3333**2) / 3)
    assert prior.unit == pytest.approx((first + 15.0) / 2, rel=1e-4)
    churn, history = prior.actions["assess_by_churn"], prior.actions["assess_by_history"]
    assert churn.mean == pytest.approx(1.0 / 2)  # one state of 1 unit, and one of doubt
    assert churn.doubt == pytest.approx(np.sqrt((0.5**2 + 1.0) / 2))
    assert (churn.states, history.states) == (1, 2)
    assert history.mean == pytest.approx((-9.6667 / first - 1.0) / 3, rel=1e-4)


def test_where_every_action_pays_the_same_there_is_nothing_to_begin_with() -> None:
    even = [replace(BY_HAND[0], credits={name: np.array([3.3, 1.1]) for name in BY_HAND[0].means})]
    with pytest.raises(WhetError, match="whet record --agent a"):
        learned_prior("a", {"even": even})


def test_a_held_out_project_begins_better_and_ends_no_worse() -> None:
    worlds = {w.project: w for w in shipped() if w.agent == "flaky-test-hunter"}
    there = {name: spots(w, PROFILE, {}) for name, w in worlds.items()}
    new = worlds["toolz-1.2.0"]
    prior = learned_prior(new.agent, {name: mine for name, mine in there.items() if name != new.project})
    course = Course(decisions=80, makers={"warm": lambda hierarchy, rng, _: WarmStart(prior, hierarchy, 0.1, rng)})
    right = {
        way: np.mean([live(way, new, there[new.project], course, seed).right for seed in range(4)], axis=0)
        for way in ("thompson", "warm")
    }
    assert right["warm"][:20].mean() > right["thompson"][:20].mean() + 0.1
    assert right["warm"][-20:].mean() >= right["thompson"][-20:].mean() - 0.1


def test_when_the_bar_is_reached_and_kept() -> None:
    cold = np.repeat([[0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]], 4, axis=0).T.reshape(1, -1)
    assert reached({"thompson": cold, "warm-start": np.ones((1, 32))}) == {"thompson": 16, "warm-start": 0}
    assert reached({"thompson": cold, "warm-start": np.zeros((1, 32))})["warm-start"] is None
