"""Records real failures with their cause known: the suites of real projects under a random sample of mutants.

    python benchmarks/triage_recording.py [--projects NAME…] [--killed 60] [--minutes 25] [--work build/triage]

A mutant's failures are what its tests said, as pytest prints it; what they have in common is the mutant. Of each test
only what executes the mutated statement in the green suite is run: the others cannot notice. What was interrupted
goes on where it stopped.
"""

import argparse
import ast
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.first_failures_history import Project, mutation_python  # noqa: E402
from benchmarks.triage_suite import Suite  # noqa: E402
from benchmarks.triage_turning import turns  # noqa: E402

SEED = 20240607
MOST_MUTANTS = 200
FOLLOWING = 3  # times as long as without

DEVELOPMENT = {
    project.name: project
    for project in (
        Project("cachetools", "8.0.0", "src/cachetools", "tests"),
        Project("toolz", "1.2.0", "toolz", "toolz"),
        Project("sqlparse", "0.6.1", "sqlparse", "tests"),
        Project("simpleeval", "1.0.8", "simpleeval.py", "tests"),
    )
}
HELD_OUT = {
    project.name: project
    for project in (
        Project("boltons", "26.2.0", "boltons", "tests"),
        Project("h11", "0.16.0", "h11", "h11"),
        Project("tinydb", "4.9.0", "tinydb", "tests"),
        Project("tabulate", "0.10.0", "tabulate", "test"),
        Project("xmltodict", "1.0.4", "xmltodict.py", "tests"),
    )
}
PROJECTS = DEVELOPMENT | HELD_OUT


def main() -> None:
    arguments = _arguments()
    work: Path = arguments.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    for name in arguments.projects:
        record(work, PROJECTS[name], arguments.killed, 60 * arguments.minutes)
        trace(work, PROJECTS[name], 60 * arguments.minutes)
        turn(work, PROJECTS[name], 60 * arguments.minutes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", nargs="+", choices=sorted(PROJECTS), default=list(PROJECTS))
    parser.add_argument("--killed", type=int, default=60, help="mutants per project that some test notices")
    parser.add_argument("--minutes", type=float, default=5.0, help="per project, and as long for each way to trace")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "triage")
    return parser.parse_args()


def record(work: Path, project: Project, killed: int, seconds: float) -> None:
    suite = Suite(work, project)
    mutants = _mutants(work, suite)
    green, limit_seconds = _green(suite)
    path = suite.folder / "recorded.jsonl"
    path.touch()
    lines = path.read_text().splitlines()
    until = time.monotonic() + seconds
    noticed = sum(bool(json.loads(line)["failures"]) for line in lines)
    for mutant in mutants[len(lines) :]:
        if noticed >= killed or time.monotonic() > until:
            break
        told = _recorded(suite, mutant, green, limit_seconds)
        noticed += bool(told["failures"])
        with path.open("a") as out:
            out.write(json.dumps(told) + "\n")
    print(f"{project.name}: {noticed} mutants noticed of {len(path.read_text().splitlines())}", flush=True)


def trace(work: Path, project: Project, seconds: float) -> None:
    """Runs what failed once more, and records which lines of the project it executed that it did not when green, and
    which it no longer does: what a tool sees that measures lines while tests fail."""
    suite = Suite(work, project)
    mutants = _mutants(work, suite)
    green, limit_seconds = _green(suite)
    path = suite.folder / "traced.jsonl"
    for one, tests in _left(suite, path, seconds):
        with suite.mutated(mutants[one["number"]]):
            told = suite.run(tests, limit_seconds, cover=True)
        executed = {} if told is None else {test: told.executed.get(test, {}) for test in told.failed}
        traces = {test: _changed(green.get(test, {}), now) for test, now in executed.items()}
        with path.open("a") as out:
            out.write(json.dumps({"number": one["number"], "traces": traces}) + "\n")


def turn(work: Path, project: Project, seconds: float) -> None:
    """Runs what failed once more, without and with the mutant, and records where each test first went another way."""
    suite = Suite(work, project)
    mutants, (_, limit_seconds) = _mutants(work, suite), _green(suite)
    path = suite.folder / "turned.jsonl"
    for one, tests in _left(suite, path, seconds):
        turned = turns(suite, mutants[one["number"]], tests, FOLLOWING * limit_seconds)
        with path.open("a") as out:
            out.write(json.dumps({"number": one["number"], "turns": turned}) + "\n")


def _left(suite: Suite, path: Path, seconds: float) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Recorded mutants that failed tests, with these tests, from where `path` ends until the time is up."""
    recorded = [json.loads(line) for line in (suite.folder / "recorded.jsonl").read_text().splitlines()]
    done = len(path.read_text().splitlines()) if path.exists() else 0
    until = time.monotonic() + seconds
    for one in [one for one in recorded if one["failures"]][done:]:
        if time.monotonic() > until:
            return
        yield one, [failure["test"] for failure in one["failures"]]


def _changed(before: dict[str, list[int]], now: dict[str, list[int]]) -> list[str]:
    """`+file:line` for what is executed newly, `-file:line` for what no longer is."""
    was, now_is = ({(file, line) for file, lines in one.items() for line in lines} for one in (before, now))
    return [f"+{file}:{line}" for file, line in sorted(now_is - was)] + [
        f"-{file}:{line}" for file, line in sorted(was - now_is)
    ]


def _mutants(work: Path, suite: Suite) -> list[dict[str, Any]]:
    out = suite.folder / "mutants.jsonl"
    if not out.exists():
        command: list[str | Path] = [mutation_python(work), ROOT / "benchmarks" / "triage_mutants.py"]
        subprocess.run([*command, suite.repo, str(MOST_MUTANTS), str(SEED), out, *suite.sources()], check=True)
    return [json.loads(line) for line in out.read_text().splitlines()]


def _green(suite: Suite) -> tuple[dict[str, dict[str, list[int]]], float]:
    """What each test of the green suite executes, and how long a mutant's run may take."""
    path = suite.folder / "green.json"
    if not path.exists():
        started = time.perf_counter()
        suite.warm()
        told = suite.run(None, 600, cover=True)
        wall_seconds = time.perf_counter() - started
        assert told is not None
        assert not told.broken, told.broken
        assert not told.failed, f"the released suite is not green here: {sorted(told.failed)}"
        path.write_text(json.dumps({"wall_seconds": wall_seconds, "executed": told.executed}))
    green = json.loads(path.read_text())
    return green["executed"], 5 + 4 * green["wall_seconds"]


def _recorded(suite: Suite, mutant: dict[str, Any], green: dict[str, Any], limit_seconds: float) -> dict[str, Any]:
    """`failures` is None when the run did not end, or the suite could not be collected: then no test failed."""
    function, statement = _place((suite.repo / mutant["file"]).read_bytes(), mutant["line"])
    about = {key: mutant[key] for key in ("number", "file", "line", "operator")} | {"function": function}
    tests = _executing(mutant["file"], statement, green)
    if tests is not None and not tests:
        return about | {"failures": []}
    with suite.mutated(mutant):
        told = suite.run(tests, limit_seconds)
    if told is None or told.broken:
        return about | {"failures": None}
    return about | {"failures": [{"test": test, **said} for test, said in told.failed.items()]}


def _executing(file: str, statement: range, green: dict[str, Any]) -> list[str] | None:
    """The tests that execute any line of the statement; None for all, when importing executes it."""
    executing = [test for test, files in green.items() if not set(statement).isdisjoint(files.get(file, ()))]
    return None if "" in executing else executing


def _place(source: bytes, line: int) -> tuple[str, range]:
    """The function a line is in, and the lines of its statement; of one with a body, those before the body."""
    names: list[str] = []
    statement = range(line, line + 1)
    for node, lines in _around(ast.parse(source), line):
        names += [node.name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
        statement = lines
    return ".".join(names), statement


def _around(tree: ast.AST, line: int) -> Iterator[tuple[ast.stmt, range]]:
    """The statements around a line, outermost first, each with its own lines."""
    for node in ast.walk(tree):  # breadth first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            yield node, range(node.lineno, body[0].lineno if body else (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    main()
