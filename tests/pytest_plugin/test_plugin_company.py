"""Whet beside what else pytest can do: the same tests end the same way."""

import re
from pathlib import Path

import pytest
from tests.pytest_plugin.projects import project, run

from whet.bootstrap.ordering import Standing
from whet.pytest_plugin.clerk import _always
from whet.skills.ordering import Ranked
from whet.skills.ordering.proximity import Near

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


def test_what_is_never_left_out() -> None:
    near = {"near": Near(0.9, ""), "far": Near(0.001, "")}
    standing = Standing([], near, frozenset({"failed"}))
    told = {name: _always(Ranked(name, "", 0.3, 1.0), standing) for name in ("near", "far", "failed", "other")}
    assert told == {"near": True, "far": False, "failed": True, "other": False}
    assert _always(Ranked("new, with a change known", "", 0.3, None), standing)
    assert _always(Ranked("new", "", None, None), standing)
