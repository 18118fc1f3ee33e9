"""The report inside GitHub Actions: a job summary in Markdown, and an annotation for each fault."""

from whet.core.text import printable
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.words import KINDS, by_urgency, fault_text, headline, present, reached, spent
from whet.reports.github import LEVELS, ROWS, SHOWN_PER_LEVEL, code, plain


def step_summary(report: ApiReport) -> str:
    """Markdown for $GITHUB_STEP_SUMMARY."""
    operations = f"{reached(report)} of {len(report.operations)} operations answered 2xx"
    lines = [f"## Whet: {plain(headline(report), 1000)}", "", f"{spent(report)} requests · {operations}"]
    faults = by_urgency(present(report.faults))
    if faults:
        lines += [
            "",
            "| | Finding | Operation | See it again |",
            "| --- | --- | --- | --- |",
            *map(_row, faults[:ROWS]),
        ]
    if len(faults) > ROWS:
        lines += ["", f"… and {len(faults) - ROWS} more."]
    if report.changes:
        lines += ["", "### Changes of the contract", ""]
        lines += [
            f"- {'**breaking** ' if change.breaking else ''}{plain(change.sentence)}" for change in report.changes
        ]
    return "\n".join([*lines, "", f"<sub>{plain(report.base_url)} · seed {report.seed}</sub>"]) + "\n"


def annotations(report: ApiReport) -> list[str]:
    """Workflow commands, most severe first, at most ten of a level: GitHub drops the rest without a word."""
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for fault in by_urgency(present(report.faults)):
        lines[LEVELS[fault.severity]].append(_annotation(fault, report.document))
    return [line for level in lines.values() for line in level[:SHOWN_PER_LEVEL]]


def _row(fault: FaultLine) -> str:
    news = "new · " if fault.standing == "new" else ""
    told = f"{KINDS[fault.kind][0]}: {fault.title}"
    cells = (f"{news}{fault.severity}", plain(told), code(fault.operations[0]), code(fault.curl.replace("\n", " ; ")))
    return f"| {' | '.join(cells)} |"


def _annotation(fault: FaultLine, document: str | None) -> str:
    title = _property(f"Whet: {printable(f'{KINDS[fault.kind][0]} in {fault.operations[0]}', 200)}")
    place = f"file={_property(document)}," if document is not None and "://" not in document else ""
    return f"::{LEVELS[fault.severity]} {place}title={title}::{_data(fault_text(fault))}"


def _data(text: str) -> str:
    kept = "\n".join(printable(line, 1000) for line in text.splitlines())
    return kept.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
