"""The commands that read what visits left, and those that change a person's word."""

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import project_in, whet

from whet.store.sql_store import open_store


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project visited twice."""
    root = project_in(tmp_path_factory.mktemp("seen"), {"test_red.py": "def test_red(): assert False\n"})
    for _ in range(2):
        assert whet("run", cwd=root).returncode == 1
    return root


@pytest.fixture
def visited(seen: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seen, tmp_path / "copy"))


def test_status_tells_visits_agents_and_findings(visited: Path) -> None:
    told = json.loads(whet("status", "--format", "json", cwd=visited).stdout)
    assert [visit["status"] for visit in told["visits"]] == ["finished", "finished"]
    assert {agent["agent"] for agent in told["agents"]} == {"test-executor", "fleet-commander"}
    assert told["open_findings"] == {"failing-test": 1}
    text = whet("status", "-C", visited).stdout
    assert "Findings of the newest visit: 1 failing-test." in text


def test_flaky_says_how_often_tests_were_executed(visited: Path) -> None:
    assert "No flaky test among 1" in whet("flaky", cwd=visited).stdout
    told = json.loads(whet("flaky", "--all", "--format", "json", cwd=visited).stdout)
    assert (told["tests_executed"], told["flaky"][0]["failures"]) == (1, told["flaky"][0]["executions"])


def test_explain_lists_then_explains_one(visited: Path) -> None:
    listed = json.loads(whet("explain", "--format", "json", cwd=visited).stdout)
    chosen = next(d for d in listed if d["agent"] == "test-executor")
    told = json.loads(whet("explain", chosen["id"][:10], "--format", "json", cwd=visited).stdout)
    assert told["decision"]["id"] == chosen["id"]
    outcome = told["experience"]["outcome"]
    assert outcome["confirmed_failures"] + outcome["unchecked_failures"] == 1
    text = whet("explain", chosen["id"], cwd=visited)
    assert text.returncode == 0, text.stderr
    assert "What could be done" in text.stdout
    unknown = whet("explain", "no-such", cwd=visited)
    assert (unknown.returncode, unknown.stderr.strip()[-28:]) == (2, "List them with: whet explain")


def planned(root: Path) -> dict[str, Any]:
    """What test-executor would decide now."""
    told = json.loads(whet("run", "--dry-run", "--seed", "1", "--format", "json", cwd=root).stdout)
    found: dict[str, Any] = next(one["decision"] for one in told if one["decision"]["agent"] == "test-executor")
    return found


def test_a_persons_word_holds_until_it_is_taken_back(visited: Path) -> None:
    key = planned(visited)["state_key"]
    listed = json.loads(whet("explain", "--limit", "50", "--format", "json", cwd=visited).stdout)
    known = next(d for d in listed if d["agent"] == "test-executor" and d["state_key"] == key)
    assert whet("review", "override", known["id"], "run_failed_first", cwd=visited).returncode == 0
    ruled = planned(visited)
    assert (ruled["action"], ruled["decided_by"]) == ("run_failed_first", "person")
    assert whet("review", "approve", known["id"][:12], cwd=visited).returncode == 0
    ruled = planned(visited)
    assert (ruled["action"], ruled["decided_by"]) == (known["proposed"], "person")
    assert whet("review", "revoke", known["id"], cwd=visited).returncode == 0
    assert planned(visited)["decided_by"] != "person"
    again = whet("review", "revoke", known["id"], cwd=visited)
    assert (again.returncode, "no standing word" in again.stderr) == (2, True)
    wrong = whet("review", "override", known["id"], "fly", cwd=visited)
    assert (wrong.returncode, "It has: execute_sequential" in wrong.stderr) == (2, True)


def test_rewards_can_be_previewed(visited: Path) -> None:
    asked = ("rewards", "preview", "--weight", "bugs_found=0", "--format", "json")
    rows = json.loads(whet(*asked, cwd=visited).stdout)
    executed = [row for row in rows if row["agent"] == "test-executor"]
    # one failing test: 5 points at the profile's weight of 0.25
    assert [row["now"] - row["then"] for row in executed] == [pytest.approx(1.25)] * len(executed)
    assert "as asked" in whet("rewards", "preview", "--profile", "composite", cwd=visited).stdout
    wrong = whet("rewards", "preview", "--weight", "charm=1", cwd=visited)
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)


def test_audit_is_intact_until_someone_edits_the_file(visited: Path) -> None:
    intact = whet("audit", "verify", cwd=visited)
    assert (intact.returncode, intact.stdout[:7]) == (0, "Intact:")
    assert whet("audit", "log", cwd=visited).returncode == 0
    with sqlite3.connect(visited / ".whet" / "whet.db") as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        trail = next(name for name in tables if name.startswith("audit") and "head" not in name)
        changed = database.execute(f"update {trail} set subject = 'someone else' where seq = 2")  # noqa: S608
        assert changed.rowcount == 1
    broken = whet("audit", "verify", cwd=visited)
    assert (broken.returncode, broken.stdout[:6]) == (1, "BROKEN")
    assert whet("doctor", cwd=visited).returncode == 1


def test_doctor_says_what_is_there(visited: Path) -> None:
    done = whet("doctor", "--format", "json", cwd=visited)
    states = {check["what"]: check["state"] for check in json.loads(done.stdout)}
    assert done.returncode == 0
    assert states == {
        "interpreter": "ok",
        "pytest": "ok",
        "coverage": "ok",
        "pytest-xdist": "ok",
        "git": "note",
        "store": "ok",
    }


def test_doctor_finds_git_above_the_project(visited: Path) -> None:
    """A project in a folder of a larger checkout; `whet run` reads that history too."""
    subprocess.run(["git", "init", "-q", str(visited.parent)], check=True)
    states = {c["what"]: c["state"] for c in json.loads(whet("doctor", "--format", "json", cwd=visited).stdout)}
    assert states["git"] == "ok"


def test_init_writes_settings_that_run_and_takes_over_others(tmp_path: Path) -> None:
    root = project_in(tmp_path / "plain", {}, "")
    assert whet("init", cwd=root).returncode == 0
    assert "#learning_rate = 0.1" in (root / "pyproject.toml").read_text()
    other = project_in(tmp_path / "other", {}, "")
    given = {"learningRate": 0.25, "explorationRate": 0.3, "hierarchicalLearning": {"categoryWeight": 0.6}}
    (tmp_path / "learning.json").write_text(json.dumps(given))
    done = whet("init", "--import", tmp_path / "learning.json", cwd=other)
    assert done.returncode == 0, done.stderr
    written = (other / "pyproject.toml").read_text()
    assert "\nlearning_rate = 0.25" in written
    assert "\ninitial_epsilon = 0.3" in written
    assert "\ncategory_weight = 0.6" in written
    assert whet("doctor", cwd=other).returncode == 0


def test_before_the_first_visit_there_is_a_sentence(tmp_path: Path) -> None:
    project_in(tmp_path, {})
    done = whet("status", cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()[-20:]) == (0, "Start with: whet run")
    assert not (tmp_path / ".whet").exists()


def test_before_the_first_visit_standard_output_holds_json_or_nothing(tmp_path: Path) -> None:
    project_in(tmp_path, {})
    json.loads(whet("status", "--format", "json", cwd=tmp_path).stdout or "null")


def test_a_store_opened_by_others_is_the_one_the_command_reads(visited: Path) -> None:
    told = json.loads(whet("status", "--format", "json", cwd=visited).stdout)
    lived = {agent["agent"]: agent["experiences"] for agent in told["agents"]}
    key = (visited / ".whet" / "audit.key").read_bytes()
    with open_store(f"sqlite:///{visited / '.whet' / 'whet.db'}", key) as store:
        assert store.audit.verify().problem is None
        # How often the commander sends an agent within a visit is its decision: one turn a visit is the least.
        assert lived["test-executor"] >= 2
        assert store.experiences.count("test-executor") == lived["test-executor"]
