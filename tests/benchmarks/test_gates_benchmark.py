"""The gates' benchmark: a small one has every figure, and none that its limits would not allow."""

import numpy as np
from benchmarks.gates import Sizes, measure
from benchmarks.gates_logs import REWARD, better, passes
from benchmarks.gates_rollback import PLANTED

NAMES = {
    "null_ab_24_looks",
    "null_ab_clustered",
    "worse_policy_deployed",
    "best_of_20_deployed",
    "power_d02_1200",
    "better_policy_passes",
    "planted_regression_rolled_back",
    "nan_promotions",
}


def test_all_figures_are_there_and_within_their_limits() -> None:
    rows, more = measure(Sizes(experiments=20, simulations=8, planted=2))
    found = {row.name: row.value for row in rows}
    assert set(found) == NAMES
    assert found["null_ab_24_looks"] <= 0.1
    assert found["best_of_20_deployed"] == found["worse_policy_deployed"] == found["nan_promotions"] == 0.0
    assert found["better_policy_passes"] == found["planted_regression_rolled_back"] == 1.0
    assert set(PLANTED) <= set(more)


def test_what_is_spoilt_would_otherwise_have_passed() -> None:
    """Or no promotion of it would say nothing."""
    logged = better(np.random.default_rng(1))
    assert passes(logged)
    assert REWARD.low <= logged.rewards.min()
