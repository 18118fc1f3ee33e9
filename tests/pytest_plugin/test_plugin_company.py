"""Whet beside what else pytest can do: the same tests end the same way."""

import re
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import executed, project, run, said
from tests.pytest_plugin.test_plugin_order import sheets

FILES = {
    "shop.py": """
        def total(n):
            '''
            >>> total(2)
            4
            >>> total(3)
            7
            '''
            return 2 * n
    """,
    "test_kinds.py": """
        import unittest
        import pytest

        class KindTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls): cls.ready = True
            def test_ready(self): self.assertTrue(self.ready)
            def test_wrong(self): self.assertEqual(1, 2)
            @unittest.skip("not today")
            def test_skipped(self): pass

        @pytest.mark.parametrize("n", [1, 2, 3])
        def test_odd(n): assert n % 2
        @pytest.mark.xfail(strict=True)
        def test_expected(): assert False
        def test_plain(): pass
    """,
}


def verdicts(root: Path, *arguments: str, plain: bool) -> dict[str, str]:
    done = run(root, "-v", "-p", "cacheprovider", *arguments, plain=plain)
    line = re.compile(r"^(\S+::\S+) ([A-Z]+)\b.*%\]$", re.MULTILINE)
    return dict(line.findall(done.stdout)) | {"exit code": str(done.returncode)}


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("--doctest-modules",), 9),
        (("-k", "odd or wrong"), 4),
        (("test_kinds.py::KindTest",), 3),
        (("--lf",), 2),
        (("--deselect", "test_kinds.py::test_plain"), 7),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_same_tests_end_the_same_way(tmp_path: Path, arguments: tuple[str, ...], count: int) -> None:
    root = project(tmp_path, FILES)
    run(root, "-p", "cacheprovider")  # something is known, and something failed
    without, with_us = verdicts(root, *arguments, plain=True), verdicts(root, *arguments, plain=False)
    assert len(without) == count + 1
    assert with_us == without


def test_stepwise_stops_and_goes_on_where_it_would(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_one.py": "def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): assert 0\n"})
    run(root)  # something is known: without --sw, test_b would come first
    first = run(root, "-v", "-p", "cacheprovider", "-p", "stepwise", "--sw")
    assert "--sw orders the tests, Whet only watched" in said(first)
    assert [test[-1] for test in executed(first)] == ["a", "b"]
    (root / "test_one.py").write_text("def test_a(): pass\ndef test_b(): pass\ndef test_c(): assert 0\n")
    second = run(root, "-v", "-p", "cacheprovider", "-p", "stepwise", "--sw")
    assert [test[-1] for test in executed(second)] == ["b", "c"]
    assert not sheets(root)[-1].complete


def test_our_order_wins_over_a_plugin_that_shuffles(tmp_path: Path) -> None:
    """As pytest-randomly does it; where nothing is known, its order stays."""
    shuffle = (
        "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_collection_modifyitems(items): items.reverse()\n"
    )
    tests = "def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\ndef test_d(): pass\n"
    root = project(tmp_path, {"conftest.py": shuffle, "test_one.py": tests})
    assert [test[-1] for test in executed(run(root, "-v"))] == ["d", "c", "b", "a"]
    assert executed(run(root, "-v"))[0] == "test_one.py::test_b"
