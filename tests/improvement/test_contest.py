"""What a contest says, against numbers worked by hand."""

from pathlib import Path

import numpy as np
import pytest
from tests.improvement.test_evaluation import PROFILE, world

from whet.bootstrap.contest import verdict
from whet.core.errors import WhetError
from whet.improvement.contest import Rules, Share, against, contest
from whet.improvement.evaluation import Course, WorldReport, judge


def report(thompson: float, dqn: float) -> WorldReport:
    made = judge(world(), PROFILE, {}, Course(decisions=100, seeds=1, policies=("thompson",)))
    (learned,) = made.learned
    lives = {"thompson": thompson, "dqn": dqn}
    return made.model_copy(
        update={
            "learned": tuple(
                learned.model_copy(update={"policy": name, "whole_accuracy": share}) for name, share in lives.items()
            )
        }
    )


def test_a_difference_is_taken_world_by_world() -> None:
    told = against("thompson", "dqn", [report(0.2, 0.3), report(0.8, 0.92)])
    assert told.share == pytest.approx(0.11)
    assert told.half_width == pytest.approx(12.706 * np.std([0.1, 0.12], ddof=1) / np.sqrt(2))
    assert not told.shown


@pytest.mark.parametrize(
    ("deep", "said"),
    [
        ((0.6, 0.61, 0.59), "dqn did better than chance explains"),
        ((0.4, 0.41, 0.39), "no deep policy has been shown to be better"),
        ((0.9, 0.2, 0.6), "no deep policy has been shown to be better"),
    ],
)
def test_only_what_is_more_than_chance_is_called_better(deep: tuple[float, ...], said: str) -> None:
    assert said in verdict([report(0.5, share) for share in deep])["says"][-1]


def test_one_world_shows_nothing() -> None:
    assert not Share(share=0.9, half_width=None).shown


def test_nobody_is_judged_on_what_they_were_trained_on(tmp_path: Path) -> None:
    rules = Rules(PROFILE, {}, Course(), 256, tmp_path)
    with pytest.raises(WhetError, match="by-hand/regression-risk-analyzer would be judged by who was trained on it"):
        list(contest([world()], [world()], rules))
