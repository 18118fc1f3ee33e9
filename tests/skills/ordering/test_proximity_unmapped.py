"""Which tests are near a change when nothing was ever executed: the suite itself, imports, names, folders."""

import hashlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from whet.core.sheets import Executed
from whet.skills.ordering.proximity import Known, Near, nearness
from whet.tools.changes import change_since
from whet.tools.imports import ImportGraph, import_graph

SOURCES = {
    "src/shop/__init__.py": "from .cart import total\nfrom .mail import *\n",
    "src/shop/cart.py": "def total(items):\n    return sum(items)\n\n\ndef parse_header(text):\n    return text\n",
    "src/shop/mail.py": "def send(to):\n    return to\n",
    "src/shop/pages/page.html": "<p>hello</p>\n",
    "tests/conftest.py": (
        "import pytest\n\n\n@pytest.fixture\ndef wallet():\n    return 1\n\n\n"
        "@pytest.fixture\ndef purse(wallet):\n    return wallet\n"
    ),
    "tests/test_cart.py": (
        "from shop.cart import parse_header, total\n\n\ndef helper():\n    return 1\n\n\n"
        "def test_sums():\n    assert total([helper()]) == 1\n\n\n"
        "def test_parse_header_empty():\n    assert parse_header('') == ''\n\n\n"
        "class TestMore:\n    def test_it(self, purse):\n        assert purse\n"
    ),
    "tests/test_mail.py": "from shop import send\n\n\ndef test_sends(wallet):\n    assert send(wallet) == wallet\n",
    "tests/test_pages.py": "def test_page():\n    assert open('page.html')\n\n\ndef test_other():\n    pass\n",
}
TESTS = [
    "tests/test_pages.py::test_other",
    "tests/test_pages.py::test_page",
    "tests/test_mail.py::test_sends",
    "tests/test_cart.py::test_sums",
    "tests/test_cart.py::test_parse_header_empty[1]",
    "tests/test_cart.py::TestMore::test_it",
]


def git(root: Path, *arguments: str) -> None:
    names = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def near(root: Path, tests: Sequence[str] = TESTS, executed: Mapping[str, set[int]] | None = None) -> dict[str, Near]:
    """`executed`: the lines of cart.py by mapped test."""

    def read(file: str) -> bytes | None:
        return (root / file).read_bytes() if (root / file).is_file() else None

    change = change_since(root, None)
    assert change is not None
    content = SOURCES["src/shop/cart.py"].encode()
    digest = hashlib.sha256(content).hexdigest()
    rows = [Executed(test, "src/shop/cart.py", digest, frozenset(n)) for test, n in (executed or {}).items() if n]
    mapped = dict.fromkeys(executed or {}, 9)
    return nearness(tests, change, Known(rows, lambda _: None, mapped, read, lambda: import_graph(root)))


def first(found: dict[str, Near]) -> str:
    return max(found, key=lambda test: found[test].value)


def test_who_mentions_the_changed_function_comes_first(shop: Path) -> None:
    replace(shop / "src/shop/cart.py", "sum(items)", "max(items)")
    found = near(shop)
    assert first(found) == "tests/test_cart.py::test_sums"
    assert found["tests/test_cart.py::test_sums"].reason == "mentions total, which changed"


def test_who_is_named_like_the_changed_function_comes_first(shop: Path) -> None:
    replace(shop / "src/shop/cart.py", "return text", "return text + '1'")
    replace(shop / "tests/test_cart.py", "assert parse_header('') == ''", "pass")
    git(shop, "commit", "-qm", "test", "tests/test_cart.py")
    assert first(near(shop)) == "tests/test_cart.py::test_parse_header_empty[1]"


def test_imports_are_followed_to_where_a_name_is_defined(shop: Path) -> None:
    """test_mail.py imports the package alone; only the package's star import leads to mail.py."""
    replace(shop / "src/shop/mail.py", "return to", "return to, 1")
    found = near(shop)
    assert first(found) == "tests/test_mail.py::test_sends"
    assert found["tests/test_pages.py::test_other"] == Near(0.0, "nothing near it changed")


def test_a_file_that_is_mentioned(shop: Path) -> None:
    replace(shop / "src/shop/pages/page.html", "hello", "bye")
    found = near(shop)
    assert first(found) == "tests/test_pages.py::test_page"
    assert found["tests/test_pages.py::test_page"].reason == "mentions page.html, which changed"


def test_a_test_that_changed_itself_and_a_new_one(shop: Path) -> None:
    replace(shop / "tests/test_cart.py", "total([helper()])", "total([2])")
    (shop / "tests/test_new.py").write_text("def test_new():\n    pass\n")
    found = near(shop, [*TESTS, "tests/test_new.py::test_new"])
    assert found["tests/test_cart.py::test_sums"].reason == "was changed itself"
    assert found["tests/test_new.py::test_new"].reason == "is new"
    assert found["tests/test_cart.py::TestMore::test_it"].reason == "stands in test_cart.py, which changed elsewhere"
    others = [test for test in TESTS if test != "tests/test_cart.py::test_sums"]
    assert max(found[test].value for test in others) < 0.1 < 0.7 < found["tests/test_cart.py::test_sums"].value


def test_what_a_test_uses_in_its_own_file(shop: Path) -> None:
    replace(shop / "tests/test_cart.py", "    return 1\n", "    return 2\n")
    found = near(shop)
    assert first(found) == "tests/test_cart.py::test_sums"
    assert found["tests/test_cart.py::test_sums"].reason == "uses helper, which changed"


def test_a_class_that_changed_reaches_its_tests(shop: Path) -> None:
    replace(shop / "tests/test_cart.py", "class TestMore:\n", "class TestMore:\n    x = 1\n\n")
    assert first(near(shop)) == "tests/test_cart.py::TestMore::test_it"


def test_a_changed_fixture_reaches_those_who_use_it(shop: Path) -> None:
    """test_it uses it by way of another fixture."""
    replace(shop / "tests/conftest.py", "return 1", "return 2")
    found = near(shop)
    near_ones = {test for test in TESTS if found[test].value > 0.1}
    assert near_ones == {"tests/test_mail.py::test_sends", "tests/test_cart.py::TestMore::test_it"}


def test_a_fixture_that_everyone_uses(shop: Path) -> None:
    replace(shop / "tests/conftest.py", "@pytest.fixture\ndef wallet", "@pytest.fixture(autouse=True)\ndef wallet")
    found = near(shop)
    assert found["tests/test_pages.py::test_other"].reason == "conftest.py above it changed"
    assert found["tests/test_mail.py::test_sends"].value > found["tests/test_pages.py::test_other"].value > 0


def test_a_conftest_that_changed_outside_its_functions_reaches_what_lies_below(shop: Path) -> None:
    replace(shop / "tests/conftest.py", "import pytest\n", "import pytest\n\nprint()\n")
    found = near(shop, [*TESTS, "other/test_x.py::test_x"])
    assert found["other/test_x.py::test_x"].value == 0
    assert len({found[test].value for test in TESTS}) == 1


def test_names_are_for_tests_that_were_never_mapped(shop: Path) -> None:
    replace(shop / "src/shop/cart.py", "sum(items)", "max(items)")
    sums, sends, page = TESTS[3], TESTS[2], TESTS[1]
    found = near(shop, executed={sums: set(), sends: {2}, page: {6}})
    assert found[sums].value == 0  # it mentions it, but is known not to execute it
    assert first(found) == sends
    assert found["tests/test_cart.py::TestMore::test_it"].value > found[page].value


def test_what_nobody_executes_is_judged_by_names_for_all(shop: Path) -> None:
    replace(shop / "src/shop/cart.py", "sum(items)", "max(items)")
    assert first(near(shop, executed={test: set() for test in TESTS})) == "tests/test_cart.py::test_sums"


def test_the_imports_are_read_once(shop: Path) -> None:
    for name in ("cart", "mail"):
        replace(shop / f"src/shop/{name}.py", "return", "return  not")
    change, asked = change_since(shop, None), []
    assert change is not None

    def imports() -> ImportGraph:
        asked.append(1)
        return import_graph(shop)

    nearness(TESTS, change, Known([], lambda _: None, {}, lambda _: None, imports))
    assert len(asked) == 1
