"""Every line of [tool.whet.learn] and [tool.whet.production] reaches whoever goes by it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.improvement.learning_site import START, live, made

from whet.bootstrap.learning import Trainer, pipeline, plan
from whet.bootstrap.proving import held_out, rules
from whet.bootstrap.site import Site
from whet.core.learning_log import Batch
from whet.improvement.intake.retention import Retention
from whet.improvement.intake.trigger import Rule
from whet.improvement.pipeline import Pipeline
from whet.improvement.rollout.plan import Plan

SETTINGS = """
[project]
name = "asked"
[tool.whet.training]
steps = 77
save_every = 11
[tool.whet.learn]
policy = "dqn"
min_experiences = 31
min_hours = 3.5
holdout = 0.125
stream_days = 5.0
stream_capacity = 4321
replay_capacity = 54321
importance = 12.0
[tool.whet.production]
ab_testing = false
first_share = 0.2
traffic_split = 0.6
min_samples = 41
min_decisions = 43
most_samples = 97
step_hours = 1.5
probation_hours = 9.0
confidence_level = 0.97
min_accuracy = 0.71
min_regression = 0.72
min_safety = 0.73
min_effective = 74
rollback_threshold = 0.11
rollback_reward = 16.0
rollback_performance = 0.91
[tool.whet.confidence]
review_below = 0.3
review_hiding_below = 0.4
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return made(tmp_path / "project", SETTINGS)


@pytest.fixture
def learning(site: Site) -> Iterator[Pipeline]:
    with site.store() as store, pipeline(site, store) as opened:
        live(site, store, runs=1, first=0)
        yield opened


def test_a_rollout_goes_by_them(site: Site, learning: Pipeline) -> None:
    asked = Plan(
        unattended=False,
        shares=(0.2, 0.6),
        fewest_units=41,
        fewest_decisions=43,
        fewest_hours=1.5,
        most_units=97,
        confidence=0.97,
        floor=0.91,
        success_drop=0.11,
        reward_drop=16.0,
        probation_hours=9.0,
    )
    assert plan(site.settings) == learning.plan == asked
    unlike = {name for name, field in Plan.model_fields.items() if getattr(asked, name) != field.default}
    assert set(Plan.model_fields) - unlike == {"judged_from", "alarm_confidence", "baseline_hours"}  # have no line


def test_the_gates_go_by_them(site: Site, learning: Pipeline) -> None:
    asked = rules(site.settings, learning.store.experiences.recent())
    assert (asked.accuracy, asked.regression, asked.safety, asked.level, asked.effective) == (
        0.71,
        0.72,
        0.73,
        0.97,
        74,
    )
    assert (asked.gate.review_below, asked.gate.review_hiding_below) == (0.3, 0.4)
    assert asked.reward is not None


def test_intake_goes_by_them(site: Site, learning: Pipeline) -> None:
    assert learning.rule == Rule(31, 3.5)
    assert learning.retention == Retention(5.0, 4321)
    assert learning.replay_capacity == 54321
    runs = [f"run-{number}" for number in range(2000)]
    assert sum(map(learning.held_out, runs)) / len(runs) == pytest.approx(0.125, abs=0.03)
    assert [run for run in runs if learning.held_out(run)] == list(filter(held_out(site.settings), runs))


def test_training_goes_by_them(learning: Pipeline) -> None:
    batch = Batch(number=5, agent="test-executor", size=1, first="a", last="a", closed_at=START)
    assert isinstance(learning.workshop, Trainer)
    asked = learning.workshop.order(batch)
    assert (asked.kind, asked.steps, asked.checkpoint_steps, asked.importance) == ("dqn", 77, 11, 12.0)
