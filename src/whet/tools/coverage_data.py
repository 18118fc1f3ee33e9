"""What coverage.py measured: per file and in total, and which test executed which line."""

import json
import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coverage.numbits import numbits_to_nums

from whet.core.errors import WhetError
from whet.core.records import Record
from whet.tools.environment import environment
from whet.tools.process import Limits, run
from whet.tools.project import Project
from whet.tools.python import Python
from whet.tools.source import Function, functions
from whet.tools.suite_records import SuiteRun


class FunctionCoverage(Record):
    """`covered` is None where lines cannot tell: everything stands on the line of `def`, or is excluded."""

    name: str
    start: int
    end: int
    covered: bool | None


class FileCoverage(Record):
    executed: tuple[int, ...]
    missing: tuple[int, ...]
    missing_branches: tuple[tuple[int, int], ...] | None
    branches: int | None
    covered_branches: int | None
    functions: tuple[FunctionCoverage, ...]


class CoverageReport(Record):
    """Of the project's source files, without its tests. A percentage of nothing is None."""

    files: dict[str, FileCoverage]
    line_percent: float | None
    branch_percent: float | None
    function_percent: float | None


def read_coverage(suite_run: SuiteRun, python: Python, project: Project, limits: Limits) -> CoverageReport:
    """What a run with coverage measured, as the user's coverage.py reports it with the user's configuration."""
    if suite_run.coverage_file is None:
        why = suite_run.problem() or "The run was made without coverage."
        raise WhetError(f"There is no coverage data of this run. {why}")
    reported = _reported(suite_run.coverage_file, python, project, limits)
    sources = {file.relative_to(project.root).as_posix(): file for file in project.source_files()}
    measured = {_relative(Path(name), project.root): entry for name, entry in reported.items()}
    files = {name: _file(measured[name], sources[name]) for name in sorted(measured.keys() & sources.keys())}
    return _report(files)


def tests_by_file(coverage_file: Path, root: Path) -> dict[str, dict[str, tuple[int, ...]]]:
    """Test → file → executed lines, from a run with contexts. Only files inside `root`."""
    lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    names: dict[str, str] = {}
    with closing(sqlite3.connect(f"{coverage_file.absolute().as_uri()}?mode=ro", uri=True)) as data:
        for context, path, numbers in _executed(data):
            name = names.setdefault(path, _relative(Path(path), root.absolute()))
            if not Path(name).is_absolute():
                lines[context][name].update(numbers)
    return {
        test: {name: tuple(sorted(numbers)) for name, numbers in files.items() if numbers}
        for test, files in lines.items()
    }


def _executed(data: sqlite3.Connection) -> Iterator[tuple[str, str, Iterable[int]]]:
    """Rows of coverage.py's documented schema: lines as bit sets, or pairs of lines where branches were measured."""
    joined = "JOIN context ON context.id = context_id JOIN file ON file.id = file_id WHERE context.context != ''"
    for context, path, numbits in data.execute(f"SELECT context, path, numbits FROM line_bits {joined}"):  # noqa: S608 - constants only
        yield context, path, numbits_to_nums(numbits)
    for context, path, start, end in data.execute(f"SELECT context, path, fromno, tono FROM arc {joined}"):  # noqa: S608 - constants only
        yield context, path, (number for number in (start, end) if number > 0)


def _reported(coverage_file: Path, python: Python, project: Project, limits: Limits) -> dict[str, Any]:
    written = coverage_file.with_name("coverage-report.json")
    output = _coverage(coverage_file, python, project, limits, "json", "-q", "-i", "--fail-under=0", "-o", str(written))
    try:
        report: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        said = output.strip()[-500:] or str(error)
        raise WhetError(f"coverage.py could not report on this run: {said}.", "Check [tool.coverage].") from error
    files: dict[str, Any] = report["files"]
    return files


def _coverage(coverage_file: Path, python: Python, project: Project, limits: Limits, *arguments: str) -> str:
    env = {**environment(python), "COVERAGE_FILE": str(coverage_file)}
    command = [str(python.path), "-m", "coverage", *arguments]
    return run(command, cwd=project.root, env=env, limits=limits).output


def _relative(path: Path, root: Path) -> str:
    absolute = root / path
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()


def _file(entry: dict[str, Any], source: Path) -> FileCoverage:
    executed, missing = sorted(entry["executed_lines"]), sorted(entry["missing_lines"])
    branches = entry.get("missing_branches")
    return FileCoverage(
        executed=tuple(executed),
        missing=tuple(missing),
        missing_branches=None if branches is None else tuple((start, end) for start, end in branches),
        branches=entry["summary"].get("num_branches"),
        covered_branches=entry["summary"].get("covered_branches"),
        functions=tuple(_function(function, executed, missing) for function in functions(source)),
    )


def _function(function: Function, executed: Sequence[int], missing: Sequence[int]) -> FunctionCoverage:
    # A body on the line of `def` is executed when the function is defined, called or not.
    first = function.body
    covered = _any_within(executed, first, function.end)
    told = first > function.definition and (covered or _any_within(missing, first, function.end))
    return FunctionCoverage(
        name=function.name, start=function.start, end=function.end, covered=covered if told else None
    )


def _any_within(numbers: Sequence[int], start: int, end: int) -> bool:
    place = bisect_left(numbers, start)
    return place < len(numbers) and numbers[place] <= end


def _report(files: dict[str, FileCoverage]) -> CoverageReport:
    executed = sum(len(file.executed) for file in files.values())
    missing = sum(len(file.missing) for file in files.values())
    branched = [file for file in files.values() if file.branches is not None and file.covered_branches is not None]
    told = [function.covered for file in files.values() for function in file.functions if function.covered is not None]
    return CoverageReport(
        files=files,
        line_percent=_percent(executed, executed + missing),
        branch_percent=_percent(
            sum(file.covered_branches or 0 for file in branched), sum(file.branches or 0 for file in branched)
        ),
        function_percent=_percent(sum(told), len(told)),
    )


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
