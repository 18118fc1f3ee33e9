"""Convergence: the four criteria by hand, each alone, and what is unknown stays unknown."""

import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.ports import RunRecord
from whet.core.records import now
from whet.improvement.convergence import Limits, convergence
from whet.store import open_store

SETTLED: dict[str, Any] = {
    "episodes_completed": 2,
    "avg_episode_reward": 20.0,
    "std_episode_reward": 3.0,
    "avg_q_value_change": 0.005,
    "exploration_rate": 0.0,
    "success_rate": 1.0,
}


def rows(count: int = 10, **changes: Any) -> list[dict[str, Any]]:
    return [SETTLED | changes for _ in range(count)]


def advice(**changes: Any) -> str:
    found = convergence("agent", rows(**changes))
    assert not found.converged
    return found.advice


def test_ten_settled_runs_have_converged() -> None:
    found = convergence("agent", rows())
    assert found.converged
    assert found.advice == "Learning has converged. Ready for production."
    assert [each.met for each in found.criteria] == [True] * 4
    # Two rewards in each of ten runs, 3 apart from each other's mean: 10 · 9 / 19 is the variance.
    assert found.criteria[1].value == pytest.approx((90 / 19) ** 0.5)
    assert found.criteria[2].sentence == "success is 1; it is above 0.85"


def test_below_ten_runs_nothing_is_said() -> None:
    found = convergence("agent", rows(9))
    assert (found.converged, found.criteria) == (False, ())
    assert found.advice == "Not enough data: 9 of 10 runs. Continue learning."


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"success_rate": 0.85}, "Performance does not meet its target. Review the reward weights."),
        ({"exploration_rate": 0.05}, "Still exploring. Let epsilon fall faster, or wait."),
        ({"std_episode_reward": 9.0}, "Rewards vary a lot. Check that the machine and the suite are stable."),
        (
            {"avg_q_value_change": 0.01},
            "Continue learning; convergence is near: value change is 0.01; it must be below 0.01.",
        ),
        ({"avg_q_value_change": None}, "Continue learning: value change is not known yet."),
        ({"avg_q_value_change": float("nan")}, "Continue learning: value change is not known yet."),
        (
            {"success_rate": None, "exploration_rate": 10**400},
            "Continue learning: success and exploration are not known yet.",
        ),
        # S2's order: performance comes before everything else.
        (
            {"success_rate": 0.1, "exploration_rate": 0.9, "std_episode_reward": 99.0},
            "Performance does not meet its target. Review the reward weights.",
        ),
    ],
)
def test_each_criterion_alone_holds_it_back_with_its_advice(changes: dict[str, Any], expected: str) -> None:
    assert advice(**changes) == expected


def test_only_the_last_ten_count() -> None:
    assert convergence("agent", rows(20, success_rate=0.0) + rows()).converged
    assert not convergence("agent", rows(20) + rows(3, success_rate=0.0)).converged


def test_a_run_with_one_decision_has_no_deviation_of_its_own_but_the_runs_have() -> None:
    single: dict[str, Any] = {"episodes_completed": 1, "std_episode_reward": None}
    steady = convergence("agent", rows(**single))
    assert steady.converged
    wild = [SETTLED | single | {"avg_episode_reward": 20.0 * (run % 2)} for run in range(10)]
    found = convergence("agent", wild)
    assert found.criteria[1].value == pytest.approx(statistics.stdev([20.0 * (run % 2) for run in range(10)]))
    assert found.criteria[1].met is False


def test_limits_are_configurable() -> None:
    assert not convergence("agent", rows(), Limits(reward_deviation=1.0)).converged


@given(st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=4), min_size=10, max_size=10))
def test_the_deviation_is_that_of_all_rewards(runs: list[list[float]]) -> None:
    told = [
        SETTLED
        | {
            "episodes_completed": len(run),
            "avg_episode_reward": statistics.fmean(run),
            "std_episode_reward": statistics.stdev(run) if len(run) > 1 else None,
        }
        for run in runs
    ]
    value = convergence("agent", told).criteria[1].value
    assert value == pytest.approx(statistics.stdev([reward for run in runs for reward in run]), abs=1e-6)


def test_it_reads_what_the_store_gives(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/whet.db") as store:
        for run in range(11):
            record = RunRecord(
                id=str(run), project="shop", code_version="1", budget_seconds=1, seed=1, started_at=now()
            )
            store.runs.start(record)
            store.runs.note_learning(str(run), "test-executor", SETTLED | {"success_rate": 0.0 if run == 0 else 1.0})
        assert convergence("test-executor", store.runs.learning("test-executor")).converged
        assert not convergence("other", store.runs.learning("other")).converged
