"""Which files import which: layouts, relative imports, re-exports, and files that do not parse."""

from pathlib import Path

import pytest

from whet.tools.imports import ImportGraph, import_graph


@pytest.mark.parametrize("prefix", ["", "src/", "python/lib/"])
def test_layouts(prefix: str) -> None:
    graph = ImportGraph({f"{prefix}pkg/__init__.py": "", f"{prefix}pkg/a.py": "", "tests/test_a.py": "import pkg.a\n"})
    assert graph.imports["tests/test_a.py"] == {f"{prefix}pkg/a.py"}


def test_namespace_packages() -> None:
    graph = ImportGraph({"src/ns/one/__init__.py": "", "src/ns/one/a.py": "", "t.py": "from ns.one import a\n"})
    assert graph.imports["t.py"] == {"src/ns/one/a.py"}


def test_relative_imports() -> None:
    graph = ImportGraph(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from . import b\nfrom .sub.c import x\n",
            "pkg/b.py": "from .... import too_far\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/c.py": "from ..b import y\nfrom .. import a\n",
        }
    )
    assert graph.imports["pkg/a.py"] == {"pkg/b.py", "pkg/sub/c.py"}
    assert graph.imports["pkg/sub/c.py"] == {"pkg/b.py", "pkg/a.py"}
    assert graph.imports["pkg/b.py"] == set()


def test_names_are_followed_to_where_they_are_defined() -> None:
    graph = ImportGraph(
        {
            "pkg/__init__.py": "from .a import one\nfrom .b import *\nhere = 1\n",
            "pkg/a.py": "def one(): pass\n",
            "pkg/b.py": "class Two: pass\nthree: int = 3\n",
            "t1.py": "from pkg import one\n",
            "t2.py": "from pkg import (\n    Two,  # really\n    three,\n)\n",
            "t3.py": "from pkg import here, unknown\n",
        }
    )
    assert graph.imports["t1.py"] == {"pkg/a.py"}
    assert graph.imports["t2.py"] == {"pkg/b.py"}
    assert graph.imports["t3.py"] == {"pkg/__init__.py"}


def test_packages_that_import_from_each_other_come_to_an_end() -> None:
    graph = ImportGraph({"a.py": "from b import x\nfrom b import *\n", "b.py": "from a import x\nfrom a import *\n"})
    assert graph.imports["a.py"] == {"b.py"}


def test_forms_of_statements() -> None:
    source = (
        "import a, b.c as d\n"
        "try:\n    from e import x\nexcept ImportError: pass\n"
        "from f import \\\n    y\n"
        "def late():\n\timport g  # when needed\n"
        "important = 1\n"
        "# import h\n"
        "text = 'import i'\n"
        "this is ( broken\n"
        "import j; x = 1\n"
    )
    files = dict.fromkeys([*(f"{name}.py" for name in "aefghij"), "b/__init__.py", "b/c.py"], "")
    graph = ImportGraph({**files, "t.py": source})
    assert graph.imports["t.py"] == {"a.py", "b/c.py", "e.py", "f.py", "g.py", "j.py"}


def test_of_several_with_one_name_the_nearest() -> None:
    files = {"tests/a/steps.py": "", "tests/b/steps.py": "", "tests/b/test_x.py": "import steps\n"}
    assert ImportGraph(files).imports["tests/b/test_x.py"] == {"tests/b/steps.py"}


def test_a_module_inside_a_package_is_not_found_by_its_bare_name() -> None:
    graph = ImportGraph({"pkg/__init__.py": "", "pkg/json.py": "", "t.py": "import json\n"})
    assert graph.imports["t.py"] == set()


def test_distances() -> None:
    graph = ImportGraph({"a.py": "", "b.py": "import a\n", "c.py": "import b\n", "d.py": "import c, b\n", "e.py": ""})
    assert graph.distances("a.py") == {"a.py": 0, "b.py": 1, "c.py": 2, "d.py": 2}
    assert graph.distances("gone.py") == {"gone.py": 0}


def test_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "src/pkg").mkdir(parents=True)
    (tmp_path / "src/pkg/a.py").write_bytes(b"\xff\xfe broken \0\nimport pkg.b\n")
    (tmp_path / "src/pkg/b.py").write_text("")
    (tmp_path / ".tox").mkdir()
    (tmp_path / ".tox/c.py").write_text("")
    assert import_graph(tmp_path).imports == {"src/pkg/a.py": {"src/pkg/b.py"}, "src/pkg/b.py": set()}
