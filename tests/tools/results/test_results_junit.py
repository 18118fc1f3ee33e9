"""JUnit XML in the dialects of pytest, surefire and jest."""

import gzip
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from math import isnan
from pathlib import Path

import pytest
from tests.tools.results.reports import JEST, LONG_AGO, SUREFIRE, case, only, outcomes, read, seconds, suite, write

from whet.skills.ordering.identity import Naming

SUITE = """\
import unittest

import pytest


class TestCart:
    class TestInner:
        @pytest.mark.parametrize("text", ["a::b", "[x]", "plain"])
        def test_deep(self, text):
            pass

    def test_red(self):
        assert False


class Old(unittest.TestCase):
    def test_unit(self):
        pass


@pytest.fixture
def broken():
    raise RuntimeError


def test_error(broken):
    pass


def test_late_error(request):
    request.addfinalizer(lambda: 1 / 0)


def test_skipped():
    pytest.skip("no")


@pytest.mark.xfail
def test_expected():
    assert False
"""
EXPECTED = {
    "tests/sub/test_cart.py::TestCart::TestInner::test_deep[a::b]": "p",
    "tests/sub/test_cart.py::TestCart::TestInner::test_deep[[x]]": "p",
    "tests/sub/test_cart.py::TestCart::TestInner::test_deep[plain]": "p",
    "tests/sub/test_cart.py::TestCart::test_red": "f",
    "tests/sub/test_cart.py::Old::test_unit": "p",
    "tests/sub/test_cart.py::test_error": "e",
    "tests/sub/test_cart.py::test_late_error": "e",
    "tests/sub/test_cart.py::test_skipped": "s",
    "tests/sub/test_cart.py::test_expected": "x",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with every outcome, reported by pytest itself in both families; one module cannot be imported."""
    root = tmp_path_factory.mktemp("suite")
    write(
        root,
        {"pytest.ini": "[pytest]\n", "tests/sub/test_cart.py": SUITE, "tests/test_broken.py": "import nothing_there\n"},
    )
    for family in ("xunit1", "xunit2"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
        done = subprocess.run(
            [*command, "-o", f"junit_family={family}", f"--junit-xml={family}.xml"],
            cwd=root,
            check=False,
            capture_output=True,
        )
        assert done.returncode == 1, done.stdout
    return root


def test_pytest_with_files_gives_node_ids_without_a_project(reports: Path) -> None:
    sheet = only(read(reports / "xunit1.xml", naming=Naming()))
    assert outcomes(sheet) == EXPECTED
    assert (sheet.source, sheet.branch, sheet.complete) == ("junit", None, True)
    assert abs(datetime.now(UTC) - sheet.at) < timedelta(minutes=10)
    assert not any(isnan(took) for took in sheet.seconds)


def test_pytest_without_files_gives_node_ids_by_the_project_or_by_known_tests(reports: Path) -> None:
    report = reports / "xunit2.xml"
    assert outcomes(only(read(report, naming=Naming(modules=["tests/sub/test_cart.py"])))) == EXPECTED
    assert outcomes(only(read(report, naming=Naming(known=EXPECTED)))) == EXPECTED
    unknown = outcomes(only(read(report)))
    assert unknown["tests.sub.test_cart.TestCart::test_red"] == "f"
    assert len(unknown) == len(EXPECTED)


def test_surefire(tmp_path: Path) -> None:
    write(tmp_path, {"TEST-com.shop.CartTest.xml": SUREFIRE})
    reading = read(tmp_path)
    sheet = only(reading)
    names = ("adds", "removes", "flaky", "breaks", "later")
    assert outcomes(sheet) == dict(zip((f"com.shop.CartTest::{name}" for name in names), "pfpes", strict=True))
    took = seconds(sheet)
    assert took["com.shop.CartTest::adds"] == 1234.5
    assert took["com.shop.CartTest::flaky"] == 0.0
    assert isnan(took["com.shop.CartTest::breaks"])
    assert isnan(took["com.shop.CartTest::later"])
    assert (sheet.at, reading.dated_by_file) == (LONG_AGO, 1)


def test_jest(tmp_path: Path) -> None:
    sheet = only(read(write(tmp_path, {"junit.xml": JEST})))
    assert outcomes(sheet) == {
        "src/cart.test.js::cart adds": "p",
        "src/cart.test.js::cart removes": "f",
        "src/till.test.js::till::opens": "p",
    }
    assert sheet.at == datetime(2024, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-05-01T10:00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00.5+02:00", datetime(2024, 5, 1, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("yesterday", LONG_AGO),
        ("0001-01-01T00:00:00+14:00", LONG_AGO),
        ("9999-12-31T23:59:59-12:00", LONG_AGO),
        ("1970-01-01T00:00:00", LONG_AGO),
        (None, LONG_AGO),
    ],
)
def test_times_that_cannot_be_give_way_to_the_files(tmp_path: Path, written: str | None, meant: datetime) -> None:
    reading = read(write(tmp_path, {"r.xml": suite(case("a"), timestamp=written)}))
    assert only(reading).at == meant
    assert reading.dated_by_file == (meant == LONG_AGO)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.25", 0.25),
        ("1,234.5", 1234.5),
        ("1,234", 1234.0),
        ("0,5", 0.5),
        ("12,25", 12.25),
        ("1e-3", 0.001),
        ("0", 0.0),
    ],
)
def test_durations(tmp_path: Path, written: str, meant: float) -> None:
    assert list(only(read(write(tmp_path, {"r.xml": suite(case("a", time=written))}))).seconds) == [meant]


def test_suites_far_apart_are_several_runs_and_near_ones_one(tmp_path: Path) -> None:
    suites = "".join(
        f"<testsuite name='s' timestamp='2024-05-{day}:00'>{case(f't{n}', time='60')}{case('again')}</testsuite>"
        for n, day in enumerate(["03T09:00", "01T10:00", "01T10:31", "01T11:20"])
    )
    sheets = read(write(tmp_path, {"r.xml": f"<testsuites>{suites}</testsuites>"})).sheets
    told = [(sheet.at.day, sheet.at.hour, sorted(test[-2:] for test in sheet.tests)) for sheet in sheets]
    assert told == [(1, 10, ["in", "t1", "t2"]), (1, 11, ["in", "t3"]), (3, 9, ["in", "t0"])]


def test_a_suite_without_a_time_is_of_its_files_time(tmp_path: Path) -> None:
    undated = f"<testsuite name='s'>{case('b')}</testsuite>"
    reading = read(write(tmp_path, {"r.xml": suite(case("a")).replace("</testsuites>", f"{undated}</testsuites>")}))
    assert (len(only(reading).tests), reading.dated_by_file) == (2, 0)


def test_a_test_that_comes_again_was_retried_and_its_last_outcome_counts(tmp_path: Path) -> None:
    report = suite(case("a", "<failure/>"), case("b"), case("a", time="0.7"))
    reading = read(write(tmp_path, {"r.xml": report}))
    assert outcomes(only(reading)) == {"tests.test_a::a": "p", "tests.test_a::b": "p"}
    assert seconds(only(reading))["tests.test_a::a"] == 0.7
    assert sum(reading.left_out_results.values()) == 1


def test_outcomes_told_by_attributes(tmp_path: Path) -> None:
    told = [("notrun", "suppressed"), ("run", "skipped"), ("run", "completed"), ("failed", ""), ("passed", "")]
    cases = [f'<testcase classname="c" name="{i}" status="{s}" result="{r}"/>' for i, (s, r) in enumerate(told)]
    assert only(read(write(tmp_path, {"r.xml": suite(*cases)}))).outcomes == "sspfp"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-8-sig"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    report = f'<?xml version="1.0" encoding="{declared}"?>\n{suite(case("prüft"))}'
    assert only(read(write(tmp_path, {"r": report.encode(encoding)}) / "r")).tests == ["tests.test_a::prüft"]


def test_packed_or_not_and_wherever_it_lies_it_is_one_run(tmp_path: Path) -> None:
    write(tmp_path, {"a/r.xml": SUREFIRE})
    write(tmp_path, {"b/other-name": SUREFIRE, "c/r.xml.gz": gzip.compress(SUREFIRE.encode())}, at=datetime.now(UTC))
    apart = [only(read(tmp_path / name)).id for name in "abc"]
    assert len(set(apart)) == 1
    assert only(read(tmp_path)).id == apart[0]
