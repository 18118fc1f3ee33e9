"""What happens while the tests run: another order after a failure, quarantine, a budget, traced lines."""

import random
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import executed, project, run, said
from tests.pytest_plugin.test_plugin_order import sheets
from tests.pytest_plugin.test_units import Shuffling, Suite, run_inside

from whet.bootstrap.site import open_site
from whet.core.sheets import LEFT_OUT, Sheet
from whet.pytest_plugin.advice import Placed
from whet.pytest_plugin.arranging import Arrangement


class Rerunning(Shuffling):
    """After every test the rest is ranked anew at random, as a failure makes the plugin do it."""

    def __init__(self, config_seed: int) -> None:
        super().__init__(config_seed)
        self._draw = random.Random(config_seed)
        self._arrangement: Arrangement | None = None
        self._own: list[pytest.Item] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._own = items[:]
        self._arrangement = Arrangement(items, [item.nodeid for item in items]) if items else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None):  # type: ignore[no-untyped-def]
        answer = yield
        items = item.session.items
        if nextitem is not None and self._arrangement is not None:
            done = items.index(nextitem) + 1
            names = [other.nodeid for other in self._draw.sample(items, len(items))]
            ranking = [Placed(name, "", self._draw.random(), 1.0) for name in names]
            left = {self._own.index(other) for other in items[done:]}
            order = self._arrangement.remaining(ranking, left, self._own.index(nextitem))
            items[done:] = [self._own[place] for place in order]
        return answer


def test_another_order_in_the_middle_sets_up_nothing_more(tmp_path_factory: pytest.TempPathFactory) -> None:
    for seed in (3, 14, 159, 2653):
        root = Suite(seed).write(tmp_path_factory.mktemp("suite"))
        own, changing = Shuffling(None), Rerunning(seed)
        run_inside(root, own)
        run_inside(root, changing)
        assert sorted(changing.ran) == sorted(own.ran)
        assert changing.setups.total() <= own.setups.total(), (own.setups, changing.setups)


def _order_when_a(root: Path, does: str) -> str:
    """The letters of the tests as they ran. Test l is slow, and used to fail together with a: long ago."""
    letters = "abcdefghijkl"
    bodies = {letter: does if letter == "a" else "pass" for letter in letters}
    project(root, {"test_one.py": "".join(f"def test_{letter}(): {body}\n" for letter, body in bodies.items())})
    began = datetime.now(UTC) - timedelta(days=1)
    names = [f"test_one.py::test_{letter}" for letter in letters]
    failed = [*["al"] * 5, *"bcdefghij", "a", "k", "", "", ""]
    with open_site(root).store() as store:
        for number, bad in enumerate(failed):
            outcomes = "".join("f" if letter in bad else "p" for letter in letters)
            at = began + timedelta(minutes=number)
            store.sheets.add([Sheet(f"{number}", at, "junit", names, outcomes, [0.01] * 11 + [0.5])])
    return "".join(test[-1] for test in executed(run(root, "-v")))


def test_a_failure_brings_what_fails_with_it_after_the_next_test(tmp_path: Path) -> None:
    passing, failing = _order_when_a(tmp_path / "passing", "pass"), _order_when_a(tmp_path / "failing", "assert 0")
    assert passing[-1] == "l", "while a passes, nothing speaks for l"
    begun = passing.index("a") + 2  # what follows a failure was told to its fixtures already
    assert failing == passing[:begun] + "l" + passing[begun:-1], "the rest stays as it was"


def test_quarantined_failures_are_told_and_do_not_count(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): assert 0\ndef test_b(): pass\n"})
    with open_site(root).store() as store:
        store.sheets.quarantine("test_one.py::test_a", "flaky network")
    done = run(root, "-x", "-rx", f"--junitxml={root / 'junit.xml'}")
    assert done.returncode == 0, done.stdout
    assert "quarantined: 1 failed, did not count" in said(done)
    assert "quarantined: flaky network" in done.stdout
    assert 'failures="0"' in (root / "junit.xml").read_text()
    assert [sheet.outcomes for sheet in sheets(root)] == ["fp"], "the records keep what it was"
    assert run(root, "--whet-strict-quarantine", "-q").returncode == 1


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_without_an_order_the_quarantine_still_holds(tmp_path: Path, workers: tuple[str, ...]) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): assert 0\ndef test_b(): pass\n"})
    with open_site(root).store() as store:
        store.sheets.quarantine("test_one.py::test_a", "flaky network")
    run(root)
    with closing(sqlite3.connect(root / ".whet" / "whet.db")) as other, other:
        other.execute("DELETE FROM snapshots")
        other.execute("UPDATE sheet_columns SET packed = x'00'")  # nothing can be learned from this run any more
    done = run(root, *workers)
    assert "the suite's own order was kept, this run was not recorded (" in said(done)
    assert done.returncode == 0, done.stdout
    assert run(root, "--whet-strict-quarantine", *workers).returncode == 1


def test_where_nothing_can_be_read_quarantined_failures_count_and_that_is_told(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): assert 0\n"})
    (root / ".whet").mkdir()
    (root / ".whet" / "whet.db").write_bytes(b"this is no database, whatever it is named" * 100)
    done = run(root)
    assert done.returncode == 1
    lost = "the suite's own order was kept, failures of quarantined tests count, this run was not recorded ("
    assert (lost in said(done), said(done).count("is damaged or is not a SQLite database")) == (True, 1), "why, once"


def test_a_budget_leaves_out_what_promises_least(tmp_path: Path) -> None:
    names = [f"test_one.py::test_{n}" for n in range(6)] + ["test_one.py::test_bad"]
    tests = "".join(f"def test_{n}(): pass\n" for n in range(6)) + "def test_bad(): assert 0\ndef test_new(): pass\n"
    root = project(tmp_path, {"test_one.py": tests})
    with open_site(root).store() as store:
        now = datetime.now(UTC)
        runs = (Sheet(f"{n}", now - timedelta(hours=9 - n), "pytest", names, "ppppppf", [10.0] * 7) for n in range(4))
        store.sheets.add(runs)
    done = run(root, "-v", "--whet-budget", "35s")
    assert {"test_one.py::test_bad", "test_one.py::test_new"} <= set(executed(done)), "failed lately, and never seen"
    assert len(executed(done)) == 4
    assert "4 deselected" in done.stdout
    assert "4 of 8 tests chosen, 4 left out (about 30.0 s of 70.0 s)" in said(done)
    # One failure, new in the first of four runs, where only the last test showed it. Missed, it costs 4 - 4·3/20 = 3.4
    # runs until a full run comes; so does one more like it: (3.4 + 3.4) / (4 + 3.4).
    assert "risk of missing a failing run: at most 91.9%" in said(done)
    assert not sheets(root)[-1].complete
    assert "all tests run: about" in said(run(root, "-q", "--whet-budget", "1h"))


def test_time_that_is_up_starts_no_more_tests(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "import time\ndef test_a(): time.sleep(0.4)\ndef test_b(): pass\n"})
    done = run(root, "-v", "--whet-budget", "0.2")
    assert done.returncode == 0
    assert executed(done) == ["test_one.py::test_a"]
    assert "the budget was used up before 1 of these could start" in said(done)
    [sheet] = sheets(root)
    assert dict(zip(sheet.tests, sheet.outcomes, strict=True)) == {
        "test_one.py::test_a": "p",
        "test_one.py::test_b": LEFT_OUT,
    }
    assert not sheet.complete


def test_executed_lines_are_learned_while_nobody_else_traces(tmp_path: Path) -> None:
    code = {"shop.py": "def total(n):\n    if n:\n        return n\n    return 0\n"}
    tests = {"test_shop.py": "import shop\ndef test_total():\n    assert shop.total(1) == 1\n"}
    root = project(tmp_path, {**code, **tests, "pytest.ini": "[pytest]\npythonpath = .\n"})
    run(root)
    with open_site(root).store() as store:
        [lines] = store.sheets.executed(["shop.py"])
    assert (lines.test, lines.lines) == ("test_shop.py::test_total", frozenset({2, 3}))


def test_what_would_notice_it_is_not_traced(tmp_path: Path) -> None:
    tests = """
        import sys, time, tracemalloc
        from tracemalloc import get_traced_memory as taken

        def measured():
            return taken()

        def test_memory(): tracemalloc.start(); tracemalloc.stop()
        def test_through_another(): measured()
        def test_inside():
            def now(): return time.perf_counter()
            now()
        def test_tracing(): assert sys.gettrace() is None
        def test_fixture(benchmark): assert sys.__dict__["gettrace"]() is None
        def test_traced(): time.sleep(0)
    """
    conftest = "import pytest\n@pytest.fixture\ndef benchmark(): pass\n"
    root = project(tmp_path, {"conftest.py": conftest, "test_one.py": tests})
    assert run(root, "--whet-map=full").returncode == 0
    with open_site(root).store() as store:
        assert list(store.sheets.mapped()) == ["test_one.py::test_traced"]
