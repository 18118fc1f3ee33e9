"""How numbers and verdicts are worded, the same in every form of the report."""

from collections import Counter
from collections.abc import Iterable

from whet.core.records import Finding, Recollection
from whet.reports.model import FoundLine, RunReport, StepLine

UNKNOWN = "unknown"
SEVERITIES = ("critical", "high", "medium", "low")
KINDS = {
    "failing-test": ("failing test", "failing tests"),
    "flaky-test": ("flaky test", "flaky tests"),
    "coverage-gap": ("coverage gap", "coverage gaps"),
    "risky-change": ("risky change", "risky changes"),
    "suite-problem": ("problem with the suite", "problems with the suite"),
    "api-fault": ("fault of the service", "faults of the service"),
}
ADVICE = {
    "suite-problem": "Repair the suite first: until it runs, nothing else can be judged.",
    "failing-test": "Fix the failing tests first.",
    "api-fault": "Fix what the service does wrong; each fault has its requests (.whet/api.html).",
    "risky-change": "Look at the risky changes before you merge.",
    "flaky-test": "Nothing fails every time; mend the flaky tests, so that a red run means something again.",
    "coverage-gap": "Everything passes; the gaps show what no test would notice.",
}
DECIDERS = {"policy": "policy", "safe-default": "safe default", "person": "a person"}


def seconds(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value >= 100:
        return f"{int(value // 60)} min {int(value % 60)} s"
    if value >= 10:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def percent(fraction: float | None) -> str:
    """A share of one. Rare is not never: what is above 0 is not shown as 0."""
    if fraction is None:
        return UNKNOWN
    if 0 < fraction < 0.005:
        return "< 1 %"
    if 0.995 < fraction < 1:
        return "> 99 %"
    return f"{fraction * 100:.0f} %"


def percentage(value: float | None) -> str:
    """A number of percent. Only what is complete is called 100 %."""
    return UNKNOWN if value is None else f"{min(value, 99.9) if value < 100 else value:.1f} %"


def points(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.1f}"


def counted(amount: int, one: str, many: str) -> str:
    return f"{amount} {one if amount == 1 else many}"


def listed(texts: Iterable[str]) -> str:
    """a, b and c"""
    parts = list(texts)
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def line_ranges(lines: Iterable[int]) -> str:
    """1, 2, 3, 7 → 1–3, 7"""
    ranges: list[list[int]] = []
    for line in sorted(set(lines)):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in ranges)


def headline(report: RunReport) -> str:
    """What is wrong, in one sentence."""
    unfinished = {
        "interrupted": "The run was interrupted; what follows is what was known by then. ",
        "running": "The run is not over; what follows is what is known so far. ",
    }.get(report.status, "")
    kinds = Counter[str](found.finding.kind for found in report.findings)
    if not kinds:
        return unfinished + ("Nothing wrong was found." if report.tests else "No test was executed.")
    named = [counted(kinds[kind], *KINDS[kind]) for kind in KINDS if kinds[kind]]
    new = sum(found.new for found in report.findings)
    news = {0: "none of them new", len(report.findings): "all new"}.get(new, f"{new} of them new")
    return f"{unfinished}{listed(named)}, {news}." if len(report.findings) > 1 else _single(unfinished, named, new)


def _single(unfinished: str, named: list[str], new: int) -> str:
    return f"{unfinished}{named[0]}, {'new' if new else 'known from earlier'}."


def advice(report: RunReport) -> str | None:
    """What to do first, or nothing when there is nothing to do."""
    kinds = {found.finding.kind for found in report.findings}
    return next((text for kind, text in ADVICE.items() if kind in kinds), None)


def by_urgency(findings: Iterable[FoundLine]) -> list[FoundLine]:
    """Most severe first, new before known."""
    return sorted(findings, key=lambda found: (SEVERITIES.index(found.finding.severity), not found.new))


def place(finding: Finding) -> str | None:
    if finding.file is None:
        return None
    return finding.file if finding.line is None else f"{finding.file}:{finding.line}"


def decider(step: StepLine) -> str:
    return DECIDERS[step.decided_by] + (", exploring" if step.explored else "")


def reminded(recollection: Recollection) -> str:
    """A memory by the beginning of its id, under which it can be looked at."""
    return f"memory {recollection.memory[:8]} ({percent(recollection.weight)}): {recollection.why}"
