"""What was recorded, as questions: failures whose cause is known."""

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from whet.memory.failures_lines import Bodies, diverged
from whet.memory.failures_turning import Turn, measured
from whet.tools.source import functions

FIRST = 5
MOST_QUERIES_PER_MUTANT = 10
SEED = 7
# One process has one set of addresses, and one folder for temporary files: they would give away the run.
_OF_THE_RUN = re.compile(r"0x[0-9a-fA-F]{5,}|(?<=\.)x?[0-9a-f]{5,}(?=>)|(?<=/pytest-)\d+(?=/)")


class Case(NamedTuple):
    """One failure. `mutant` and `function` say why, and are for judging only."""

    mutant: int
    function: str
    test: str
    text: str  # as pytest prints it
    message: str  # the exception's own
    diverged: frozenset[str] | None
    turned: Turn | None = None


class Recording(NamedTuple):
    project: str
    cases: tuple[Case, ...]
    covered: dict[str, frozenset[str]]  # test → functions, from the green suite
    drawn: int  # mutants that were run

    def queries(self) -> list[int]:
        """Failures with at least five others of the same mutant; of a mutant with many, some by lot."""
        of_mutant: dict[int, list[int]] = defaultdict(list)
        for index, case in enumerate(self.cases):
            of_mutant[case.mutant].append(index)
        rng = random.Random(SEED)
        asked = [members for members in of_mutant.values() if len(members) > FIRST]
        return [i for members in asked for i in sorted(rng.sample(members, min(MOST_QUERIES_PER_MUTANT, len(members))))]

    def mutants_in(self) -> Counter[str]:
        """How many noticed mutants each function has."""
        return Counter({case.mutant: case.function for case in self.cases}.values())


def load(work: Path, project: str) -> Recording:
    folder = work / project
    green: dict[str, dict[str, list[int]]] = json.loads((folder / "green.json").read_text())["executed"]
    files = sorted({file for executed in green.values() for file in executed})
    known = {file: functions(folder / "repo" / file) for file in files}
    bodies = {file: [(one.body, one.end) for one in found] for file, found in known.items()}
    names = {
        (file, line): f"{file}:{one.name}"
        for file, found in known.items()
        for one in found
        for line in range(one.body, one.end + 1)
    }
    covered = {test: _functions(executed, names) for test, executed in green.items()}
    recorded = _lines(folder / "recorded.jsonl")
    traces = _by_failure(folder / "traced.jsonl", "traces")
    turns = _by_failure(folder / "turned.jsonl", "turns")
    cases = [
        Case(
            one["number"],
            f"{one['file']}:{one['function']}",
            failure["test"],
            _OF_THE_RUN.sub("0", failure["text"]),
            _OF_THE_RUN.sub("0", failure["message"]),
            _diverged(green.get(failure["test"], {}), traces.get((one["number"], failure["test"])), bodies),
            measured(turns.get((one["number"], failure["test"]))),
        )
        for one in recorded
        for failure in one["failures"] or ()
    ]
    return Recording(project, tuple(cases), covered, len(recorded))


def _by_failure(path: Path, what: str) -> dict[tuple[int, str], Any]:
    return {(one["number"], test): told for one in _lines(path) for test, told in one[what].items()}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _functions(executed: dict[str, list[int]], names: dict[tuple[str, int], str]) -> frozenset[str]:
    return frozenset(names[file, n] for file, lines in executed.items() for n in lines if (file, n) in names)


def _diverged(green: dict[str, list[int]], trace: list[str] | None, bodies: Bodies) -> frozenset[str] | None:
    """None where the failing test was not measured."""
    if trace is None:
        return None
    failing = {file: set(lines) for file, lines in green.items()}
    for change in trace:
        file, _, line = change[1:].rpartition(":")
        lines = failing.setdefault(file, set())
        (lines.add if change[0] == "+" else lines.discard)(int(line))
    return diverged(green, failing, bodies)
