"""What the example promises: the history it recreates, and the faults it is known to have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHOP = EXAMPLES / "shop"
TRUTH = json.loads((SHOP / "truth.json").read_text(encoding="utf-8"))
# About the example, not part of the application.
NOTES = {"README.md", "truth.json"}
BUILT = {"__pycache__", ".pytest_cache", ".whet"}
# The shop needs no plugin, and its folder stays as it is.
QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run(place: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **QUICK, **environment}
    return subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, check=False)


def python(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(place, sys.executable, *arguments, **environment)


def suite_on(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, **environment)


def git(place: Path, *arguments: str) -> str:
    done = run(place, "git", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(place: Path) -> dict[str, bytes]:
    found = {path.relative_to(place): path for path in place.rglob("*") if path.is_file()}
    kept = {
        name: path for name, path in found.items() if not BUILT.intersection(name.parts) and ".git" not in name.parts
    }
    return {str(name): path.read_bytes() for name, path in kept.items() if str(name) not in NOTES}


@pytest.fixture(scope="module")
def recreated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recreated") / "shop"
    done = python(EXAMPLES, "recreate.py", str(place), HOME=str(place.parent), GIT_DIR="/nowhere")
    assert done.returncode == 0, done.stderr
    return place


def test_newest_commit_is_the_shop(recreated: Path) -> None:
    assert files(recreated) == files(SHOP)
    assert git(recreated, "status", "--porcelain") == ""


def test_history_has_six_commits_of_a_fixed_author(recreated: Path, tmp_path: Path) -> None:
    log = git(recreated, "log", "--format=%an|%cI").splitlines()
    assert len(log) == 6
    assert log[0] == "Robin Gardener|2024-05-06T17:31:00+02:00"
    python(EXAMPLES, "recreate.py", str(tmp_path / "again"))
    assert git(tmp_path / "again", "rev-parse", "HEAD") == git(recreated, "rev-parse", "HEAD")


def test_every_commit_can_be_collected(recreated: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(recreated), "copy")
    for commit in git(recreated, "rev-list", "HEAD").split():
        git(tmp_path / "copy", "checkout", "--quiet", commit)
        collected = suite_on(tmp_path / "copy", "--collect-only")
        assert collected.returncode == 0, collected.stdout


def test_newest_commit_broke_free_shipping(recreated: Path, tmp_path: Path) -> None:
    test = "tests/test_shipping.py::test_fifty_euros_travel_free"
    assert git(recreated, "diff", "--name-only", "HEAD~1") == "src/shop/shipping.py\n"
    git(tmp_path, "clone", "--quiet", str(recreated), "copy")
    assert suite_on(tmp_path / "copy", test).returncode == 1
    git(tmp_path / "copy", "checkout", "--quiet", "HEAD~1")
    assert suite_on(tmp_path / "copy", test).returncode == 0


def test_second_visit_keeps_what_was_learnt(tmp_path: Path) -> None:
    place = tmp_path / "shop"
    python(EXAMPLES, "recreate.py", str(place))
    (place / ".whet").mkdir()
    (place / ".whet" / "memory").write_text("learnt")
    again = python(EXAMPLES, "recreate.py", str(place))
    assert "is there already" in again.stdout
    assert (place / ".whet" / "memory").read_text() == "learnt"


def test_other_projects_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = python(EXAMPLES, "recreate.py", str(tmp_path))
    assert refused.returncode == 1
    assert "Give another directory" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_known_failures_fail_and_known_tests_exist() -> None:
    assert suite_on(SHOP, "--collect-only", *TRUTH["flaky"]).returncode == 0
    failed = suite_on(SHOP, "--tb=no", *TRUTH["failing"])
    assert f"{len(TRUTH['failing'])} failed" in failed.stdout
    assert "passed" not in failed.stdout


def test_labels_depend_on_the_hash_seed() -> None:
    test = "tests/test_catalogue.py::test_label_lists_tags"
    seen: set[int] = set()
    for seed in range(1, 12):
        seen.add(suite_on(SHOP, test, PYTHONHASHSEED=str(seed)).returncode)
        if seen == {0, 1}:
            return
    pytest.fail(f"every hash seed gave the same: {seen}")


def test_codes_depend_on_the_order() -> None:
    victim, polluter = TRUTH["flaky"][2], "tests/test_discounts.py::test_codes_ignore_case_and_spaces"
    assert suite_on(SHOP, victim, polluter).returncode == 0
    assert suite_on(SHOP, polluter, victim).returncode == 1


def test_everything_else_passes_and_the_gaps_are_where_they_are_said(tmp_path: Path) -> None:
    known = [f"--deselect={test}" for test in (*TRUTH["flaky"], *TRUTH["failing"])]
    slow = "not rush and not yearly and not large and not oversell"
    begun = ("-m", "coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", slow)
    data = str(tmp_path / "data")
    passed = python(SHOP, *begun, *known, COVERAGE_FILE=data)
    assert passed.returncode == 0, passed.stdout
    python(SHOP, "-m", "coverage", "json", "-q", "-o", str(tmp_path / "lines.json"), COVERAGE_FILE=data)
    measured = json.loads((tmp_path / "lines.json").read_text())["files"]
    for gap in TRUTH["uncovered"]:
        assert set(gap["lines"]) <= set(measured[gap["file"]]["missing_lines"]), gap
