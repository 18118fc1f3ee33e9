"""How a run ends: nothing that makes it red is taken for green, by the exit code or in words."""

import re
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import project, run, said

from whet.bootstrap.site import open_site

ENDING = """
    import pytest
    @pytest.fixture(scope="{scope}", autouse=True)
    def shared():
        yield
        raise RuntimeError("cannot end")
"""


def quarantined(root: Path, *tests: str) -> Path:
    with open_site(root).store() as store:
        for test in tests:
            store.sheets.quarantine(test, "flaky")
    return root


@pytest.mark.parametrize(
    ("scope", "code", "told"),
    [
        ("session", 1, "first failure after"),
        ("module", 1, "first failure after"),
        ("function", 0, "quarantined: 1 failed, did not count"),
    ],
)
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_what_outlives_a_quarantined_test_is_not_in_quarantine(
    tmp_path: Path, scope: str, code: int, told: str, workers: tuple[str, ...]
) -> None:
    root = project(tmp_path, {"conftest.py": ENDING.format(scope=scope), "test_one.py": "def test_a(): pass\n"})
    done = run(quarantined(root, "test_one.py::test_a"), *workers)
    assert (done.returncode, told in said(done)) == (code, True), done.stdout
    assert run(root, *workers, plain=True).returncode == 1


def test_a_quarantined_test_that_cannot_be_torn_down_leaves_the_others_their_fixtures(tmp_path: Path) -> None:
    tests = """
        import pytest
        @pytest.fixture(scope="class")
        def shared():
            yield
            print("ended")
        @pytest.fixture
        def own(shared):
            yield
            raise RuntimeError("cannot end")
        class TestOne:
            def test_a(self, own): pass
            def test_b(self, shared): pass
        def test_c(own): pass
    """
    root = project(tmp_path, {"test_one.py": tests})
    done = run(quarantined(root, "test_one.py::TestOne::test_a", "test_one.py::test_c"), "-s")
    assert (done.returncode, done.stdout.count("ended")) == (0, 2), done.stdout
    assert "3 passed, 2 xfailed" in done.stdout


def test_a_file_that_cannot_be_collected_is_told(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): pass\n", "test_two.py": "def test_b(:\n"})
    done = run(root)
    assert (done.returncode, said(done)) == (2, "whet: no tests, 0 runs known; 1 file(s) could not be collected.")
    done = run(root, "--continue-on-collection-errors")
    assert (done.returncode, said(done)) == (1, "whet: 1 tests, 1 run known; 1 file(s) could not be collected.")
    assert said(run(root, "-k", "nothing", "--ignore", "test_two.py")) == "whet: no tests; nothing ran."


def test_who_ran_last_is_not_called_flaky_for_what_ended_with_it(tmp_path: Path) -> None:
    tests = "def test_1(): pass\ndef test_2(): assert 0\ndef test_3(): pass\n"
    root = project(tmp_path, {"conftest.py": ENDING.format(scope="session"), "test_one.py": tests})
    last = []
    for _ in range(2):
        done = run(root)
        last += re.findall(r"^ERROR (\S+)", done.stdout, re.MULTILINE)
        assert "whet quarantine add" not in done.stdout
    assert len(set(last)) == 2, "another order, another test that is the last"
