"""Coverage gaps, ranked by what an untested line could cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.core.records import Count, Record
from whet.tools.coverage_data import CoverageReport, FileCoverage
from whet.tools.source import Function

# From here on a function is worth a test of its own: McCabe's own "moderate" starts at 5 decision points.
COMPLEX = 5


class Gap(Record):
    """Uncovered lines of one function (or of a module's top level), and why they matter."""

    file: str
    function: str | None
    lines: tuple[int, ...]
    score: float
    reasons: tuple[str, ...]
    complexity: Count | None = None
    callers: Count = 0
    untouched: bool = False

    @property
    def matters(self) -> bool:
        return bool(self.reasons)


@dataclass(frozen=True)
class Weighing:
    """What to rank by. Each source is optional: without it the gap is simply not judged by it."""

    functions: Mapping[str, Sequence[Function]]
    changed: Mapping[str, Sequence[int]]
    churn: Mapping[str, int]
    callers: Mapping[str, int]


def gaps(report: CoverageReport, weighing: Weighing) -> tuple[Gap, ...]:
    """All gaps, the costliest first."""
    found = [gap for path, file in report.files.items() for gap in _of_file(path, file, weighing)]
    return tuple(sorted(found, key=lambda g: (-g.score, g.file, g.lines[0])))


def _of_file(path: str, file: FileCoverage, weighing: Weighing) -> list[Gap]:
    missing, found = set(file.missing), []
    for function in _innermost_first(weighing.functions.get(path, ())):
        lines = tuple(sorted(n for n in missing if function.start <= n <= function.end))
        missing -= set(lines)
        if lines:
            found.append(_gap(path, function, lines, weighing))
    if missing:
        found.append(_gap(path, None, tuple(sorted(missing)), weighing))
    return found


def _innermost_first(functions: Sequence[Function]) -> list[Function]:
    return sorted(functions, key=lambda f: f.end - f.start)


def _gap(path: str, function: Function | None, lines: tuple[int, ...], weighing: Weighing) -> Gap:
    reasons: list[str] = []
    changed = sorted(set(lines) & set(weighing.changed.get(path, ())))
    if changed:
        reasons.append(f"{len(changed)} of these lines just changed")
    if function is not None and function.complexity >= COMPLEX:
        reasons.append(f"{function.name} has complexity {function.complexity}")
    callers = 0 if function is None else weighing.callers.get(function.name.rsplit(".", 1)[-1], 0)
    if callers >= 2:
        reasons.append(f"called from {callers} places")
    complexity = 1 if function is None else function.complexity
    score = len(lines) * (1 + complexity / COMPLEX) + 10 * len(changed) + 2 * callers + _churn(path, weighing)
    return Gap(
        file=path,
        function=None if function is None else function.name,
        lines=lines,
        score=float(score),
        reasons=tuple(reasons),
        complexity=None if function is None else function.complexity,
        callers=callers,
        untouched=function is not None and function.body in lines,
    )


def _churn(path: str, weighing: Weighing) -> float:
    """Files that change often break often; capped so that churn alone never outranks a changed line."""
    return min(float(weighing.churn.get(path, 0)), 10.0)


def ranges(lines: Sequence[int]) -> str:
    """1, 2, 3, 7 → '1-3, 7'."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
