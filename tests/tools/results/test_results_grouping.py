"""Which files are of one run."""

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.tools.results.reports import JEST, SUREFIRE, case, only, outcomes, read, suite, write

from whet.skills.ordering.identity import Naming
from whet.tools.results.grouping import SAME_RUN_GAP, gathered
from whet.tools.results.reported import Part, Reported
from whet.tools.results.told_again import TOLD_AGAIN


def report(test: str, minute: int, seconds: float = 1.0) -> str:
    return suite(case(test, time=str(seconds)), timestamp=f"2024-05-01T{10 + minute // 60}:{minute % 60:02}:00")


def test_files_of_one_directory_and_time_without_a_common_test_are_one_run(tmp_path: Path) -> None:
    write(tmp_path, {"TEST-a.xml": report("a", 0), "TEST-b.xml": report("b", 29), "TEST-c.xml": report("c", 58)})
    sheet = only(read(tmp_path))
    assert len(sheet.tests) == 3
    assert sheet.at == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"old/TEST-a.xml": report("a", 0), "old/TEST-b.xml": report("b", 0), "other/x.txt": "x"})
    reading = read(tmp_path / "old", tmp_path / "other" / ".." / "old" / "TEST-a.xml", tmp_path / "old" / "*-b.xml")
    assert (len(only(reading).tests), reading.files) == (2, 2)


def test_the_same_test_again_is_the_next_run(tmp_path: Path) -> None:
    write(
        tmp_path, {"1.xml": report("a", 0), "2.xml": report("a", 1), "3.xml": report("b", 2), "4.xml": report("a", 3)}
    )
    assert [sorted(test[-1] for test in sheet.tests) for sheet in read(tmp_path).sheets] == [["a"], ["a", "b"], ["a"]]


def test_files_far_apart_or_of_different_directories_are_different_runs(tmp_path: Path) -> None:
    write(tmp_path / "late", {"1.xml": report("a", 0), "2.xml": report("b", 32)})
    assert len(read(tmp_path / "late").sheets) == 2
    write(tmp_path / "long", {"1.xml": report("a", 0, seconds=300), "2.xml": report("b", 32)})
    assert len(read(tmp_path / "long").sheets) == 1
    write(tmp_path / "apart", {"x/1.xml": report("a", 0), "y/2.xml": report("b", 0)})
    assert len(read(tmp_path / "apart").sheets) == 2


def test_undated_files_go_by_when_they_were_written_and_a_stated_time_wins(tmp_path: Path) -> None:
    at = datetime(2023, 1, 1, 12, tzinfo=UTC)
    write(tmp_path, {"1.xml": suite(case("a"), timestamp=None)}, at=at)
    write(tmp_path, {"2.xml": suite(case("b", time="600"), timestamp=None)}, at=at + timedelta(minutes=35))
    reading = read(tmp_path)
    assert (only(reading).at, reading.dated_by_file) == (at, 1)
    write(tmp_path, {"3.xml": suite(case("c"), timestamp="2023-01-01T12:10:00")})
    reading = read(tmp_path)
    assert (only(reading).at, reading.dated_by_file) == (at + timedelta(minutes=10), 0)


def test_a_zip_is_a_directory_and_the_order_inside_does_not_matter(tmp_path: Path) -> None:
    files = {"surefire/TEST-a.xml": report("a", 0), "surefire/TEST-b.xml": report("b", 0)}
    write(tmp_path / "plain", files)
    for name, order in (("x.zip", list(files)), ("y.zip", list(reversed(files)))):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in order:
                archive.writestr(file, files[file])
    ids = {only(read(tmp_path / name)).id for name in ("plain", "x.zip", "y.zip")}
    assert len(ids) == 1
    assert only(read(tmp_path)).id in ids


def test_the_name_we_give_does_not_change_which_run_it_is(tmp_path: Path) -> None:
    write(tmp_path, {"r.xml": report("test_x", 0)})
    plain, named = (only(read(tmp_path, naming=naming)) for naming in (Naming(), Naming(modules=["tests/test_a.py"])))
    assert outcomes(named) == {"tests/test_a.py::test_x": "p"}
    assert outcomes(plain) == {"tests.test_a::test_x": "p"}
    assert plain.id == named.id


def test_other_outcomes_durations_times_or_tests_are_other_runs(tmp_path: Path) -> None:
    reports = [
        suite(case("a")),
        suite(case("b")),
        suite(case("a", "<failure/>")),
        suite(case("a", time="0.6")),
        suite(case("a"), timestamp="2024-05-01T10:00:01"),
        suite(case("a"), timestamp=None),
    ]
    for number, content in enumerate(reports):
        write(tmp_path, {f"{number}/r.xml": content})
    assert len(read(tmp_path).sheets) == len(reports)


def part(minute: int, tests: set[int]) -> Part:
    made = Part("junit", "r.xml", datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minute), dated_by_file=False)
    for test in sorted(tests):
        made.add(Reported("c", str(test)), "p", 1.0)
    return made


parts = st.lists(st.builds(part, st.integers(0, 300), st.sets(st.integers(0, 5), min_size=1)))


@given(parts, st.booleans())
def test_gathering_loses_nothing_and_separates_by_the_gap(given_parts: list[Part], sharing_no_test: bool) -> None:
    rows = sorted(test for one in given_parts for test in one.tests)
    spans = sorted(one.span for one in given_parts)
    gaps = sum(1 for i in range(1, len(spans)) if spans[i][0] > max(end for _, end in spans[:i]) + SAME_RUN_GAP)
    runs = gathered(given_parts, sharing_no_test=sharing_no_test)
    assert sorted(test for run in runs for test in run.tests) == rows
    assert [run.at for run in runs] == sorted(run.at for run in runs)
    if sharing_no_test:
        assert all(len(set(run.tests)) == len(run.tests) for run in runs)
    else:
        assert len(runs) == (gaps + 1 if rows else 0)


def allure(test: str, at: datetime, status: str = "passed") -> str:
    began = int(at.timestamp() * 1000)
    full = {"fullName": f"tests.test_a#{test}", "name": test, "historyId": test}
    return json.dumps({**full, "status": status, "start": began, "stop": began + 500})


def test_reports_of_different_writers_are_different_runs(tmp_path: Path) -> None:
    """They test different suites, wherever their files lie."""
    at = datetime(2024, 3, 1, 10, 5, tzinfo=UTC)
    one_class = f'<testsuite name="com.shop.TillTest">{case("opens", classname="com.shop.TillTest")}</testsuite>'
    files = {"TEST-cart.xml": SUREFIRE, "TEST-till.xml": one_class, "junit.xml": JEST, "pytest.xml": report("a", 0)}
    write(tmp_path, files, at=at)
    ran = {frozenset(test.partition("::")[0] for test in sheet.tests) for sheet in read(tmp_path).sheets}
    assert ran == {
        frozenset({"com.shop.CartTest", "com.shop.TillTest"}),
        frozenset({"src/cart.test.js", "src/till.test.js"}),
        frozenset({"tests.test_a"}),
    }


def test_a_run_that_two_formats_tell_of_is_one_run(tmp_path: Path) -> None:
    """Two jobs that write both are two; what differs in an outcome, or lies hours apart, is another run."""
    at = datetime(2024, 5, 1, 10, tzinfo=UTC)
    for job, failing in (("a", "failed"), ("b", "broken"), ("c", "passed")):
        cases = case("x", "<failure/>"), case("y")
        write(tmp_path / job, {"junit.xml": suite(*cases, timestamp=f"2024-05-01T10:00:0{ord(job) - 97}")})
        write(tmp_path / job / "allure", {"x-result.json": allure("x", at, failing), "y-result.json": allure("y", at)})
    write(tmp_path / "d", {"x-result.json": allure("x", at + timedelta(hours=3), "failed")})
    reading = read(tmp_path)
    told = sorted((sheet.source, sheet.outcomes) for sheet in reading.sheets)
    assert told == [("allure", "ep"), ("allure", "f"), ("allure", "fp"), ("allure", "pp"), ("junit", "fp")]
    assert reading.left_out_results[TOLD_AGAIN] == 4
