"""`--whet-budget` and `--whet-risk`: what runs, what does not, and what is said about it."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import executed, git, project, run, said
from tests.pytest_plugin.test_plugin_order import sheets

from whet.bootstrap.lane import find_lane
from whet.bootstrap.ordering import Standing, open_ordering
from whet.bootstrap.site import open_site
from whet.core.errors import WhetError
from whet.core.sheets import LEFT_OUT, Sheet, Snapshot
from whet.pytest_plugin.clerk import _always
from whet.skills.ordering import Ranked
from whet.skills.ordering.proximity import Near

NAMES = [*(f"test_one.py::test_{n}" for n in range(9)), "test_one.py::test_bad"]


def known(root: Path, runs: int, seconds: float) -> Path:
    """Ten tests, of which test_bad failed in every run that is known."""
    tests = "".join(f"def test_{n}(): pass\n" for n in range(9)) + "def test_bad(): assert 0\n"
    project(root, {"test_one.py": tests})
    began = datetime.now(UTC) - timedelta(days=2)
    with open_site(root).store() as store:
        store.sheets.add(
            Sheet(f"{n}", began + timedelta(minutes=n), "junit", NAMES, "pppppppppf", [seconds] * 10)
            for n in range(runs)
        )
    return root


def test_a_risk_that_can_be_promised_leaves_tests_out(tmp_path: Path) -> None:
    root = known(tmp_path, 250, 0.01)
    done = run(root, "-v", "--whet-risk", "5%")
    assert done.returncode == 1
    # One failure, that went on for 250 runs. Missed, it would have stayed unseen for 5.5 of them; one more like it, and
    # (5.5 + 5.5) / (250 + 5.5) is still within the risk: the first test is enough.
    assert executed(done) == ["test_one.py::test_bad"]
    assert "1 of 10 tests chosen, 9 left out (promised risk 5%)" in said(done)
    assert "risk of missing a failing run: at most 4.3%" in said(done)
    assert not sheets(root)[-1].complete


def test_before_any_failure_was_seen_the_risk_is_unknown(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "".join(f"def test_{n}(): pass\n" for n in range(9))})
    began = datetime.now(UTC) - timedelta(days=2)
    with open_site(root).store() as store:
        store.sheets.add(
            Sheet(f"{n}", began + timedelta(minutes=n), "junit", NAMES[:9], "p" * 9, [10.0] * 9) for n in range(4)
        )
    unknown = "risk of missing a failing run: unknown (0 failing runs seen, a new failure in 0 of them)"
    assert unknown in said(run(root, "--whet-budget", "25s"))


def test_a_risk_that_nothing_less_keeps_runs_everything(tmp_path: Path) -> None:
    done = run(known(tmp_path, 12, 0.01), "-v", "--whet-risk", "0.05")
    assert len(executed(done)) == 10
    assert "nothing less keeps a risk of 5.0% (12 failing runs seen, a new failure in 1 of them)" in said(done)


def test_workers_share_the_budget_and_choose_the_same(tmp_path: Path) -> None:
    root = known(tmp_path, 4, 10.0)
    done = run(root, "-v", "-n", "2", "--whet-budget", "25s")
    assert done.returncode == 1
    assert len(executed(done)) == 5, "two workers have twice the time"
    assert "test_one.py::test_bad" in executed(done)
    assert "5 of 10 tests chosen, 5 left out (about 25.0 s of 50.0 s)" in said(done)
    newest = sheets(root)[-1]
    assert (len(newest.tests), newest.outcomes.count(LEFT_OUT), newest.complete) == (10, 5, False)


def test_workers_start_nothing_when_the_time_is_up(tmp_path: Path) -> None:
    slow = "import time, pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_a(n): time.sleep(0.5)\n"
    root = project(tmp_path, {"test_one.py": slow})
    done = run(root, "-v", "-n", "2", "--whet-budget", "0.3")
    assert done.returncode == 0
    assert len(executed(done)) == 2, "what was begun is ended"
    assert "the budget was used up before 7 of these could start" in said(done)


@pytest.mark.parametrize(
    ("ending", "options", "told"),
    [
        ("time.sleep(0.4)", (), "the budget was used up before 4 of these could start, so the risk is higher"),
        ("assert 0", ("-x",), "the run was stopped before 4 of these could start."),
        ("raise KeyboardInterrupt", (), "the run was stopped before 4 of these could start, so the risk is higher"),
    ],
)
def test_what_was_chosen_and_never_started_is_left_out(
    tmp_path: Path, ending: str, options: tuple[str, ...], told: str
) -> None:
    """Here everything is chosen; what is not in the sheet would count as if it had not been in the suite."""
    tests = f"def test_0(): pass\ndef test_1(): {ending}\n" + "".join(f"def test_{n}(): pass\n" for n in range(2, 6))
    root = project(tmp_path, {"test_one.py": f"import time\n{tests}"})
    done = run(root, "--whet-budget", "0.3", *options)
    assert told in said(done)
    [sheet] = sheets(root)
    outcomes = dict(zip(sheet.tests, sheet.outcomes, strict=True))
    assert [outcomes[f"test_one.py::test_{n}"] for n in (0, 2, 3, 4, 5)] == ["p", *LEFT_OUT * 4]
    assert not sheet.complete
    with open_ordering(root) as ordering:
        assert ordering.orderer.selections == 1, "counts towards the next run of everything"


def test_without_a_selection_nothing_is_left_out(tmp_path: Path) -> None:
    """Neither by -x nor in the shadow, where everything would have run."""
    root = known(tmp_path, 4, 10.0)
    rest = "".join(f"def test_{n}(): pass\n" for n in range(9))
    (root / "test_one.py").write_text(f"def test_bad(): assert 0\n{rest}")
    for options in (("-x",), ("-x", "--whet-shadow", "--whet-budget", "25s")):
        run(root, *options)
        newest = sheets(root)[-1]
        assert (newest.tests, newest.outcomes, newest.complete) == ([NAMES[-1]], "f", False), options


@pytest.mark.parametrize("rest", ["junit", "selection"])
def test_a_change_is_judged_from_the_last_run_of_everything(tmp_path: Path, rest: str) -> None:
    """What came later without the tests of the change, or without a commit, does not hide it."""
    root = project(tmp_path, {"shop.py": "def total(): return 1\n", "test_shop.py": "import shop\n", "other.py": ""})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    first = find_lane(root, {}).commit
    (root / "shop.py").write_text("def total(): return 2\n")
    git(root, "commit", "-q", "-a", "-m", "second")
    second = find_lane(root, {}).commit
    (root / "other.py").write_text("x = 1\n")
    git(root, "commit", "-q", "-a", "-m", "third")
    began = datetime.now(UTC) - timedelta(days=2)
    whole = Sheet("whole", began, "pytest", NAMES, "p" * 10, [0.1] * 10, branch="main", commit=first)
    later = whole._replace(id="later", at=began + timedelta(hours=1), commit=second, complete=False)
    if rest == "junit":
        later = later._replace(source="junit", commit=None, complete=True)
    with open_ordering(root) as ordering:
        ordering.sheets.add([whole, later])
        change = ordering.look_around().change
    assert change is not None
    assert set(change.files) == {"shop.py", "other.py"}


def test_what_failed_when_it_ran_last_is_never_left_out(tmp_path: Path) -> None:
    root = known(tmp_path, 4, 0.1)
    newest = Sheet("newest", datetime.now(UTC), "pytest", NAMES[:2], "fp", [0.1] * 2, complete=False)
    with open_ordering(root) as ordering:
        ordering.record(newest)
        assert ordering.rank(NAMES).failed_lately == {"test_one.py::test_bad", "test_one.py::test_0"}


def test_what_is_never_left_out() -> None:
    near = {"near": Near(0.9, ""), "far": Near(0.001, "")}
    standing = Standing([], near, frozenset({"failed"}))
    told = {name: _always(Ranked(name, "", 0.3, 1.0), standing) for name in ("near", "far", "failed", "other")}
    assert told == {"near": True, "far": False, "failed": True, "other": False}
    assert _always(Ranked("new, with a change known", "", 0.3, None), standing)
    assert _always(Ranked("new", "", None, None), standing)


def test_a_long_history_is_kept_while_it_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it ends half-way because a sheet is damaged."""
    root = known(tmp_path, 4, 0.1)
    with open_ordering(root) as ordering:
        of_no_use = Snapshot(4, ordering.sheets.snapshot("").last, b"of another version")  # type: ignore[union-attr]
        ordering.sheets.keep("", of_no_use)
    with closing(sqlite3.connect(root / ".whet" / "whet.db", isolation_level=None)) as damaging:
        damaging.execute("UPDATE sheet_columns SET packed = x'00' WHERE sheet = (SELECT max(sheet) FROM sheet_columns)")
    monkeypatch.setattr("whet.bootstrap.ordering._KEPT_EVERY_SECONDS", -1.0)
    with pytest.raises(WhetError, match="is damaged"), open_ordering(root):
        pass
    with open_site(root).store() as store:
        snapshot = store.sheets.snapshot("")
    assert snapshot is not None
    assert snapshot.sheets == 3
