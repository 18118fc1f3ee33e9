"""Qase: exports of results and of test cases, and reporters' files."""

import json
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from tests.tools.results.reports import LONG_AGO, only, outcomes, read, seconds, write

from whet.skills.ordering.identity import Naming
from whet.tools.results.qase import NOTHING_TO_LEARN
from whet.tools.results.refusing import BadResults

CASES_CSV = """\
v2.id,title,description,preconditions,status,steps_type,steps_actions,suite_id,suite
,,,,,,,1,Login
5,"Performance test","100 users
at once",,actual,classic,,,
1,"My title",,"Pre
conditions",actual,classic,"1. ""Click"" it",1,Login
"""
RESULTS_CSV = """\
Case ID,Title,Suite,Status,Time spent ms,End time
7,Logs in,Login,Passed,1500,2024-05-01 10:00:10
8,Logs out,Login,FAILED,500,2024-05-01 10:00:12
9,Idles,Login,untested,,
"""


def api(*entities: dict[str, Any]) -> str:
    return json.dumps({"status": True, "result": {"total": len(entities), "entities": entities}})


def test_pages_of_the_api_by_run(tmp_path: Path) -> None:
    first = {"case_id": 1, "status": "passed", "time_spent_ms": 1000, "end_time": "2024-05-01T10:00:01+00:00"}
    third = {**first, "run_id": 3}
    pages = {
        "1.json": api(third, {**first, "run_id": 4, "status": "invalid"}, {**third, "case_id": 2}),
        "2.json": api({**third, "case_id": 9}),
    }
    sheets = read(write(tmp_path, pages)).sheets
    assert sorted(map(len, (sheet.tests for sheet in sheets))) == [1, 3]
    assert {"case 1", "case 2", "case 9"} in [set(sheet.tests) for sheet in sheets]
    assert {sheet.at for sheet in sheets} == {datetime(2024, 5, 1, 10, tzinfo=UTC)}


def test_a_run_export(tmp_path: Path) -> None:
    suites = {"suite": {"data": [{"title": "A"}, {"title": "B"}]}}
    results = [
        {"title": "Logs in", "status": "passed", "time_ms": 250, "relations": suites},
        {"case": {"title": "Logs out"}, "case_id": 4, "status": "blocked"},
        {"title": "Waits", "status": "in_progress"},
    ]
    run = {"id": 12, "title": "Nightly", "status": "failed", "start_time": "2024-05-01 10:00:00", "results": results}
    reading = read(write(tmp_path, {"run.json": json.dumps(run)}) / "run.json")
    assert outcomes(only(reading)) == {"A / B::Logs in": "p", "Logs out": "s"}
    assert seconds(only(reading))["A / B::Logs in"] == 0.25
    assert isnan(seconds(only(reading))["Logs out"])
    assert reading.left_out_results[NOTHING_TO_LEARN] == 1


def test_files_of_a_reporter_are_one_run_with_node_ids(tmp_path: Path) -> None:
    def result(name: str, start: float, **more: Any) -> str:
        execution = {"status": "passed", "start_time": start, "end_time": start + 1, "duration": 1000}
        signature = f"tests/test_a.py::{name}"
        return json.dumps({"id": name, "title": name, "signature": signature, "execution": execution, **more})

    files = {
        "results/1.json": result("test_x", 1_714_557_600.5),
        "results/2.json": result("test_y", 1_714_557_602.0, params={"n": 1, "s": "b"}),
        "run.json": json.dumps({"title": "run", "execution": {"duration": 4}, "stats": {}, "results": []}),
    }
    sheet = only(read(write(tmp_path, files)))
    assert outcomes(sheet) == {"tests/test_a.py::test_x": "p", "tests/test_a.py::test_y[1-b]": "p"}
    assert sheet.at == datetime(2024, 5, 1, 10, 0, 0, 500_000, tzinfo=UTC)


def test_raw_records_with_steps_and_preconditions(tmp_path: Path) -> None:
    """Names without verdicts teach nothing, and that is said; with verdicts they do."""
    raw: list[dict[str, Any]] = [
        {"test_name": f"check {n}", "steps": [{"action": "go"}], "preconditions": "none"} for n in range(736)
    ]
    reading = read(write(tmp_path, {"augmented_tests.json": json.dumps(raw)}) / "augmented_tests.json")
    assert (reading.sheets, reading.left_out_results[NOTHING_TO_LEARN]) == ([], 736)
    raw[3] |= {"status": "failed", "time": "1.5"}
    raw[4] |= {"result": "passed", "duration": 3}
    reading = read(write(tmp_path, {"augmented_tests.json": json.dumps({"tests": raw})}) / "augmented_tests.json")
    assert outcomes(only(reading)) == {"check 3": "f", "check 4": "p"}
    assert seconds(only(reading))["check 3"] == 1.5
    assert isnan(seconds(only(reading))["check 4"]), "no one said in which unit"
    assert reading.left_out_results[NOTHING_TO_LEARN] == 734


def test_a_title_that_is_one_known_tests_name_is_that_test(tmp_path: Path) -> None:
    known = ["tests/test_a.py::test_in", "tests/test_a.py::test_out", "tests/test_b.py::test_out"]
    raw: list[dict[str, Any]] = [
        {"test_name": name, "status": "passed", "steps": []} for name in ("test_in", "test_out")
    ]
    sheet = only(read(write(tmp_path, {"t.json": json.dumps(raw)}), naming=Naming(known=known)))
    assert set(sheet.tests) == {"tests/test_a.py::test_in", "test_out"}


def test_test_case_exports_hold_no_verdicts(tmp_path: Path) -> None:
    case = {"id": 1, "title": "Logs in", "status": "actual", "steps": [], "preconditions": ""}
    repository = {"suites": [{"title": "A", "cases": [case], "suites": [{"title": "B", "cases": [case, case]}]}]}
    reading = read(write(tmp_path, {"cases.json": json.dumps(repository), "cases.csv": CASES_CSV}))
    assert (reading.sheets, reading.files, reading.left_out_results[NOTHING_TO_LEARN]) == ([], 2, 5)


def test_csv_results(tmp_path: Path) -> None:
    reading = read(write(tmp_path, {"results.csv": "\ufeff" + RESULTS_CSV}))
    assert outcomes(only(reading)) == {"Login::Logs in": "p", "Login::Logs out": "f"}
    assert seconds(only(reading)) == {"Login::Logs in": 1.5, "Login::Logs out": 0.5}
    assert only(reading).at == datetime(2024, 5, 1, 10, 0, 8, 500_000, tzinfo=UTC)
    assert reading.left_out_results[NOTHING_TO_LEARN] == 1


def test_csv_without_times_is_dated_by_its_file(tmp_path: Path) -> None:
    reading = read(write(tmp_path, {"results.csv": "title,status\na,passed\nb,failed\n"}))
    assert (only(reading).at, reading.dated_by_file) == (LONG_AGO, 1)


@pytest.mark.parametrize("began", [1_714_557_600, 1_714_557_600_000, "1714557600", "2024-05-01T12:00:00+02:00"])
def test_times_in_whatever_form(tmp_path: Path, began: Any) -> None:
    record = {"title": "a", "status": "passed", "start_time": began}
    assert only(read(write(tmp_path, {"r.json": json.dumps([record])}))).at == datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("took", [-1, "soon", 1e400, [1], 10**400])
def test_durations_that_are_none_are_refused(tmp_path: Path, took: Any) -> None:
    text = json.dumps([{"title": "a", "status": "passed", "time_ms": took}]).replace("Infinity", "1e999")
    with pytest.raises(BadResults, match=r"r\.json has a result of 'a' whose duration"):
        read(write(tmp_path, {"r.json": text}))
