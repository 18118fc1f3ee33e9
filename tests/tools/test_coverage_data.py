"""Coverage is what coverage.py measured: of the project's code, by line, branch, function and test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whet.core.errors import WhetError
from whet.tools import coverage_data  # by its module: pytest would collect `tests_by_file`
from whet.tools.coverage_data import read_coverage
from whet.tools.process import Limits
from whet.tools.python import Python
from whet.tools.suite import Suite, SuitePlan

MakeSuite = Callable[[dict[str, str]], Suite]

CALC = """\
def sign(number):
    if number < 0:
        return -1
    return 1


def unused():
    \"\"\"Nobody calls it.\"\"\"
    return 0


def excluded():  # pragma: no cover
    return 0


def short(): return 0
"""
TESTS = """
    from calc import sign
    def test_positive(): assert sign(2) == 1
    def test_again(): assert sign(3) == 1
    def test_nothing(): pass
"""
FILES = {"src/calc/__init__.py": CALC, "src/calc/forgotten.py": "x = 1\ny = 2\n", "tests/test_calc.py": TESTS}
SETTINGS = "[pytest]\npythonpath = src\n"


def test_lines_branches_and_functions(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    suite = suite_of({**FILES, "pytest.ini": SETTINGS})
    run = suite.run(SuitePlan(coverage="branches", contexts=True), limits)
    report = read_coverage(run, python, suite.project, limits)
    calc = report.files["src/calc/__init__.py"]
    assert calc.executed == (1, 2, 4, 7, 16)
    assert calc.missing == (3, 9)
    assert calc.missing_branches is not None
    assert (2, 3) in calc.missing_branches
    assert {function.name: function.covered for function in calc.functions} == {
        "sign": True,
        "unused": False,
        "excluded": None,
        "short": None,
    }
    assert report.files["src/calc/forgotten.py"].missing == (1, 2)
    assert set(report.files) == {"src/calc/__init__.py", "src/calc/forgotten.py"}
    assert report.line_percent == pytest.approx(100 * 5 / 9)
    assert report.branch_percent == 50.0
    assert report.function_percent == 50.0
    assert run.coverage_file is not None
    by_test = coverage_data.tests_by_file(run.coverage_file, suite.project.root)
    assert by_test["tests/test_calc.py::test_positive"]["src/calc/__init__.py"] == (2, 4)
    assert "src/calc/__init__.py" not in by_test["tests/test_calc.py::test_nothing"]


def test_lines_alone_know_no_branches(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    suite = suite_of({**FILES, "pytest.ini": SETTINGS})
    run = suite.run(SuitePlan(coverage="lines", contexts=True), limits)
    report = read_coverage(run, python, suite.project, limits)
    assert report.branch_percent is None
    assert report.files["src/calc/__init__.py"].missing_branches is None
    assert report.files["src/calc/__init__.py"].missing == (3, 9)
    assert run.coverage_file is not None
    by_test = coverage_data.tests_by_file(run.coverage_file, suite.project.root)
    assert by_test["tests/test_calc.py::test_again"] == {"src/calc/__init__.py": (2, 4), "tests/test_calc.py": (4,)}


def test_the_users_configuration_is_kept_except_where_it_scatters_the_data(
    suite_of: MakeSuite, python: Python, limits: Limits
) -> None:
    configuration = """
        [run]
        source = calc
        omit = */forgotten.py
        parallel = true
        dynamic_context = test_function
        context = mine
        data_file = mine.data
        [report]
        fail_under = 100
        exclude_also = def unused
    """
    suite = suite_of({**FILES, "pytest.ini": SETTINGS, ".coveragerc": configuration})
    run = suite.run(SuitePlan(coverage="lines", contexts=True), limits)
    report = read_coverage(run, python, suite.project, limits)
    assert set(report.files) == {"src/calc/__init__.py"}
    assert report.files["src/calc/__init__.py"].missing == (3,)
    assert run.coverage_file is not None
    assert set(coverage_data.tests_by_file(run.coverage_file, suite.project.root)) == {
        "tests/test_calc.py::test_positive",
        "tests/test_calc.py::test_again",
    }
    assert not list(suite.project.root.glob("*mine*"))


def test_processes_the_tests_start_are_combined(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    configuration = "[run]\nconcurrency = multiprocessing\nsource = calc\n"
    tests = """
        import multiprocessing
        from calc import sign
        def test_elsewhere():
            process = multiprocessing.get_context("fork").Process(target=sign, args=(-1,))
            process.start(); process.join()
    """
    files = {"src/calc/__init__.py": CALC, "tests/test_calc.py": tests}
    suite = suite_of({**files, "pytest.ini": SETTINGS, ".coveragerc": configuration})
    run = suite.run(SuitePlan(coverage="lines"), limits)
    report = read_coverage(run, python, suite.project, limits)
    assert report.files["src/calc/__init__.py"].missing == (4, 9)


def test_without_data_there_is_no_number(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    suite = suite_of({"tests/test_x.py": "def test_x(): pass\n"})
    with pytest.raises(WhetError, match="made without coverage"):
        read_coverage(suite.run(SuitePlan(), limits), python, suite.project, limits)
    report = read_coverage(suite.run(SuitePlan(coverage="branches"), limits), python, suite.project, limits)
    assert (report.line_percent, report.branch_percent, report.function_percent) == (None, None, None)


def test_a_broken_configuration_is_said(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    suite = suite_of({**FILES, "pytest.ini": SETTINGS, ".coveragerc": "[report]\nfail_under = soon\n"})
    run = suite.run(SuitePlan(coverage="lines"), limits)
    assert "soon" in (run.problem() or "")


def test_relative_data_files_are_understood(suite_of: MakeSuite, python: Python, limits: Limits) -> None:
    suite = suite_of({**FILES, "pytest.ini": SETTINGS, ".coveragerc": "[run]\nrelative_files = true\n"})
    run = suite.run(SuitePlan(coverage="lines", contexts=True), limits)
    assert run.coverage_file is not None
    by_test = coverage_data.tests_by_file(run.coverage_file, suite.project.root)
    assert Path("src/calc/__init__.py").as_posix() in by_test["tests/test_calc.py::test_again"]
