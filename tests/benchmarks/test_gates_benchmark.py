"""The gates' benchmark: a small one has every figure, and none that its limits would not allow."""

import numpy as np
import pytest
from benchmarks.gates import Sizes, measure
from benchmarks.gates_candidates import GATES
from benchmarks.gates_logs import REWARD, better, passes
from benchmarks.gates_rollback import PLANTED

from benchmarks import gates_candidates, gates_logs

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
    assert [more[f"better, the {name} gate"] for name in GATES] == [1.0] * 4


def test_a_better_candidate_has_to_pass_every_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the best action in eight decisions of ten it earns more, and is not right often enough."""
    monkeypatch.setattr(gates_candidates, "CANDIDATE", np.array([0.1, 0.8, 0.1]))
    monkeypatch.setattr(gates_logs, "CANDIDATE", np.array([0.1, 0.8, 0.1]))
    found = gates_candidates.passing(better, 4, seed=1)
    assert (found["evidence"], found["safety"], found["regression"]) == (1.0, 1.0, 1.0)
    assert found["all"] == found["accuracy"] < 1.0


def test_what_is_spoilt_would_otherwise_have_passed() -> None:
    """Or no promotion of it would say nothing."""
    logged = better(np.random.default_rng(1))
    assert passes(logged)
    assert REWARD.low <= logged.rewards.min()
