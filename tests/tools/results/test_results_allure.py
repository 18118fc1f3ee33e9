"""Allure results."""

import json
import zipfile
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from tests.tools.results.reports import LONG_AGO, only, outcomes, read, seconds, write

from whet.tools.results.refusing import BadResults

AT = 1_714_557_600_000  # 2024-05-01T10:00:00Z


def result(name: str, status: str = "passed", start: Any = AT, stop: Any = AT + 500, **more: Any) -> str:
    data = {
        "uuid": f"{name}-{start}",
        "historyId": name,
        "name": name,
        "fullName": f"tests.test_cart.TestCart#{name.partition('[')[0]}",
        "labels": [{"name": "suite", "value": "test_cart"}, {"name": "framework", "value": "pytest"}],
        "status": status,
        "start": start,
        "stop": stop,
    }
    return json.dumps({**data, **more})


def test_results_of_a_directory_or_a_zip_are_one_run(tmp_path: Path) -> None:
    files = {
        "1-result.json": result("test_a[1]"),
        "2-result.json": result("test_b", "broken", AT + 1000, AT + 3500),
        "3-result.json": result("test_c", "skipped", statusDetails={"message": "XFAIL later"}),
        "4-result.json": result("test_d", "unknown"),
        "5-container.json": json.dumps({"uuid": "x", "children": ["1"], "befores": [], "afters": []}),
        "environment.properties": "Python = 3",
        "categories.json": "[]",
        "6-attachment.txt": "text",
    }
    write(tmp_path / "allure-results", files)
    reading = read(tmp_path)
    sheet = only(reading)
    of = "tests.test_cart.TestCart::"
    assert outcomes(sheet) == {f"{of}test_a[1]": "p", f"{of}test_c": "x", f"{of}test_b": "e"}
    assert seconds(sheet)[f"{of}test_b"] == 2.5
    assert (sheet.at, sheet.source) == (datetime(2024, 5, 1, 10, tzinfo=UTC), "allure")
    assert reading.files == 4
    assert reading.left_out_files == {"no test results": 4}
    assert sum(reading.left_out_results.values()) == 1
    with zipfile.ZipFile(tmp_path / "allure.zip", "w") as archive:
        for name, content in reversed(files.items()):
            archive.writestr(name, content)
    assert only(read(tmp_path / "allure.zip")).id == sheet.id


def test_of_retries_the_last_one_counts_and_another_day_is_another_run(tmp_path: Path) -> None:
    day = 24 * 3600 * 1000
    files = {
        "b-result.json": result("test_a", "passed", AT + 2000, AT + 2100),
        "a-result.json": result("test_a", "failed", AT, AT + 900),
        "c-result.json": result("test_a", "failed", AT + day, AT + day + 100),
    }
    assert [sheet.outcomes for sheet in read(write(tmp_path, files)).sheets] == ["p", "f"]


def test_a_title_hides_neither_the_test_nor_its_parameters(tmp_path: Path) -> None:
    titled = {"historyId": "h", "parameters": [{"name": "n", "value": "1"}, {"name": "s", "value": "'x'"}]}
    hidden = {"historyId": "k", "parameters": [{"name": "n", "value": "1", "excluded": True}]}
    data = json.loads(result("test_a"))
    files = {
        "1-result.json": json.dumps({**data, **titled, "name": "Adding one"}),
        "2-result.json": json.dumps({**data, **hidden, "name": "Adding none"}),
    }
    names = {"tests.test_cart.TestCart::test_a[1-x]", "tests.test_cart.TestCart::test_a"}
    assert set(only(read(write(tmp_path, files))).tests) == names


def test_java_by_labels_and_others_by_full_name(tmp_path: Path) -> None:
    labels = [{"name": "testClass", "value": "com.shop.CartTest"}, {"name": "testMethod", "value": "adds"}]
    java = result("adds()", fullName="com.shop.CartTest.adds", labels=labels)
    other = result("adds two", fullName="cart: adds two")
    sheet = only(read(write(tmp_path, {"1-result.json": java, "2-result.json": other})))
    assert set(sheet.tests) == {"com.shop.CartTest::adds", "cart: adds two"}


def test_without_times_the_file_dates_it_and_durations_are_unknown(tmp_path: Path) -> None:
    reading = read(write(tmp_path, {"1-result.json": result("test_a", start=None, stop=None)}))
    assert (only(reading).at, reading.dated_by_file) == (LONG_AGO, 1)
    assert isnan(only(reading).seconds[0])


@pytest.mark.parametrize("stop", [AT - 1, AT + 10**15, 10**400])
def test_durations_that_cannot_be_are_refused(tmp_path: Path, stop: int) -> None:
    write(tmp_path, {"1-result.json": result("test_a", stop=stop)})
    with pytest.raises(BadResults, match=r"1-result\.json says that its test stopped before"):
        read(tmp_path)
