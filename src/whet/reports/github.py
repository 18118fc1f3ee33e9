"""The report inside GitHub Actions: a job summary in Markdown and annotations on the changed lines.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

import re
from collections.abc import Iterable, Sequence

from whet.core.records import Finding
from whet.core.text import printable
from whet.reports.model import FoundLine, RunReport
from whet.reports.words import (
    advice,
    by_urgency,
    decider,
    headline,
    line_ranges,
    percent,
    percentage,
    place,
    seconds,
)

# GitHub shows ten of a level per step and drops the rest without a word.
SHOWN_PER_LEVEL = 10
ROWS = 20
LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "notice"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&@:$])")


def step_summary(report: RunReport) -> str:
    """Markdown for $GITHUB_STEP_SUMMARY."""
    sections = [
        [f"## Whet: {plain(headline(report))}", *([plain(text)] if (text := advice(report)) else [])],
        _findings(report),
        _flaky(report),
        _coverage(report),
        _decisions(report),
        _used(report),
        [f"<sub>Run {plain(report.run_id)} · seed {report.seed} · {seconds(report.used_seconds)} used of "
         f"{seconds(report.budget_seconds)}</sub>"],
    ]  # fmt: skip
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def annotations(report: RunReport) -> list[str]:
    """Workflow commands, most severe first, at most ten of a level."""
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for found in by_urgency(report.findings):
        level = LEVELS[found.finding.severity]
        lines[level].append(_annotation(level, found.finding))
    return [line for level in lines.values() for line in level[:SHOWN_PER_LEVEL]]


def plain(text: str, limit: int = 300) -> str:
    """Text from outside as Markdown that shows exactly this text: no mention, link, tag or markup."""
    return _MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", printable(text, limit))


def code(text: str, limit: int = 2000) -> str:
    """Text from outside as inline code; a tag, because backticks inside could end a Markdown one."""
    return f"<code>{plain(text, limit)}</code>"


def _annotation(level: str, finding: Finding) -> str:
    properties = {"file": finding.file, "line": finding.line, "title": f"Whet: {printable(finding.title, 200)}"}
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    message = finding.evidence if finding.reproduce is None else f"{finding.evidence}\nReproduce: {finding.reproduce}"
    return f"::{level} {shown}::{_data(message)}"


def _data(text: str) -> str:
    kept = "\n".join(printable(line, 1000) for line in text.splitlines())
    return kept.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _findings(report: RunReport) -> list[str]:
    if not report.findings:
        return []
    rows = [_finding_row(found) for found in by_urgency(report.findings)]
    return ["### Findings", "", *_table(("", "Finding", "Where", "See it again"), rows)]


def _finding_row(found: FoundLine) -> tuple[str, ...]:
    finding = found.finding
    where = place(finding)
    again = "" if finding.reproduce is None else code(finding.reproduce)
    news = "new · " if found.new else ""
    return f"{news}{finding.severity}", plain(finding.title), "" if where is None else code(where), again


def _flaky(report: RunReport) -> list[str]:
    rows = [
        (code(line.test), percent(line.probability), f"{line.failures} of {line.executions}",
         plain(", ".join(line.causes) or "cause unknown"))
        for line in report.flaky
    ]  # fmt: skip
    return ["### Flaky tests", "", *_table(("Test", "Sure", "Failed", "Why"), rows)] if rows else []


def _coverage(report: RunReport) -> list[str]:
    if report.coverage is None:
        return ["### Coverage", "", "Not measured in this run."]
    gaps = [line for line in report.coverage if line.missing]
    rows = [(code(line.path), percentage(line.percent), plain(line_ranges(line.missing), 80)) for line in gaps]
    return ["### Coverage gaps", "", *_table(("File", "Covered", "Lines never executed"), rows)] if rows else []


def _decisions(report: RunReport) -> list[str]:
    rows = [
        (plain(step.agent), plain(step.action_summary), decider(step), percent(step.confidence), plain(step.why))
        for step in report.steps
    ]
    body = _table(("Agent", "What", "Decided by", "Confidence", "Why"), rows)
    return ["<details><summary>What was decided and why</summary>", "", *body, "", "</details>"] if rows else []


def _used(report: RunReport) -> list[str]:
    lines = [f"- {plain(text)}" for text in report.what_changed]
    return ["### What this visit used from earlier ones", "", *lines] if lines else []


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [_row(head), _row("---" for _ in head), *(_row(row) for row in rows[:ROWS])]
    return lines if len(rows) <= ROWS else [*lines, "", f"… and {len(rows) - ROWS} more, in the full report."]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
