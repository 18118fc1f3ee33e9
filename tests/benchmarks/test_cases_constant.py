import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.cases import EXAMPLE
from benchmarks.cases_constant import improvement, trained

from whet.improvement.cases import read_cases
from whet.improvement.training_record import TrainingFolder


def test_constant_rewards_teach_nothing_whatever_the_losses_say(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(EXAMPLE / "generate.py"), str(tmp_path / "cases.json")], check=True)
    cases = [case for case in read_cases(tmp_path / "cases.json") if len(case.steps) == 1]
    _, rows = trained(cases, 0, 2048, TrainingFolder(tmp_path / "ppo"))
    assert {row["episode_reward"] / row["episode_length"] for row in rows if "episode_reward" in row} == {1.0}
    assert improvement([row["value_loss"] for row in rows if "value_loss" in row]) > 28


def test_an_improvement_is_in_percent_of_the_first() -> None:
    assert improvement([-0.5, 9.0, -0.64]) == pytest.approx(28.0)
    assert improvement([0.5, 0.64]) == pytest.approx(-28.0)
