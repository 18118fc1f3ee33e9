"""No order sets a fixture up more often than the suite's own: on suites of all kinds, run by pytest itself."""

import random
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.pytest_plugin.advice import Placed
from whet.pytest_plugin.arranging import Arrangement, Worth
from whet.pytest_plugin.units import Unit

SCOPES = ("session", "package", "module", "class")


class Shuffling:
    """Runs the suite in the order that a ranking at random gives, and counts set-ups of what outlives a test."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self.setups: Counter[str] = Counter()
        self.ran: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._seed is not None and items:
            names = [item.nodeid for item in items]
            draw = random.Random(self._seed)
            ranking = [Placed(n, "", draw.random(), draw.random()) for n in draw.sample(names, len(names))]
            items[:] = [items[place] for place in Arrangement(items, names).order(ranking)]

    def pytest_fixture_setup(self, fixturedef: Any) -> None:
        if fixturedef.scope != "function":
            self.setups[fixturedef.argname] += 1

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.ran.append(nodeid)


def run_inside(root: Path, plugin: object) -> int:
    """pytest in this process: what it sets up is counted by a plugin."""
    arguments = ["-p", "no:terminal", "-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={root}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        before = set(sys.modules)
        try:
            return int(pytest.main([*arguments, str(root)], plugins=[plugin]))
        finally:
            for name in set(sys.modules) - before:
                del sys.modules[name]  # the next suite has modules of the same names


def run_counting(root: Path, seed: int | None) -> Shuffling:
    counting = Shuffling(seed)
    # 1: a fixture with parameters cannot be asked for while the test runs; 5: a suite without tests.
    assert run_inside(root, counting) in (0, 1, 5)
    return counting


class Suite:
    """A suite drawn at random: packages with modules, classes and fixtures of all scopes, some with parameters,
    some that need others, some for everybody, some asked for while the test runs."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def write(self, root: Path) -> Path:
        (root / "pytest.ini").write_text("[pytest]\n")
        shared = self._fixtures("top", 3)
        (root / "conftest.py").write_text(self._source(shared))
        for package in range(self._draw.randint(1, 2)):
            self._package(root / f"pkg{package}", shared)
        return root

    def _package(self, place: Path, shared: dict[str, str]) -> None:
        place.mkdir()
        setup = "def setup_module():\n    pass\n" if self._draw.random() < 0.2 else ""
        (place / "__init__.py").write_text(setup)
        own = self._fixtures(place.name, 2)
        (place / "conftest.py").write_text(self._source(own))
        for number in range(self._draw.randint(1, 2)):
            name = f"test_{place.name}_{number}"
            inside = self._fixtures(name, 2)
            (place / f"{name}.py").write_text(self._source(inside) + self._tests({**shared, **own, **inside}))

    def _fixtures(self, owner: str, most: int) -> dict[str, str]:
        made: dict[str, str] = {}
        for number in range(self._draw.randint(0, most)):
            scope = self._draw.choice(SCOPES)
            wider = [n for n, s in made.items() if SCOPES.index(s) <= SCOPES.index(scope)]
            made[f"{owner}_{number}_{self._draw.choice(wider) if wider and self._draw.random() < 0.5 else ''}"] = scope
        return made

    def _source(self, fixtures: dict[str, str]) -> str:
        parts = ["import pytest\n"]
        for name, scope in fixtures.items():
            needs = next((other for other in fixtures if other != name and name.endswith(other)), "")
            parameters = ", params=[1, 2]" if self._draw.random() < 0.3 else ""
            autouse = ", autouse=True" if self._draw.random() < 0.2 else ""
            asked = ", ".join(filter(None, (needs, "request" if parameters else "")))
            parts.append(f"@pytest.fixture(scope={scope!r}{parameters}{autouse})\ndef {name}({asked}):\n    return 1\n")
        return "\n".join(parts) + "\n"

    def _tests(self, fixtures: dict[str, str]) -> str:
        parts = [self._test(f"test_{number}", fixtures, "", "") for number in range(self._draw.randint(0, 3))]
        for number in range(self._draw.randint(0, 2)):
            parts.append(f"class TestC{number}:")
            if self._draw.random() < 0.3:
                parts.append("    @classmethod\n    def setup_class(cls):\n        pass")
            parts.extend(self._test(f"test_{n}", fixtures, "    ", "self") for n in range(self._draw.randint(1, 3)))
        return "\n".join(parts) + "\n"

    def _test(self, name: str, fixtures: dict[str, str], indent: str, first: str) -> str:
        used = [fixture for fixture in fixtures if self._draw.random() < 0.3]
        body, mark = "pass", ""
        if fixtures and self._draw.random() < 0.15:
            dynamic = self._draw.choice(list(fixtures))
            body, used = f"ask(request, {dynamic!r})", [*used, "request"]
        if self._draw.random() < 0.2:
            scope = self._draw.choice(SCOPES)
            mark = f"{indent}@pytest.mark.parametrize('own', [1, 2], scope={scope!r})\n"
            used = [*used, "own"]
        arguments = ", ".join(filter(None, [first, *used]))
        asking = body.replace("ask(request, ", "request.getfixturevalue(")
        return f"{mark}{indent}def {name}({arguments}):\n{indent}    {asking}"


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_no_order_sets_up_more(tmp_path_factory: pytest.TempPathFactory, suite: int, ranking: int) -> None:
    root = Suite(suite).write(tmp_path_factory.mktemp("suite"))
    own = run_counting(root, None)
    ours = run_counting(root, ranking)
    assert sorted(ours.ran) == sorted(own.ran)
    assert ours.setups.total() <= own.setups.total(), (own.setups, ours.setups, own.ran, ours.ran)


def suite_of(root: Path, **files: str) -> Path:
    (root / "pytest.ini").write_text("[pytest]\nmarkers =\n  order\n  run\n  dependency\n  incremental\n")
    for name, text in files.items():
        (root / f"{name}.py").write_text("import pytest\n" + dedent(text))
    return root


def order_for(root: Path, *first: str) -> list[str]:
    """The order that results when these tests are ranked first, in this order."""

    class Ranking(Shuffling):
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            names = [item.nodeid.split("::", 1)[1] for item in items]
            wanted = [*first, *(name for name in names if name not in first)]
            ranking = [Placed(name, "", 1.0 / (2 + place), 1.0) for place, name in enumerate(wanted)]
            items[:] = [items[place] for place in Arrangement(items, names).order(ranking)]

    ranking = Ranking(0)
    assert run_inside(root, ranking) == 0
    return [test.split("::", 1)[1] for test in ranking.ran]


def test_tests_without_long_lived_fixtures_move_freely(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        test_one="def test_a(): pass\ndef test_b(tmp_path): pass",
        test_two="def test_c(): pass\ndef test_d(): pass",
    )
    assert order_for(root, "test_d", "test_b", "test_c") == ["test_d", "test_b", "test_c", "test_a"]


def test_users_of_a_module_fixture_stay_together_and_others_leave(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        test_one="""
            @pytest.fixture(scope="module")
            def db(): pass
            def test_a(db): pass
            def test_b(): pass
            def test_c(db): pass
        """,
        test_two="def test_d(): pass",
    )
    assert order_for(root, "test_c", "test_d", "test_b", "test_a") == ["test_c", "test_a", "test_d", "test_b"]


def test_the_best_of_a_unit_decides_with_its_share_of_the_time(tmp_path: Path) -> None:
    """One promising test does not pull a long unit before several that promise more per second."""
    slow = "\n".join(f"def test_slow{n}(db): pass" for n in range(30))
    root = suite_of(
        tmp_path,
        test_one='@pytest.fixture(scope="module")\ndef db(): pass\n' + slow,
        test_two="def test_x(): pass\ndef test_y(): pass",
    )
    assert order_for(root, "test_slow7", "test_x", "test_y")[:3] == ["test_x", "test_y", "test_slow7"]


def test_whoever_may_ask_for_any_fixture_stays_with_the_module(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        test_one="""
            @pytest.fixture(scope="module")
            def db(): pass
            def helper(request): return request.getfixturevalue("db")
            def test_a(request): helper(request)
            def test_b(request): assert request.node.name
            def test_c(request): request.getfixturevalue("db")
        """,
        test_two="def test_d(): pass",
    )
    order = order_for(root, "test_c", "test_d", "test_b", "test_a")
    assert order == ["test_c", "test_a", "test_d", "test_b"]


def test_a_parametrised_session_fixture_is_set_up_once_per_parameter(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        conftest='@pytest.fixture(scope="session", params=["x", "y"])\ndef engine(request): pass',
        test_one="def test_a(engine): pass\ndef test_b(): pass",
        test_two="def test_c(engine): pass",
    )
    order = order_for(root, "test_c[y]", "test_b", "test_a[x]")
    assert order == ["test_c[y]", "test_a[y]", "test_b", "test_a[x]", "test_c[x]"]


def test_setup_of_unittest_classes_is_not_repeated(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        test_one="""
            import unittest
            class TestOne(unittest.TestCase):
                @classmethod
                def setUpClass(cls): pass
                def test_a(self): pass
                def test_b(self): pass
            class TestTwo(unittest.TestCase):
                def test_c(self): pass
                def test_d(self): pass
        """,
    )
    order = order_for(root, "TestTwo::test_d", "TestOne::test_b", "TestTwo::test_c", "TestOne::test_a")
    assert order == ["TestTwo::test_d", "TestOne::test_b", "TestOne::test_a", "TestTwo::test_c"]


@pytest.mark.parametrize("mark", ["order(1)", "run(order=1)", "dependency()", "incremental"])
def test_ordered_tests_keep_their_order(tmp_path: Path, mark: str) -> None:
    root = suite_of(
        tmp_path,
        test_one=f"""
            def test_a(): pass
            @pytest.mark.{mark}
            def test_b(): pass
            def test_c(): pass
            @pytest.mark.{mark}
            def test_d(): pass
            def test_e(): pass
        """,
    )
    order = order_for(root, "test_d", "test_c", "test_b")
    assert order.index("test_b") < order.index("test_d")
    assert order.index("test_c") < order.index("test_a")


def test_ordered_tests_at_the_ends_stay_there(tmp_path: Path) -> None:
    root = suite_of(
        tmp_path,
        test_one="""
            @pytest.mark.order("first")
            def test_a(): pass
            def test_b(): pass
            def test_c(): pass
            @pytest.mark.order("last")
            def test_d(): pass
        """,
    )
    assert order_for(root, "test_d", "test_c", "test_b") == ["test_a", "test_c", "test_b", "test_d"]


@pytest.mark.parametrize("milliseconds", range(1, 60))
def test_what_nothing_is_known_of_comes_behind_what_failed(milliseconds: int) -> None:
    """It counts as much per second, and no more: the last digit of a sum does not decide."""
    unknown = [Placed(f"new{n}", "", None, None) for n in range(3)]
    ranking = [Placed("failed", "", 0.48, milliseconds / 1000), *unknown]
    worth = Worth(ranking, [placed.test for placed in ranking])
    assert worth(Unit([0], [])) < worth(Unit([1, 2, 3], []))
