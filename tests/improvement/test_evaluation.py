"""Evaluation against numbers worked by hand, and learning against a world that is easy to learn."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import whet

from whet.improvement.evaluation import Course, judge, spots
from whet.improvement.world import Context, World, save
from whet.rewards import profile

SITUATION = {
    "suite": "small",
    "pace": "fast",
    "failing": False,
    "changed": None,
    "history": "some",
    "budget": "ample",
}
STATE = {
    "situation": SITUATION,
    "changed_files": 1,
    "changed_lines": 1,
    "uncommitted": True,
    "coverage_map": True,
    "history_runs": 3,
    "known_failures": 1,
    "num_tests": 5,
    "expected_seconds": None,
}
PROFILE = profile("multi-objective")


def caught(share: float) -> dict[str, Any]:
    """Worth 30 points times `share`: early failures are all that was measured."""
    return {
        "duration_seconds": 1.0,
        "tests_ranked": 5,
        "tests_run": 1,
        "failures_in_slice": 0,
        "regressions": None,
        "failures_known": 1,
        "early_share": share,
        "expected_seconds": None,
    }


def world() -> World:
    """Means 30, 15 and 29 in one state; 0 and 30 in the other."""
    first = {
        "assess_by_coverage": (caught(1.0),),
        "assess_by_history": (caught(0.0), caught(1.0)),
        "assess_combined": (caught(29 / 30),),
    }
    second = {"assess_by_history": (caught(0.0),), "assess_by_churn": (caught(1.0),)}
    unchanged = {**STATE, "changed_files": 0, "coverage_map": False}
    return World(
        agent="regression-risk-analyzer",
        project="by-hand",
        command="by hand",
        recorded_at="2026-01-01T00:00:00+00:00",
        machine={},
        contexts=(
            Context(label="changed", state=STATE, outcomes=first),
            Context(label="unchanged", state=unchanged, outcomes=second),
        ),
    )


def test_means_random_and_static_choices_are_as_worked_by_hand() -> None:
    first, second = spots(world(), PROFILE, {})
    assert first.means == pytest.approx({"assess_by_coverage": 30, "assess_by_history": 15, "assess_combined": 29})
    assert second.means == pytest.approx({"assess_by_history": 0, "assess_by_churn": 30})
    # 29 is within 5 % of 30
    assert [first.right(name) for name in first.means] == [True, False, True]
    report = judge(world(), PROFILE, {}, Course(decisions=200, seeds=1))
    assert report.random.accuracy == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert report.random.mean_reward == pytest.approx(((30 + 15 + 29) / 3 + 15) / 2)
    by_name = {s.policy: s for s in report.statics}
    assert by_name["always assess_by_history"].accuracy == 0.0
    # churn is not possible in the first state: its safe default, assess_combined, runs there
    assert by_name["always assess_by_churn"].accuracy == 1.0
    assert by_name["always assess_by_churn"].mean_reward == pytest.approx((29 + 30) / 2)
    assert report.best_static.policy == "always assess_by_churn"
    assert report.best_possible_reward == pytest.approx(30)


def test_learning_finds_the_best_actions() -> None:
    report = judge(world(), PROFILE, {}, Course(decisions=400, seeds=3))
    for learned in report.learned:
        assert learned.accuracy >= 0.9
        assert learned.accuracy > learned.untrained_accuracy
        assert learned.curve.accuracy[-1] > learned.curve.accuracy[0] - 0.05
        # a random policy would lose (30 - 24.67 + 30 - 15) / 2 a decision
        assert 0.0 < learned.regret < 400 * 10.17 / 2


def test_eval_reports_the_decision_accuracy(tmp_path: Path) -> None:
    save(world(), tmp_path / "world.json")
    done = whet("eval", "world.json", "--decisions", "300", "--seeds", "2", "--format", "json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["decision_accuracy"] >= 0.85
    assert told["calibration_error"] == pytest.approx(told["calibration_error_by_world"])  # there is only one
    assert 0.0 < told["chance_error"] < 0.5
    assert done.returncode == (0 if told["targets_met"] else 1)
    (tmp_path / "world.json").write_text('{"schema_version": 1}')
    broken = whet("eval", "world.json", cwd=tmp_path)
    assert (broken.returncode, "is no world" in broken.stderr) == (2, True)
