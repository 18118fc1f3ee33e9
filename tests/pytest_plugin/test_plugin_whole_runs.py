"""What counts as a run of everything, when one comes, and what a budget that is used up must not swallow."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import executed, git, project, run, said
from tests.pytest_plugin.test_plugin_order import sheets

from whet.bootstrap.ordering import open_ordering
from whet.bootstrap.site import open_site
from whet.core.sheets import LEFT_OUT, Sheet

SAME = "import os\ndef test_login(): assert 'RED' not in os.environ\ndef test_out(): pass\n"
TEN = [f"test_one.py::test_{n}" for n in range(10)]
SPLITTING = "def pytest_collection_modifyitems(items):\n    del items[::2]\n"


def two_folders(root: Path) -> Path:
    return project(root, {"tests/unit/test_u.py": SAME, "tests/e2e/test_e.py": SAME})


def test_one_folder_of_the_suite_is_no_run_of_everything(tmp_path: Path) -> None:
    root = two_folders(tmp_path)
    for arguments, complete in ((), True), (("tests/unit",), False), (("tests",), True), (("-k", "login"), False):
        run(root, *arguments)
        assert sheets(root)[-1].complete is complete, arguments


def test_a_part_that_a_plugin_took_is_no_run_of_everything(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": SAME, "conftest.py": SPLITTING})
    run(root)
    assert not sheets(root)[-1].complete


def test_the_past_of_a_test_that_is_still_there_goes_to_no_other(tmp_path: Path) -> None:
    """Two files with tests of equal names, run by turns."""
    root = project(tmp_path, {"unit/test_login.py": SAME, "e2e/test_login.py": SAME})
    for folder in ("unit", "e2e", "unit"):
        run(root, folder)
    with open_ordering(root) as ordering:
        assert {test.partition("/")[0] for sheet in sheets(root) for test in sheet.tests} == {"unit", "e2e"}
        assert ordering.orderer.seconds(["unit/test_login.py::test_login"])
        assert ordering.orderer.seconds(["e2e/test_login.py::test_login"])


def test_a_quarantine_does_not_go_over_to_another_parameter_of_the_same_code(tmp_path: Path) -> None:
    chosen = (
        "import os, pytest\n@pytest.mark.parametrize('b', [os.environ['B']])\ndef test_b(b): assert b != 'firefox'\n"
    )
    root = project(tmp_path, {"test_one.py": chosen})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    run(root, B="chromium")
    with open_site(root).store() as store:
        store.sheets.quarantine("test_one.py::test_b[chromium]", "flaky")
    assert run(root, B="firefox").returncode == 1


def selected(root: Path, selections: int, before: int = 5) -> Path:
    project(root, {"test_one.py": "".join(f"def test_{n}(): pass\n" for n in range(10))})
    began = datetime.now(UTC) - timedelta(days=2)
    whole = [Sheet(f"w{n}", began + timedelta(minutes=n), "pytest", TEN, "p" * 10, [10.0] * 10) for n in range(before)]
    part = whole[0]._replace(outcomes="p" * 5 + LEFT_OUT * 5, complete=False)
    later = [part._replace(id=f"s{n}", at=began + timedelta(hours=1, minutes=n)) for n in range(selections)]
    with open_site(root).store() as store:
        store.sheets.add([*whole, *later])
    return root


@pytest.mark.parametrize("before", [4, 5])
def test_after_nine_selections_everything_runs_whatever_the_budget(tmp_path: Path, before: int) -> None:
    assert len(executed(run(selected(tmp_path / "eight", 8, before), "-v", "--whet-budget", "50"))) == 5
    nine = selected(tmp_path / "nine", 9, before)
    done = run(nine, "-v", "--whet-budget", "0.000001")
    assert len(executed(done)) == 10
    assert "every 10th run is a full one" in said(done)
    assert sheets(nine)[-1].complete
    assert len(executed(run(nine, "-v", "--whet-budget", "0.05"))) < 10


def test_where_nothing_fits_one_test_runs(tmp_path: Path) -> None:
    done = run(selected(tmp_path, 0), "-v", "--whet-budget", "1")
    assert (done.returncode, len(executed(done))) == (0, 1)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_errors_of_what_outlives_a_test_are_told_when_the_time_is_up(tmp_path: Path, workers: tuple[str, ...]) -> None:
    broken = """
        import time, pytest
        @pytest.fixture(scope="module")
        def shared():
            yield
            raise RuntimeError("left open")
        @pytest.mark.parametrize("n", range(12))
        def test_a(n, shared): time.sleep(0.3)
    """
    done = run(project(tmp_path, {"test_one.py": broken}), "--whet-budget", "0.1", *workers)
    assert done.returncode == 1, done.stdout
    assert "left open" in done.stdout
    assert "the budget was used up before" in said(done)
