"""A visit follows the tests that it finds failing: a real git project, real pytest, green and then broken."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import EXECUTOR_ONLY, whet

from whet.bootstrap.following import Following, last_passed
from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import open_site
from whet.core.memories import Memory, Wanted
from whet.core.records import now
from whet.memory.failures import Turn
from whet.memory.failures_triage import failure_of
from whet.tools.budget import Budget

# A twentieth of it is enough for three runs on a busy machine.
SETTINGS = EXECUTOR_ONLY.replace("minutes = 2.0", "minutes = 10.0")
CART = "def total(prices):\n    return sum(prices)\n\n\ndef count(prices):\n    return len(prices)\n"
BROKEN = CART.replace("sum(prices)", "sum(prices) + 1")
TESTS = """\
from cart import count, total


def test_one():
    assert total([1, 2]) == 3


def test_counted():
    assert count([5]) == 1


def test_two():
    assert total([5]) == 5
"""
ONE, TWO = "test_cart.py::test_one", "test_cart.py::test_two"
TURNED = "It first differs at cart.py:2: return becomes 4 instead of 3."


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Visited while it was green, at its first commit."""
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "cart.py").write_text(CART)
    (tmp_path / "test_cart.py").write_text(TESTS)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "green")
    assert whet("run", tmp_path).returncode == 0
    return tmp_path


def visited(project: Path) -> dict[str, dict[str, Any]]:
    """The failing tests of a visit, as its report has them."""
    run = whet("run", project, "--format", "json")
    assert run.returncode == 1, run.stderr
    found = json.loads(run.stdout)["findings"]
    return {each["test"]: each for each in found if each["kind"] == "failing-test"}


def remembered(project: Path) -> dict[Any, Memory]:
    site = open_site(project)
    with site.store() as store:
        failures = store.memories.newest(Wanted(project=site.name, topics=("failure",)), 9)
    return {each.about["test"]: each for each in failures}


def followed(project: Path, tests: Sequence[str], budget: Budget) -> dict[str, Turn]:
    site = open_site(project)
    with site.store() as store:
        return dict(Following(site, fleet_memory(site, store))(tests, budget))


def test_findings_tell_where_they_turn_and_are_compared_by_it(project: Path) -> None:
    (project / "cart.py").write_text(BROKEN)
    found = visited(project)
    assert {test: each["turned"] for test, each in found.items()} == {
        ONE: TURNED,
        TWO: "It first differs at cart.py:2: return becomes 6 instead of 5.",
    }
    known = remembered(project)
    turns = [failure_of(each).turned for each in known.values()]
    assert {turn and turn.place for turn in turns} == {"cart.py:total+1"}
    (project / "test_cart.py").write_text(TESTS + "\n\ndef test_late():\n    assert total([7]) == 7\n")
    git(project, "add", "test_cart.py")
    git(project, "commit", "-q", "-m", "one more")
    again = visited(project)
    assert again["test_cart.py::test_late"]["turned"] is None, "it never passed"
    page = (project / ".whet" / "report.html").read_text()
    assert TURNED in page
    alike = [each for each in again[ONE]["memories"] if "both first go another way" in each["why"]]
    assert alike, "by turn, since both were followed"
    shown = whet("memory", "show", known[ONE].id, "-C", project)
    assert "cart.py:total+1" in shown.stdout


def test_the_same_code_is_followed_once(project: Path) -> None:
    (project / "cart.py").write_text(BROKEN)
    visited(project)
    none = Budget(3600.0, clock=iter([0.0, *[3599.0] * 99]).__next__)
    assert set(followed(project, [ONE, TWO], none)) == {ONE, TWO}, "known, though no budget is left"
    (project / "cart.py").write_text(BROKEN + "# changed\n")
    assert followed(project, [ONE, TWO], none) == {}
    assert set(followed(project, [ONE, TWO], Budget(600.0))) == {ONE, TWO}


def test_nothing_is_followed_with_little_budget_or_when_switched_off(project: Path) -> None:
    (project / "cart.py").write_text(BROKEN)
    assert followed(project, [ONE], Budget(59.0)) == {}, "a twentieth of it is not enough for three runs"
    nearly_over = Budget(600.0, clock=iter([0.0, *[550.0] * 99]).__next__)
    assert followed(project, [ONE], nearly_over) == {}
    (project / "pyproject.toml").write_text(f"{SETTINGS}[tool.whet.memory]\nfollow = 0\n")
    assert visited(project)[ONE]["turned"] is None


def test_a_failure_that_no_change_explains_is_not_followed(project: Path) -> None:
    """It passed on this very code before: by chance, or by what is outside of it."""
    site = open_site(project)
    with site.store() as store:
        version = site.project.code_version()
        assert last_passed(site, store.sheets, [ONE], version) is None
        assert last_passed(site, store.sheets, [ONE], "other code") is not None


def test_one_that_passes_now_and_then_does_not_hide_where_the_others_passed(project: Path) -> None:
    """It passed once since the others broke."""
    site = open_site(project)
    with site.store() as store:
        green = store.sheets.latest()
        assert green is not None
        outcomes = "".join("p" if test == TWO else "f" for test in green.tests)
        red = green._replace(id="red", at=now(), outcomes=outcomes, code_version="broken", commit="0" * 40)
        store.sheets.add([red])
        found = last_passed(site, store.sheets, [TWO, ONE], "now")
    assert found is not None
    assert (found.commit, found.tests) == (green.commit, (TWO, ONE))


def test_what_was_imported_by_many_is_followed_file_by_file(project: Path) -> None:
    """A constant changed while both files were imported: whose turn it is, is known of one file alone."""
    (project / "vat.py").write_text("RATE = 19\n")
    (project / "test_vat.py").write_text("from vat import RATE\n\n\ndef test_rate():\n    assert RATE == 19\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "vat")
    assert whet("run", project).returncode == 0
    (project / "vat.py").write_text("RATE = 20\n")
    (project / "cart.py").write_text(BROKEN)
    found = followed(project, ["test_vat.py::test_rate", ONE, TWO], Budget(600.0))
    assert {test: turn.place for test, turn in found.items()} == {ONE: "cart.py:total+1", TWO: "cart.py:total+1"}


def test_one_that_cannot_be_followed_does_not_keep_the_others_from_it(project: Path) -> None:
    """The first passed with work that was never committed: it passes at no commit."""
    (project / "test_cart.py").write_text(TESTS.replace("def test_one", "def test_a(): pass\n\n\ndef test_one"))
    assert whet("run", project).returncode == 0
    (project / "test_cart.py").write_text(TESTS.replace("def test_one", "def test_a(): 1 / 0\n\n\ndef test_one"))
    (project / "cart.py").write_text(BROKEN)
    assert set(followed(project, ["test_cart.py::test_a", ONE], Budget(600.0))) == {ONE}


def test_who_asks_about_a_test_need_not_know_where_it_passed(project: Path) -> None:
    (project / "pyproject.toml").write_text(f"{SETTINGS}[tool.whet.memory]\nfollow = 0\n")
    (project / "cart.py").write_text(BROKEN)
    visited(project)
    by_text = whet("memory", "same-cause", ONE, "--by-text", "-C", project).stdout
    assert "first differs" not in by_text
    asked = whet("memory", "same-cause", ONE, "-C", project).stdout
    assert asked.startswith("Followed from ")
    assert ", where it passed on 20" in asked
    assert TURNED in asked
    assert "both first go another way than when they pass at cart.py:2" in asked
    again = whet("memory", "same-cause", ONE, "-C", project).stdout
    assert not again.startswith("Followed"), "known already"
    assert TURNED in again
    (project / "cart.py").write_text(CART)
    told = whet("memory", "same-cause", ONE, "-C", project)
    assert told.stdout.startswith("Compared by where it turned before. It could not be followed from ")
    assert told.returncode == 0
    answer = json.loads(whet("memory", "same-cause", ONE, "-C", project, "--format", "json").stdout)
    assert answer["passed_at"] is None
    assert "does not fail now" in answer["note"]
