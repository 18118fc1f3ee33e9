"""`whet rank` and `whet quarantine`, as people type them."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.command_line import WHET, environment, project_in, whet

from whet.bootstrap.site import open_site
from whet.core.sheets import Sheet

TESTS = ["test_one.py::test_a", "test_one.py::test_b", "test_one.py::test_c"]
SUITE = "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """test_b failed in both runs that are known."""
    root = project_in(tmp_path, {"test_one.py": SUITE})
    with open_site(root).store() as store:
        begin = datetime.now(UTC) - timedelta(hours=5)
        runs = (Sheet(f"{n}", begin + n * timedelta(hours=1), "junit", TESTS, "pfp", [0.5, 0.5, 0.5]) for n in range(2))
        store.sheets.add(runs)
    return root


def test_rank_gives_the_order_with_a_reason_for_each(known: Path) -> None:
    text = whet("rank", cwd=known)
    assert text.returncode == 0, text.stderr
    assert "3 tests, best first; 2 runs known" in text.stdout
    told = json.loads(whet("rank", "--format", "json", cwd=known).stdout)
    assert told["runs"] == 2
    assert sorted(row["test"] for row in told["tests"]) == TESTS
    first = told["tests"][0]
    assert (first["place"], first["test"]) == (1, "test_one.py::test_b")
    assert (first["reason"], first["expected_seconds"]) == ("failed in its last 2 runs", 0.5)


def test_rank_for_a_budget_puts_the_likelier_before_the_quicker(tmp_path: Path) -> None:
    """In a whole run the likelier one would keep everybody waiting; within a budget it may be all there is time for."""
    root = project_in(tmp_path, {"test_one.py": SUITE})
    begin = datetime.now(UTC) - timedelta(days=9)
    outcomes, seconds = ["fpp", "fpp", "ffp", "fpp"] * 5, [4.0, 0.1, 6.0]
    with open_site(root).store() as store:
        store.sheets.add(
            Sheet(f"{n}", begin + n * timedelta(hours=1), "junit", TESTS, letters, seconds)
            for n, letters in enumerate(outcomes)
        )
    orders = [json.loads(whet("rank", *more, "--format", "json", cwd=root).stdout) for more in ((), ("--budget",))]
    assert [told["tests"][0]["test"] for told in orders] == [TESTS[1], TESTS[0]]


def test_rank_takes_any_runners_tests_from_standard_input(known: Path) -> None:
    given = "test_one.py::test_a\ntest_one.py::test_b\nnever seen\n\n3 tests collected\n"
    done = subprocess.run(
        [str(WHET), "rank", "-", "--format", "json", "--limit", "2"],
        cwd=known,
        env=environment(),
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    rows = json.loads(done.stdout)["tests"]
    assert [row["place"] for row in rows] == [1, 2]
    assert rows[0]["test"] == "test_one.py::test_b"


def test_rank_refuses_a_commit_that_git_does_not_know(known: Path) -> None:
    done = whet("rank", "--changed-since", "no-such-commit", cwd=known)
    assert done.returncode == 2
    assert "git knows no commit 'no-such-commit'" in done.stderr


def test_a_test_goes_into_quarantine_and_out_again(known: Path) -> None:
    assert "Nothing is in quarantine." in whet("quarantine", "list", cwd=known).stdout
    assert whet("quarantine", "add", TESTS[1], "--reason", "slow network", cwd=known).returncode == 0
    held = json.loads(whet("quarantine", "list", "--format", "json", cwd=known).stdout)
    assert held == {"quarantined": [{"test": TESTS[1], "reason": "slow network"}]}
    assert whet("quarantine", "remove", TESTS[1], cwd=known).returncode == 0
    again = whet("quarantine", "remove", TESTS[1], cwd=known)
    assert (again.returncode, "is not in quarantine" in again.stderr) == (2, True)


def test_what_is_no_test_is_not_taken_into_quarantine(known: Path) -> None:
    done = whet("quarantine", "add", "test_one.py", cwd=known)
    assert done.returncode == 2
    assert "is no test's id" in done.stderr


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("test_one.py::tset_b", "Did you mean: test_one.py::test_b"),
        ("tests/test_one.py::test_c", "Did you mean: test_one.py::test_c?"),
        ("test_two.py::test_many", "Did you mean: test_two.py::test_many[1], test_two.py::test_many[2]?"),
    ],
)
def test_what_would_have_no_effect_is_not_taken_into_quarantine(known: Path, given: str, near: str) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_many(n): pass\n"
    (known / "test_two.py").write_text(many)
    done = whet("quarantine", "add", given, cwd=known)
    assert (done.returncode, "There is no test" in done.stderr) == (2, True)
    assert near in " ".join(done.stderr.split())
    assert json.loads(whet("quarantine", "list", "--format", "json", cwd=known).stdout) == {"quarantined": []}
    assert whet("quarantine", "add", "test_two.py::test_many[2]", cwd=known).returncode == 0, "no run knows it yet"


def test_where_pytest_cannot_tell_which_tests_there_are_quarantine_says_so(known: Path) -> None:
    (known / "test_two.py").write_text("def test_broken(:\n")
    done = whet("quarantine", "add", "test_two.py::test_broken", cwd=known)
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "Whether there is such a test is not known: pytest could not collect 1 file(s)" in told
