"""Training as people start it: killed and resumed, put to use by a line of settings, exported."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.command_line import EXECUTOR_ONLY, WHET, environment, project_in, whet

from whet.cli.train import _tell_held_out, train
from whet.improvement.cases_evaluation import HeldOut
from whet.improvement.cases_service import running_service

CASES = Path(__file__).parents[2] / "examples" / "cases"
SUITE = {"test_it.py": "def test_it():\n    assert True\n"}
MODEL = ".whet/models/test-executor/"


def digest(model: Path) -> str:
    """Of all numbers of the trained policy."""
    return str(json.loads((model / "learner/policy.json").read_bytes())["policy"]["sha256"])


@pytest.mark.parametrize(("policy", "steps"), [("ppo", 1536), ("dqn", 640)])
def test_killed_and_resumed_it_ends_at_the_same_weights(policy: str, steps: int, tmp_path: Path) -> None:
    project = project_in(tmp_path, SUITE, EXECUTOR_ONLY + "[tool.whet.training]\nsave_every = 320\n")
    command = ["train", "--agent", "test-executor", "--policy", policy, "--seed", "4", "--steps", str(steps)]
    command += ["--curriculum"] if policy == "dqn" else []
    started = subprocess.Popen(
        [str(WHET), *command, "--out", "killed"], cwd=project, env=environment(), stdout=subprocess.DEVNULL
    )
    try:
        _wait_for_the_first_chapter(started, project / "killed")
    finally:
        os.kill(started.pid, signal.SIGKILL)
        ended = started.wait()
    assert ended == -signal.SIGKILL
    assert not (project / "killed/learner").exists()
    resumed = whet(*command, "--out", "killed", "--resume", cwd=project)
    assert resumed.returncode == 0, resumed.stderr
    whole = CliRunner().invoke(train, [*command[1:], "--out", str(project / "whole"), "-C", str(project)])
    assert whole.exit_code == 0, whole.output
    assert digest(project / "killed") == digest(project / "whole")
    assert (project / "killed/measures.jsonl").read_text() == (project / "whole/measures.jsonl").read_text()
    assert "<svg" in (project / "killed/curves.html").read_text()


def _wait_for_the_first_chapter(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / "checkpoint/320").exists():
            return
        time.sleep(0.01)
    pytest.fail("there was no chapter to kill it after")


WITHOUT_TORCH = """
import importlib.machinery as machinery

found = machinery.PathFinder.find_spec.__func__


def find_spec(cls, name, path=None, target=None):
    return None if name.partition(".")[0] == "torch" else found(cls, name, path, target)


machinery.PathFinder.find_spec = classmethod(find_spec)
"""


@pytest.fixture
def without_torch(tmp_path: Path) -> str:
    """A PYTHONPATH on which Python finds no torch, as where the extra is not installed."""
    folder = tmp_path / "without_torch"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_TORCH)
    return str(folder)


def test_without_torch_it_says_what_to_install(without_torch: str, tmp_path: Path) -> None:
    project = project_in(tmp_path / "project", SUITE)
    for policy in ("dqn", "ppo"):
        refused = whet("train", "--agent", "test-executor", "--policy", policy, cwd=project, PYTHONPATH=without_torch)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "Training needs torch, which is not installed." in refused.stderr
        assert "pip install 'whet[deep]'" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert not (project / ".whet").exists()


def test_a_warm_start_needs_no_extra_and_decides_the_first_run(without_torch: str, tmp_path: Path) -> None:
    chosen = EXECUTOR_ONLY + '[tool.whet.policies]\ntest-executor = "warm-start"\n'
    project = project_in(tmp_path / "project", SUITE, chosen)
    refused = whet("run", cwd=project, PYTHONPATH=without_torch)
    assert refused.returncode == 2
    assert "Make it: whet train --agent test-executor --policy warm-start" in refused.stderr
    made = whet("train", "--agent", "all", "--policy", "warm-start", cwd=project, PYTHONPATH=without_torch)
    assert made.returncode == 0, made.stderr
    assert "fleet-commander begins cold" in made.stdout
    assert 'test-executor = "warm-start"' in made.stdout
    assert whet("run", cwd=project, PYTHONPATH=without_torch).returncode == 0
    told = json.loads(whet("explain", "--format", "json", cwd=project).stdout)
    decision = next(each for each in told if each["agent"] == "test-executor")
    assert decision["policy"] == "warm-start"
    chances = {each["action"]: each["probability"] for each in decision["alternatives"]}
    assert max(chances.values()) > 2 / len(chances)  # it has a view before it has seen anything here


def test_a_line_of_settings_lets_the_trained_policy_decide(tmp_path: Path) -> None:
    project = project_in(tmp_path, SUITE, EXECUTOR_ONLY + '[tool.whet.policies]\ntest-executor = "dqn"\n')
    refused = whet("run", cwd=project)
    assert refused.returncode == 2
    assert "Train it: whet train --agent test-executor --policy dqn" in refused.stderr
    trained = whet("train", "--agent", "test-executor", "--steps", "264", "--seed", "1", cwd=project)
    assert trained.returncode == 0, trained.stderr
    assert 'test-executor = "dqn"' in trained.stdout
    assert whet("run", cwd=project).returncode == 0
    told = json.loads(whet("explain", "--format", "json", cwd=project).stdout)
    decision = next(each for each in told if each["agent"] == "test-executor")
    assert decision["policy"] == "deep-dqn"
    assert {each["source"] for each in decision["alternatives"]} == {"network"}
    assert decision["action"] == decision["proposed"] or decision["decided_by"] == "safe-default"

    learned = whet("train", "--agent", "test-executor", "--from", "history", "--steps", "264", cwd=project)
    assert "1 experiences" in learned.stdout

    assert whet("export", "--onnx", "net.onnx", "--agent", "test-executor", cwd=project).returncode == 0
    assert (project / "net.onnx").stat().st_size > 1000
    assert "nothing else" in whet("export", "--onnx", "net.onnx", "history.whet", cwd=project).stderr

    ppo = ("export", "--onnx", "ppo.onnx", "--agent", "test-executor", "--policy", "ppo")
    assert "whet train --agent test-executor --policy ppo" in whet(*ppo, cwd=project).stderr
    whet("train", "--agent", "test-executor", "--policy", "ppo", "--steps", "264", cwd=project)
    assert "the actions' preferences out" in whet(*ppo, cwd=project).stderr
    assert (project / "ppo.onnx").stat().st_size > 1000


def test_agents_share_while_they_are_trained_and_then_go_by_what_they_remember(tmp_path: Path) -> None:
    project = project_in(tmp_path, SUITE, EXECUTOR_ONLY + '[tool.whet.policies]\ntest-executor = "dqn"\n')
    command = ("train", "--agent", "all", "--share", "--memories", "4", "--steps", "264", "--seed", "1")
    trained = whet(*command, "--format", "json", cwd=project)
    assert trained.returncode == 0, trained.stderr
    told = json.loads(trained.stdout)
    assert "one by one: networks with room for memories" in told["said"][-1]
    assert all("borrowed" in each["measures"] for each in told["agents"])
    for _ in range(2):  # the second visit has something to remember
        assert whet("run", cwd=project).returncode == 0
    found = json.loads(whet("explain", "--format", "json", cwd=project).stdout)
    decision = next(each for each in found if each["agent"] == "test-executor")
    assert decision["policy"] == "deep-dqn"
    assert len(decision["memories"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agent", "nobody"), "There is no agent 'nobody'"),
        (("--agent", "fleet-commander"), "There is no world of fleet-commander to train on"),
        (("--agent", "test-executor", "--from", "history"), "whet run"),
        (("--agent", "test-executor", "--from", "nothing.json"), "nothing.json cannot be read"),
        (("--agent", "test-executor", "--resume"), "Leave out --resume"),
        (("--agent", "test-executor", "--keep"), "Train first without --keep"),
        (("--agent", "test-executor", "--from", "history", "--curriculum"), "Leave out --curriculum"),
        (("--agent", "test-executor", "--share"), "Give --agent all"),
        (("--agent", "all", "--policy", "ppo", "--share"), "without ppo"),
        (("--agent", "test-executor", "--policy", "ppo", "--memories", "4"), "Only a DQN attends to memories"),
        (("--policy", "warm-start"), "--agent all"),
        (("--agent", "all", "--policy", "warm-start", "--share"), "without --share"),
        (("--agent", "all", "--policy", "warm-start", "--steps", "100"), "without --steps"),
        (("--agent", "all", "--from", "nothing.json"), "Name that one"),
    ],
)
def test_what_cannot_be_trained_says_why(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    refused = whet("train", *arguments, cwd=project_in(tmp_path, SUITE))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert said in refused.stderr


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    file = tmp_path / "cases.json"
    subprocess.run([sys.executable, str(CASES / "generate.py"), str(file), "--seed", "3"], check=True)
    return file


def test_cases_without_outcomes_and_without_a_service_are_refused(case_file: Path, tmp_path: Path) -> None:
    project = project_in(tmp_path / "project", SUITE)
    refused = whet("train", "--from", str(case_file), cwd=project)
    assert refused.returncode == 2
    assert "would be invented" in refused.stderr
    assert "--service URL" in refused.stderr
    assert not (project / ".whet/models").exists()


def test_where_nothing_failed_there_is_nothing_to_judge_by(case_file: Path, tmp_path: Path) -> None:
    project = project_in(tmp_path / "project", SUITE)
    with running_service([sys.executable, str(CASES / "service.py"), "--no-faults"], cwd=CASES) as url:
        done = whet("train", "--from", str(case_file), "--service", url, "--steps", "64", cwd=project)
    assert "Nothing failed: among these cases there was nothing to find" in done.stdout
    assert "whet rank" not in done.stdout


@pytest.mark.parametrize(
    ("half_width", "said", "used"),
    [
        (0.02, "It finds more: +0.100 ± 0.020 (95 %) against random.", True),
        (0.2, "It is not shown to find more", False),
    ],
)
def test_a_training_says_whether_it_beats_chance(
    half_width: float, said: str, used: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    _tell_held_out(HeldOut(243, 984, 0.16, 0.06, 0.04, 0.1, half_width), put_to_use=True)
    told = capsys.readouterr().out
    assert "Judged on 243 held-out cases with 984 requests: 0.160 failures of a new cause a request" in told
    assert (said in told, "whet rank --cases" in told) == (True, used)


def test_a_case_file_that_was_cut_short_is_said_to_be_broken(case_file: Path, tmp_path: Path) -> None:
    case_file.write_text(case_file.read_text()[:5000])
    refused = whet("train", "--from", str(case_file), cwd=project_in(tmp_path / "project", SUITE))
    assert refused.returncode == 2
    assert "is not valid JSON or is cut off" in refused.stderr
    assert re.search(r"at line \d+, column \d+. Write or export it anew", refused.stderr)


def test_a_case_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused = whet("train", "--from", "nowhere.json", cwd=project_in(tmp_path, SUITE))
    assert (refused.returncode, "There is no file nowhere.json" in refused.stderr) == (2, True)


def test_cases_are_learned_from_a_live_service_judged_and_put_in_order(case_file: Path, tmp_path: Path) -> None:
    project = project_in(tmp_path / "project", SUITE)
    early = whet("rank", "--cases", case_file, cwd=project)
    assert (early.returncode, "not learned in this project yet" in early.stderr) == (2, True)
    with running_service([sys.executable, str(CASES / "service.py"), "--seed", "3"], cwd=CASES) as url:
        training = ("train", "--from", str(case_file), "--service", url, "--steps", "1104", "--seed", "1")
        done = whet(*training, "--format", "json", cwd=project)
        again = whet(*training, "--resume", cwd=project)
        live = whet("rank", "--cases", case_file, "--service", url, "--limit", "30", "--format", "json", cwd=project)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {"policy_loss", "value_loss", "explained_variance", "episode_reward"} <= told["measures"].keys()
    judged = told["held_out"]
    assert (0 < judged["policy"] <= 1, 500 < judged["requests"] <= 984) == (True, True)
    assert f"Judged on {judged['cases']} held-out cases with {judged['requests']} requests" in again.stdout
    assert ("whet rank --cases" in again.stdout) == (judged["more_than_random"] > judged["more_than_random_half_width"])
    executed = json.loads(live.stdout)["cases"]
    assert [each["place"] for each in executed] == list(range(1, 31))
    assert {each["outcome"] for each in executed} == {"passed", "failed"}
    assert all((each["cause"] is None) == (each["outcome"] == "passed") for each in executed)
    before = whet("rank", "--cases", case_file, "--limit", "3", cwd=project)
    assert before.stdout.count("not run") == 3
    rows = [json.loads(line) for line in (project / ".whet/models/cases/ppo/measures.jsonl").read_text().splitlines()]
    assert (rows[-1]["step"], "policy_loss" in rows[-1]) == (1104, False)  # the last rollout is not full
    assert max(row.get("episode_reward", 0.0) for row in rows) >= 1.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--service", "http://127.0.0.1:8000"), "give --cases FILE"),
        (("--cases", "cases.json", "test_it.py::test_it"), "leave out tests"),
        (("--cases", "cases.json", "--budget"), "leave out tests, --changed-since, --budget"),
    ],
)
def test_tests_and_test_cases_are_not_put_in_one_order(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    refused = whet("rank", *arguments, cwd=project_in(tmp_path, SUITE))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert said in refused.stderr
