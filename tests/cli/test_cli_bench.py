"""The contest of policies, on a world made by hand; nobody is judged on what they were trained on."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import whet
from tests.improvement.test_evaluation import world

from whet.improvement.world import save


def test_policies_are_compared_on_the_same_worlds_and_the_default_is_what_wins(tmp_path: Path) -> None:
    save(world(), tmp_path / "one.json")
    save(world().model_copy(update={"project": "again"}), tmp_path / "more/two.json")
    few = ["--seeds", "2", "--decisions", "100", "--training-steps", "256", "--html", "page.html"]
    done = whet("bench", "policies", "--worlds", "one.json", "--worlds", "more", *few, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [policy["policy"] for policy in told["policies"]] == ["thompson", "epsilon-greedy", "dqn", "ppo"]
    assert [each["world"].split("/")[0] for each in told["worlds"]] == ["by-hand", "again"]
    assert told["policies"][0]["against_default"] is None
    for policy in told["policies"]:
        lives = [
            each["whole_accuracy"]
            for w in told["worlds"]
            for each in w["learned"]
            if each["policy"] == policy["policy"]
        ]
        assert abs(policy["whole"]["share"] - sum(lives) / 2) < 1e-9
        assert sum(each["decisions"] for each in policy["reliability"]) == policy["decisions"] == 2 * 2 * 100
        assert all(each["independent"] <= 2 * 5 for each in policy["reliability"])  # that many states and actions
        assert 0.0 < policy["chance_error"] < 0.5
        (said,) = (line for line in told["says"] if line.startswith(f"{policy['policy']}: confidence is off by"))
        assert f"over {policy['decisions']} decisions" in said
    assert told["says"][-1].startswith("The default is thompson: ")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 4
    assert "http" not in page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--agent", "nosuch"), "There is no agent 'nosuch'."),
        (("--html", "nowhere/page.html"), "nowhere/page.html cannot be written"),
    ],
)
def test_what_cannot_be_is_said_before_the_work_begins(wrong: tuple[str, str], said: str, tmp_path: Path) -> None:
    for command in (("bench", "policies"), ("eval",)):
        done = whet(*command, *wrong, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
