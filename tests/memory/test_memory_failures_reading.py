"""What real pytest prints of real failures is understood, and whatever else is printed harms nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.memories import LONGEST_TEXT, MOST_SUBJECTS
from whet.memory.failures import read_failure, remembered_failure
from whet.memory.failures_reading import Frame

PRICES = """
def rate(country):
    return {"de": 19, "fr": 20}[country]


def total(net, country):
    return net + net * rate(country) / 100
"""
ORDERS = '''
from shop.prices import total


class OrderRefused(Exception):
    pass


def place(items, country):
    """Place it.

    >>> place([1], "de")
    1.0
    """
    try:
        return sum(total(item, country) for item in items)
    except KeyError as error:
        raise OrderRefused(f"no rate for {country!r}") from error
'''
TESTS = """
import json
import unittest

import pytest
from shop.orders import place
from shop.prices import rate, total


def test_plain():
    order = place([100], "de")
    assert order == 120.0


def test_deep():
    total(1, "xx")


def test_chained():
    place([1], "xx")


def test_installed():
    json.loads("{")


@pytest.fixture
def broken():
    return rate("yy")


def test_setup(broken):
    assert broken


def test_unknown_fixture(nowhere):
    pass


@pytest.mark.parametrize("country", ["de", "fr"])
def test_rates(country):
    assert rate(country) == 21, country


class RateTest(unittest.TestCase):
    def test_equal(self):
        self.assertEqual({"a": rate("de")}, {"a": 20})
"""
TELLING = """
import json

said = {}


def pytest_runtest_logreport(report):
    if report.failed:
        said[report.nodeid] = report.longreprtext


def pytest_sessionfinish():
    with open("said.json", "w") as file:
        json.dump(said, file)
"""
FILES = {"shop/__init__.py": "", "shop/prices.py": PRICES, "shop/orders.py": ORDERS, "tests/test_orders.py": TESTS,
         "conftest.py": TELLING, "pytest.ini": "[pytest]\n"}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def printed(root: Path, *options: str) -> dict[str, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", *options]
    subprocess.run(command, cwd=root, check=False, capture_output=True, timeout=60)
    said: dict[str, str] = json.loads((root / "said.json").read_text())
    return said


@pytest.fixture(scope="module")
def said(project: Path) -> dict[str, str]:
    return printed(project)


def of(said: dict[str, str], name: str) -> tuple[str, str]:
    return next((test, text) for test, text in said.items() if test.endswith(name))


def test_a_plain_assertion(said: dict[str, str]) -> None:
    failure = read_failure(*of(said, "test_plain"))
    assert failure.exception == "AssertionError"
    assert failure.said == ("assert 119.0 == 120.0",)
    assert failure.inside() == []
    standing = failure.asserting()
    assert standing is not None
    assert (standing.file, standing.function, standing.code) == (
        "tests/test_orders.py",
        "test_plain",
        "assert order == 120.0",
    )


def test_an_exception_deep_inside(said: dict[str, str]) -> None:
    failure = read_failure(*of(said, "test_deep"))
    assert (failure.exception, failure.said) == ("KeyError", ("KeyError: 'xx'",))
    assert [(frame.file, frame.function, frame.line) for frame in failure.inside()] == [
        ("shop/prices.py", "total", 7),
        ("shop/prices.py", "rate", 3),
    ]
    assert failure.inside()[-1].code == 'return {"de": 19, "fr": 20}[country]'
    assert failure.inside()[0].code == "return net + net * rate(country) / 100"


def test_a_chain_keeps_what_led_to_it(said: dict[str, str]) -> None:
    failure = read_failure(*of(said, "test_chained"))
    assert [raised.exception for raised in failure.chain] == ["KeyError", "OrderRefused"]
    assert failure.said == ("shop.orders.OrderRefused: no rate for 'xx'",)
    assert {frame.function for frame in failure.inside()} == {"place", "<genexpr>", "total", "rate"}
    assert failure.inside()[-1].function == "place"


def test_installed_code_is_not_the_project_s(said: dict[str, str]) -> None:
    failure = read_failure(*of(said, "test_installed"))
    assert failure.exception == "JSONDecodeError"
    assert failure.inside() == []
    assert any(not frame.is_test and not frame.is_inside for frame in failure.frames())


def test_set_up_that_fails_and_fixtures_that_are_missing(said: dict[str, str]) -> None:
    failure = read_failure(*of(said, "test_setup"))
    assert (failure.exception, failure.inside()[-1].function) == ("KeyError", "rate")
    assert read_failure(*of(said, "test_unknown_fixture")).said == ("fixture 'nowhere' not found",)


def test_parameters_change_values_only(said: dict[str, str]) -> None:
    german, french = (read_failure(*of(said, name)) for name in ("test_rates[de]", "test_rates[fr]"))
    assert german.asserting() == french.asserting()
    assert german.said[1:] == ("assert 19 == 21", "+  where 19 = rate('de')")


def test_unittest_and_doctest(said: dict[str, str]) -> None:
    assert read_failure(*of(said, "RateTest::test_equal")).said[0] == "AssertionError: {'a': 19} != {'a': 20}"
    doctest = read_failure(*of(said, "shop.orders.place"))
    assert doctest.exception == "DocTestFailure"
    assert doctest.said == ("Expected:", "1.0", "Got:", "1.19")


@pytest.mark.parametrize("style", ["short", "native"])
def test_other_styles_tell_the_same(project: Path, said: dict[str, str], style: str) -> None:
    usual = read_failure(*of(said, "test_chained"))
    other = read_failure(*of(printed(project, f"--tb={style}", "-k", "test_chained"), "test_chained"))
    assert (other.exception, other.said) == (usual.exception, usual.said)
    assert [(f.function, f.line) for f in other.inside()] == [(f.function, f.line) for f in usual.inside()]
    assert other.inside()[-1].code == usual.inside()[-1].code


def test_a_message_alone_is_a_failure_too() -> None:
    failure = read_failure("tests/test_a.py::test_x", "KeyError: 'xx'")
    assert (failure.exception, failure.said, list(failure.frames())) == ("KeyError", ("KeyError: 'xx'",), [])


@pytest.mark.parametrize(
    ("file", "of_test", "inside"),
    [
        ("shop/prices.py", False, True),
        ("shop/test_prices.py", True, False),
        ("shop/prices_test.py", True, False),
        ("conftest.py", True, False),
        ("shop\\tests\\orders.py", True, False),
        ("../elsewhere/prices.py", False, False),
        ("/usr/lib/python3.11/json/decoder.py", False, False),
        (".venv/lib/site-packages/attr/_make.py", False, False),
        ("<string>", False, False),
    ],
)
def test_whose_code_a_frame_is(file: str, of_test: bool, inside: bool) -> None:
    frame = Frame(file, 1, "f", "f()")
    assert (frame.is_test, frame.is_inside) == (of_test, inside)


def test_nothing_said() -> None:
    assert read_failure("t", "").chain == ()
    assert remembered_failure("t", "").cue == "t"
    assert remembered_failure("", "").cue


def test_what_is_remembered_says_why_and_not_how_the_test_looks(said: dict[str, str]) -> None:
    kept = remembered_failure(*of(said, "test_deep"))
    assert "KeyError: 'xx'" in kept.cue
    assert "shop/prices.py:3 rate" in kept.cue
    assert "def test_deep" not in kept.cue
    assert kept.subjects[0] == "test:tests/test_orders.py::test_deep"
    assert kept.subjects[1:4] == ("file:tests/test_orders.py", "exception:KeyError", "at:shop/prices.py:3")
    assert "function:shop/prices.py:total" in kept.subjects


def test_addresses_do_not_tell_runs_apart() -> None:
    first, second = (f"E   AssertionError: <Order at 0x7f46e079{n}> is None\n" for n in ("ea90", "f090"))
    assert remembered_failure("t", first).cue == remembered_failure("t", second).cue


def test_every_truncation_is_read(said: dict[str, str]) -> None:
    test, text = of(said, "test_chained")
    for length in range(0, len(text), 7):
        for cut in (text[:length], text[length:]):
            kept = remembered_failure(test, cut)
            assert kept.cue
            assert len(kept.cue) <= LONGEST_TEXT


CHAIN = "During handling of the above exception, another exception occurred:\n"
PLACES = ("a.py:3: in f", "a.py:3: KeyError", 'File "a.py", line 3, in f')
PIECES = ("E   ", "> ", "\n", "_ _ _", "\0", "\ud800", "    def f(", "Expected:", "9" * 99, CHAIN, *PLACES)


@given(st.lists(st.sampled_from(PIECES) | st.text(), max_size=40).map("".join), st.text(max_size=300))
def test_any_text_is_read_within_bounds(text: str, test: str) -> None:
    kept = remembered_failure(test, text)
    assert 0 < len(kept.cue) <= LONGEST_TEXT
    assert len(kept.subjects) <= MOST_SUBJECTS
    assert all(0 < len(subject) <= 200 for subject in kept.subjects)


def test_hostile_text_takes_no_longer() -> None:
    for hostile in ("E   " * 50_000, "a" * 200_000, ":" * 200_000, "_ " * 100_000, "(" * 200_000, "\n>" * 100_000):
        assert remembered_failure("t", hostile).cue
