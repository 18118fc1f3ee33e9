"""The project: where it starts, what its code is, and when two versions of it are the same."""

import os
import time
from pathlib import Path

import pytest

from whet.tools.project import Project, find_project
from whet.tools.source import functions, imports
from whet.tools.system import available_memory_mb, cpu_count, in_ci


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name in ("src/shop/cart.py", "tests/test_cart.py", "tests/data.py", "conftest.py", "pyproject.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    return root


def test_the_nearest_marker_above_is_the_project(root: Path, tmp_path: Path) -> None:
    assert find_project(root / "src" / "shop").root == root
    assert find_project(root / "src" / "shop" / "cart.py").name == "shop"
    (root / "src" / "shop" / "setup.cfg").write_text("")
    assert find_project(root / "src" / "shop").root == root / "src" / "shop"


def test_source_and_tests_are_told_apart(root: Path) -> None:
    project = Project(root)
    assert project.source_files() == (root / "src/shop/cart.py",)
    assert project.test_files() == (root / "tests/test_cart.py",)


@pytest.mark.parametrize("name", ["src/shop/cart.py", "tests/test_cart.py", "conftest.py", "pyproject.toml", "new.py"])
def test_other_code_is_another_version(root: Path, name: str) -> None:
    before = Project(root).code_version()
    (root / name).write_text("x = 2\n")
    assert Project(root).code_version() != before


def test_a_renamed_file_is_another_version(root: Path) -> None:
    before = Project(root).code_version()
    (root / "tests/data.py").rename(root / "tests/date.py")
    assert Project(root).code_version() != before


@pytest.mark.parametrize(
    "name", ["README.md", ".git/x.py", ".whet/x.py", "node_modules/x.py", "env/lib/x.py", "build/x.py"]
)
def test_what_is_no_code_changes_nothing(root: Path, name: str) -> None:
    (root / "env").mkdir()
    (root / "env" / "pyvenv.cfg").write_text("")
    before = Project(root).code_version()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("x = 1\n")
    os.utime(root / "conftest.py", (1, 1))
    assert Project(root).code_version() == before


def test_a_virtual_environment_at_the_top_is_still_a_project(root: Path) -> None:
    (root / "pyvenv.cfg").write_text("")
    assert Project(root).test_files()


def test_odd_files_do_no_harm(root: Path) -> None:
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "dangling.py").symlink_to(root / "nowhere")
    os.mkfifo(root / "pipe.py")
    (root / os.fsdecode(b"bytes\xff.py")).write_text("x = 1\n")
    project = Project(root)
    assert project.code_version() == project.code_version()
    assert {file.name for file in project.source_files()} == {"cart.py", os.fsdecode(b"bytes\xff.py")}


def test_thousands_of_files_are_read_quickly(root: Path) -> None:
    for number in range(3000):
        (root / f"module_{number}.py").write_text(f"x = {number}\n")
    began = time.process_time()
    Project(root).code_version()
    assert time.process_time() - began < 2


FUNCTIONS = '''
import os.path
from . import near
from .pkg import thing as other
from json import *

def plain(): return 1

class Shop:
    @property
    def price(self):
        """Says it."""
        if self.a and self.b or self.c:
            return sum(x for x in self.items() if x)
        for _ in self: pass
        def inner(): os.getcwd()
        return inner()

async def later():
    match 1:
        case 1: pass
        case _: pass
    try:
        pass
    except ValueError:
        raise
'''


def test_functions_with_their_complexity(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(FUNCTIONS)
    found = {function.name: function for function in functions(file)}
    assert {name: function.complexity for name, function in found.items()} == {
        "plain": 1,
        "Shop.price": 7,
        "Shop.price.inner": 1,
        "later": 3,
    }
    price = found["Shop.price"]
    assert (price.start, price.definition, price.body, price.end) == (10, 11, 13, 17)
    assert price.calls == ("inner", "items", "sum")
    assert found["Shop.price.inner"].calls == ("getcwd",)
    assert imports(file) == {"os.path", ".near", ".pkg", ".pkg.thing", "json"}


@pytest.mark.parametrize("content", [b"def broken(:", b"\x00", b"\xff\xfe", b"# coding: nonsense\n", b"(" * 500])
def test_files_that_do_not_parse_say_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.py").write_bytes(content)
    assert functions(tmp_path / "f.py") == ()
    assert imports(tmp_path / "f.py") == set()
    assert functions(tmp_path / "nowhere.py") == ()


def test_the_machine_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= cpu_count() <= (os.cpu_count() or 1)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert cpu_count() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    memory = available_memory_mb()
    assert memory is not None
    assert memory > 10
    for value, expected in (("true", True), ("1", True), ("", False), ("false", False), ("0", False)):
        monkeypatch.setenv("CI", value)
        assert in_ci() is expected
