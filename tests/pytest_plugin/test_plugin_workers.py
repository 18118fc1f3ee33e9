"""With pytest-xdist: the order survives, nothing slow is left for the end, a lost worker is recorded."""

import re
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import executed, project, run, said
from tests.pytest_plugin.test_plugin_order import sheets

from whet.pytest_plugin.arranging import slow_in_time

SUITE = {
    "test_one.py": """
        import time, pytest
        @pytest.mark.parametrize("n", range(8))
        def test_good(n): time.sleep(0.02)
    """,
    "test_two.py": """
        import os, pytest
        @pytest.fixture(scope="module")
        def shared():
            with open("setups", "a") as log: log.write("x")
        def test_a(shared): pass
        def test_b(shared): pass
        def test_bad(): assert 0
    """,
}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was run once with one process."""
    root = project(tmp_path_factory.mktemp("known"), SUITE)
    run(root)
    (root / "setups").unlink()
    return root


def first_of_each_worker(output: str) -> set[str]:
    firsts: dict[str, str] = {}
    for worker, test in re.findall(r"^\[(gw\d+)\] \[ *\d+%\] [A-Z]+ (\S+)", output, re.MULTILINE):
        firsts.setdefault(worker, test)
    return set(firsts.values())


@pytest.mark.parametrize("dist", ["load", "worksteal"])
def test_what_failed_comes_early_in_every_way_of_handing_out(known: Path, dist: str) -> None:
    done = run(known, "-v", "-n", "2", "--dist", dist)
    assert done.returncode == 1
    assert len(executed(done)) == 11
    assert "test_two.py::test_bad" in first_of_each_worker(done.stdout), done.stdout
    assert "own order was kept" not in said(done)
    assert "first failure after" in said(done)
    newest = sheets(known)[-1]
    assert (len(newest.tests), newest.complete, newest.outcomes.count("f")) == (11, True, 1)
    if dist == "load":
        assert (known / "setups").read_text() == "x", "tests that share a fixture go to one worker"


def test_a_lost_worker_is_a_failure_of_its_test(tmp_path: Path) -> None:
    crash = "import os\ndef test_a(): pass\ndef test_crash(): os._exit(1)\ndef test_b(): pass\n"
    root = project(tmp_path, {"test_one.py": crash})
    done = run(root, "-n", "2")
    assert done.returncode == 1
    [sheet] = sheets(root)
    assert dict(zip(sheet.tests, sheet.outcomes, strict=True)) == {
        "test_one.py::test_a": "p",
        "test_one.py::test_b": "p",
        "test_one.py::test_crash": "f",
    }


def test_slow_groups_start_in_time() -> None:
    seconds = {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 4.0}
    groups = [[0], [1], [2], [3], [4]]
    # Two workers: at best four seconds, so the slow one must start at once, beside the best.
    assert slow_in_time(groups, seconds, 2) == [[0], [4], [1], [2], [3]]
    assert slow_in_time(groups, {**seconds, 4: 1.0}, 2) == groups


SLEEP = 0.05
ROW = """
    import time, pytest
    @pytest.mark.parametrize("n", range(96))
    def test_one(n):
        time.sleep({sleep})
        assert n != {bad}
"""


def milliseconds(told: str) -> float:
    number, unit = told.split()
    return float(number) * {"ms": 1.0, "s": 1000.0}[unit]


@pytest.mark.parametrize(("dist", "bad", "before_it"), [("load", 12, 0), ("worksteal", 48, 0), ("loadfile", 12, 12)])
def test_the_order_that_did_not_run_is_told_as_pytest_xdist_hands_it_out(
    tmp_path: Path, dist: str, bad: int, before_it: int
) -> None:
    root = project(tmp_path, {"test_row.py": ROW.format(sleep=SLEEP, bad=bad)})
    plain = run(root, "-v", "--whet-shadow", "-n", "2", "--dist", dist)  # handed out as by pytest-xdist alone
    if not before_it:
        assert f"test_row.py::test_one[{bad}]" in first_of_each_worker(plain.stdout), plain.stdout
    told = said(run(root, "-n", "2", "--dist", dist))
    times = re.search(r"after (\S+ m?s) .* own order it would have come after about (\S+ m?s)", told)
    assert times is not None, told
    here, elsewhere = milliseconds(times[1]), milliseconds(times[2])
    assert elsewhere - here == pytest.approx(1000 * SLEEP * before_it, abs=150), told


def test_where_marks_decide_who_runs_what_the_other_order_is_unknown(known: Path) -> None:
    told = said(run(known, "-n", "2", "--dist", "loadgroup"))
    assert "when it would have come in the suite's own order is unknown" in told
