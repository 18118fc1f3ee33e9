"""whet learn, models, compare, promote, rollback, pause, resume: on a project that lived on a recorded world."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import environment, project_in, whet
from tests.improvement.learning_site import live, made

from whet.bootstrap.learning import FOLDER
from whet.bootstrap.lineage import code_digest, keys_digest
from whet.bootstrap.site import Site, open_site
from whet.cli.learn import look
from whet.core.candidates import Stage
from whet.tools.lock import exclusive

# The commands go by the machine's clock, and what is a week old is stale.
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = made(tmp_path_factory.mktemp("learns") / "project")
    with site.store() as store:
        live(site, store, runs=40, first=0, began=YESTERDAY)
    return site.project.root


@pytest.fixture
def project(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived, tmp_path / "project"))


@pytest.fixture
def trained(project: Path) -> Path:
    assert whet("learn", "--now", "-C", project).returncode == 0
    return project


def candidate(project: Path) -> dict[str, Any]:
    (only,) = json.loads(whet("models", "--format", "json", "-C", project).stdout)
    return dict(only)


def deciders(site: Site, first: int) -> set[str]:
    """The policies that decide in some more runs."""
    with site.store() as store:
        live(site, store, runs=5, first=first, began=YESTERDAY)
        return {each.policy for each in store.decisions.recent(limit=15)}


def test_what_was_lived_becomes_a_candidate_that_waits_for_evidence(project: Path) -> None:
    told = json.loads(whet("learn", "--now", "--format", "json", "-C", project).stdout)
    assert [each["phase"] for each in told["steps"]] == ["collect", "take", "train", "train", "train", "prove"]
    found = candidate(project)
    assert (found["stage"], found["share"], found["lineage"]["batch"]) == ("trained", 0.0, 1)
    assert found["why"].startswith("not known yet")
    assert {gate["name"]: gate["passed"] for gate in found["evidence"]["gates"]}["safety"] is True
    shown = whet("models", "1", "-C", project).stdout
    assert "candidate 1 of test-executor (tables): trained, 0% of the runs" in shown
    assert "inconclusive" in shown


def test_every_agent_of_a_real_visit_is_trained_and_examined(tmp_path: Path) -> None:
    """What a visit without a service leaves is a quarter held out; here first none of it, then all of it."""
    settings = "[tool.whet]\nminutes = 1.0\n[tool.whet.learn]\nholdout = {}\n"
    project = project_in(tmp_path, {"test_it.py": "def test_one():\n    pass\n"}, settings.format(1e-12))
    assert whet("run", project).returncode == 0
    ended = whet("learn", "--now", "-C", project)
    assert ended.returncode == 0, ended.stderr
    (project / "pyproject.toml").write_text(settings.format(1 - 1e-12))
    again = whet("learn", "-C", project)
    assert again.returncode == 0, again.stderr
    asked = {
        each["agent"]: each["evidence"] for each in json.loads(whet("models", "--format", "json", "-C", project).stdout)
    }
    assert {"fleet-commander", "test-executor"} <= set(asked)
    assert all(each["holdout"]["decisions"] > 0 for each in asked.values())


def test_without_enough_it_says_what_it_waits_for(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        (project / "pyproject.toml").read_text().replace("min_experiences = 30", "min_experiences = 5000")
    )
    ended = whet("learn", "-C", project)
    assert ended.returncode == 0
    assert "of 5,000 experiences; the first batch needs no waiting" in ended.stdout
    assert "No policy was trained yet" in whet("models", "-C", project).stdout


def test_a_promoted_candidate_decides_and_a_rolled_back_one_does_not(trained: Path) -> None:
    site = open_site(trained)
    assert deciders(site, 100) == {"tabular-thompson"}
    asked = whet("promote", "1", "-C", trained)
    assert asked.returncode == 1
    assert "It goes without passing the gates." in asked.stdout
    assert candidate(trained)["stage"] == "trained"
    forced = whet("promote", "1", "--yes", "-C", trained)
    assert forced.returncode == 0, forced.stderr
    assert "is production: promoted by" in forced.stdout
    assert deciders(site, 200) == {"candidate-1"}
    compared = json.loads(whet("compare", "1", "--format", "json", "-C", trained).stdout)
    assert [side["runs"] for side in compared["sides"]] == [5, 0]
    assert compared["always_valid"]["lower"] is None
    back = whet("rollback", "1", "--why", "only a test", "-C", trained)
    assert "is rolled-back: rolled back by" in back.stdout
    assert deciders(site, 300) == {"tabular-thompson"}
    later = json.loads(whet("compare", "1", "--format", "json", "-C", trained).stdout)
    assert later["sides"] == compared["sides"]  # what came after it is not meanwhile
    log = whet("audit", "log", "--limit", "200", "--format", "json", "-C", trained).stdout
    assert "only a test" in log
    assert "by force" in log


def test_a_line_of_settings_keeps_its_policy(trained: Path) -> None:
    assert whet("promote", "1", "--yes", "-C", trained).returncode == 0
    with (trained / "pyproject.toml").open("a") as file:
        file.write('[tool.whet.policies]\ntest-executor = "random"\n')
    assert deciders(open_site(trained), 100) == {"random"}


def test_paused_it_stays_until_resumed(trained: Path) -> None:
    assert "is trained, paused: paused by" in whet("pause", "1", "--why", "holiday", "-C", trained).stdout
    assert candidate(trained)["paused"] is True
    assert "prove" not in whet("learn", "-C", trained).stdout
    assert "resumed by" in whet("resume", "1", "-C", trained).stdout
    assert candidate(trained)["paused"] is False


def test_files_that_were_changed_never_decide(trained: Path) -> None:
    assert whet("promote", "1", "--yes", "-C", trained).returncode == 0
    (tables,) = (trained / ".whet" / "registry").rglob("tables.json")
    tables.chmod(0o600)
    tables.write_text(tables.read_text().replace("0", "1"))
    site, warned = open_site(trained), list[str]()
    with site.store() as store:
        live(site, store, runs=1, first=100, warn=warned.append, began=YESTERDAY)
        assert {each.policy for each in store.decisions.recent(limit=3)} == {"tabular-thompson"}
        assert store.candidates.at_stage("test-executor", Stage.PRODUCTION)
    assert "tables.json" in warned[0]


def test_what_was_done_is_told_although_something_could_not_be(trained: Path) -> None:
    """What the next candidate would go on from was changed, so that it cannot be trained."""
    assert whet("promote", "1", "--yes", "-C", trained).returncode == 0
    (tables,) = (trained / ".whet" / "registry").rglob("tables.json")
    tables.chmod(0o600)
    tables.write_text(tables.read_text().replace("0", "1"))
    site = open_site(trained)
    with site.store() as store:
        live(site, store, runs=20, first=100, warn=lambda _told: None, began=YESTERDAY)
    ended = whet("learn", "--now", "--format", "json", "-C", trained)
    told = [each["told"] for each in json.loads(ended.stdout)["steps"]]
    assert any(each.startswith("test-executor: batch 2 could not be trained: ") for each in told)
    assert (ended.returncode, "tables.json" in ended.stderr) == (2, True)


@pytest.mark.parametrize("command", ["promote", "rollback", "pause", "resume", "models", "compare"])
def test_who_does_not_exist_cannot_be_steered(project: Path, command: str) -> None:
    ended = whet(command, "7", "-C", project)
    assert ended.returncode == 2
    assert "There is no candidate" in ended.stderr
    assert "whet models lists those there are." in ended.stderr


def test_nobody_is_compared_with_themselves(trained: Path) -> None:
    ended = whet("compare", "1", "1", "-C", trained)
    assert (ended.returncode, "no different from itself" in ended.stderr) == (2, True)


def test_the_list_tells_what_the_last_look_saw(trained: Path) -> None:
    assert whet("promote", "1", "--yes", "-C", trained).returncode == 0
    assert whet("learn", "-C", trained).returncode == 0
    shown = whet("models", "-C", trained, COLUMNS="80").stdout.splitlines()
    assert shown[0] == "Candidates, newest first"
    assert shown[1].startswith("#1  test-executor  tables  production  100%  since ")
    assert "0 decisions, reward unknown" in shown[2]  # in one line, however narrow the terminal
    assert len(shown) == 3


def test_an_agent_that_there_is_not_is_told(trained: Path) -> None:
    ended = whet("models", "--agent", "nobody", "-C", trained)
    assert (ended.returncode, "There is no agent 'nobody'" in ended.stderr) == (2, True)
    assert "No policy was trained yet" in whet("models", "--agent", "flaky-test-hunter", "-C", trained).stdout


def test_a_candidate_tells_which_experiences_and_which_sources_it_comes_from(trained: Path) -> None:
    lineage = candidate(trained)["lineage"]
    with open_site(trained).store() as store:
        (batch,) = store.learning.batches()
        keys = sorted(each.key for each in store.learning.members(batch.number))
    assert lineage["keys_digest"] == hashlib.sha256("".join(f"{key}\n" for key in keys).encode()).hexdigest()
    assert lineage["keys_digest"] == keys_digest(reversed(keys))
    assert lineage["code_digest"] == code_digest()
    shown = whet("models", "1", "-C", trained).stdout
    assert f"experiences {lineage['keys_digest'][:12]}, sources of whet {lineage['code_digest'][:12]}" in shown


def test_a_service_tells_of_trouble_and_goes_on(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = open_site(trained)
    with exclusive(site.state_dir / f"{FOLDER}.lock"):
        look(site, at_once=False, form="text")
    told = capsys.readouterr().err
    assert told.startswith("whet: Another whet is at work in this project")
    look(site, at_once=False, form="text")
    assert "candidate 1 of test-executor: not known yet" in capsys.readouterr().out


def test_a_service_tells_of_a_defect_and_goes_on(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whet.improvement.proving.gates.safety", _broken)
    look(open_site(trained), at_once=False, form="text")
    assert "internal error, please report it: KeyError: 'nobody'" in capsys.readouterr().err


def _broken(*_: object) -> None:
    raise KeyError("nobody")


def test_a_service_that_nobody_hears_ends(trained: Path) -> None:
    with Path("/dev/full").open("w") as nobody:
        command = [str(Path(sys.executable).with_name("whet")), "learn", "--watch", "-C", str(trained)]
        ended = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert ended.returncode == 1
    assert "standard output" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_ends_when_it_is_told_to(trained: Path, number: signal.Signals) -> None:
    """While it waits for its next look, an hour from now."""
    command = [str(Path(sys.executable).with_name("whet")), "learn", "--watch", "-C", str(trained)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            assert "candidate 1 of test-executor: not known yet" in run.stdout.readline()
            run.send_signal(number)
            _, complained = run.communicate(timeout=60)
        finally:
            run.kill()
    assert (run.returncode, complained) == (0, "")
    assert candidate(trained)["stage"] == "trained"


def test_a_service_may_be_started_before_the_first_visit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'new'\n")
    look(open_site(tmp_path), at_once=False, form="text")
    assert "not visited this project yet" in capsys.readouterr().err
    assert not (tmp_path / ".whet").exists()


def test_before_any_visit_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'new'\n")
    reading, acting = (["learn"], ["models"], ["compare", "1"]), ("promote", "rollback", "pause", "resume")
    for command, code in (*((each, 0) for each in reading), *(([name, "1"], 2) for name in acting)):
        ended = whet(*command, "-C", tmp_path)
        assert (ended.returncode, "Whet has not visited this project yet" in ended.stderr) == (code, True), command


def test_status_tells_what_learning_has_and_waits_for_and_changes_nothing(project: Path) -> None:
    before = json.loads(whet("learn", "--status", "--format", "json", "-C", project).stdout)
    assert (sum(before["intake"].values()), before["waiting"]) == (0, [])
    assert "nothing; whet learn takes in what is new" in whet("learn", "--status", "-C", project).stdout
    assert whet("learn", "-C", project).returncode == 0
    told = json.loads(whet("learn", "--status", "--format", "json", "-C", project).stdout)
    with open_site(project).store() as store:
        assert sum(told["intake"].values()) == store.experiences.count() > 0
    assert told["drift"] == told["exploration_reopened"] == []
    (pace,) = told["pace"]
    assert (pace["decisions"], pace["step"]) == (3.0, 63)  # 25 runs are more than 25 decisions; of them two in five
    assert "3.0 decisions a visit: about 14 visits until enough wait to train with, and about 63 for" in pace["told"]
    assert told == json.loads(whet("learn", "--status", "--format", "json", "-C", project).stdout)
    shown = whet("learn", "--status", "-C", project).stdout
    assert f"Experiences judged: {told['intake']['good']:,} good" in shown


def test_the_status_of_an_empty_store_has_no_title_above_nothing(project: Path) -> None:
    (project / ".whet" / "whet.db").write_bytes(b"")
    shown = whet("learn", "--status", "-C", project)
    assert shown.returncode == 0
    lines = [line for line in shown.stdout.splitlines() if line]
    assert lines == [
        "Experiences judged: none yet",
        "Waiting to be trained with",
        "  nothing; whet learn takes in what is new",
        "At the pace of the last visits",
        "  unknown before the first whet run",
        "Has learning settled?",
        "  unknown before the first whet run",
    ]
