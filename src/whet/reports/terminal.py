"""The report in a terminal. Colours and boxes only where a person looks at one."""

from collections import Counter
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from whet.core.text import printable, printable_lines
from whet.reports.model import FlakyLine, FoundLine, RunReport
from whet.reports.words import (
    advice,
    by_urgency,
    decider,
    headline,
    line_ranges,
    percent,
    percentage,
    place,
    points,
    reminded,
    seconds,
)

COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}
GAPS = 8
COMMANDER = "fleet-commander"
EVIDENCE_LINES = 6
MEMORIES = 3
# One cause often breaks hundreds of tests; ten of a kind show what it is.
FINDINGS_EACH = 10


def print_report(report: RunReport, console: Console | None = None) -> None:
    """Everything, in the order in which a person needs it."""
    shown = Console(highlight=False) if console is None else console
    print_headline(report, shown)
    print_findings(report, shown)
    print_flaky(report, shown)
    print_gaps(report, shown)
    print_decisions(report, shown)
    print_used(report, shown)


def print_headline(report: RunReport, console: Console) -> None:
    style = "bold red" if report.findings else "bold green" if report.tests else "bold"
    _line(console, f"[{style}]{safe(headline(report))}[/]")
    if text := advice(report):
        _line(console, safe(text))
    budget = f"{seconds(report.used_seconds)} used of {seconds(report.budget_seconds)}"
    _line(console, f"[dim]{safe(report.project)} · {budget} · seed {report.seed}[/]")


def print_findings(report: RunReport, console: Console) -> None:
    if report.findings:
        _title(console, "Findings")
    shown: Counter[str] = Counter()
    for found in by_urgency(report.findings):
        shown[found.finding.kind] += 1
        if shown[found.finding.kind] <= FINDINGS_EACH:
            _finding(found, console)
    for kind, count in shown.items():
        if count > FINDINGS_EACH:
            _line(console, f"  [dim]… and {count - FINDINGS_EACH} more of kind {kind}, in the HTML report[/]")


def print_flaky(report: RunReport, console: Console) -> None:
    if report.flaky:
        _title(console, "Flaky tests")
    for line in report.flaky:
        _line(console, f"  {safe(line.test)}")
        _line(console, f"    [dim]{safe(_flakiness(line))}[/]")


def print_gaps(report: RunReport, console: Console) -> None:
    _title(console, "Coverage gaps")
    if report.coverage is None:
        _line(
            console,
            "  Coverage is unknown: it was not measured on the whole suite, or there is no source beside the tests.",
        )
        return
    gaps = sorted((line for line in report.coverage if line.missing), key=lambda line: -len(line.missing))
    for line in gaps[:GAPS]:
        _line(console, f"  {safe(line.path)}  {percentage(line.percent)}  [dim]lines {line_ranges(line.missing)}[/]")
    if len(gaps) > GAPS:
        _line(console, f"  [dim]… and {len(gaps) - GAPS} more files, in the HTML report[/]")
    if not gaps:
        _line(console, "  No line is known to be left out.")


def print_decisions(report: RunReport, console: Console) -> None:
    if not report.steps:
        return
    _title(console, "What was decided and why")
    table = Table(box=SIMPLE_HEAD, pad_edge=True, show_edge=False)
    table.add_column("Agent", overflow="fold", max_width=26)
    table.add_column("Confidence", no_wrap=True, justify="right")
    table.add_column("Reward", no_wrap=True, justify="right")
    table.add_column("What, and why", overflow="fold")
    for step in report.steps:
        if step.agent == COMMANDER:
            continue
        told = "\n".join(map(safe, (step.why, *map(reminded, step.memories[:MEMORIES]))))
        what = f"{safe(step.action_summary)} ({decider(step)})\n[dim]{told}[/]"
        table.add_row(safe(step.agent), percent(step.confidence), points(step.reward_raw), what)
    console.print(table)
    sent = [step.action_summary for step in report.steps if step.agent == COMMANDER]
    if sent:
        _line(console, f"  {COMMANDER}: {safe(' → '.join(sent), 2000)}")


def print_used(report: RunReport, console: Console) -> None:
    if report.what_changed:
        _title(console, "This visit used")
    for text in report.what_changed:
        _line(console, f"  · {safe(text)}")


def safe(text: str, limit: int = 500) -> str:
    """Text from outside: no control characters, no markup."""
    return escape(printable(text, limit))


def _finding(found: FoundLine, console: Console) -> None:
    finding = found.finding
    news = " [bold]new[/]" if found.new else ""
    sure = "" if finding.probability is None else f" ({percent(finding.probability)} sure)"
    _line(console, f"  [{COLOURS[finding.severity]}]{finding.severity}[/]{news} {safe(finding.title)}{sure}")
    if (where := place(finding)) is not None:
        _line(console, f"    [dim]{safe(where)}[/]")
    for line in _shortened(printable_lines(finding.evidence).split("\n")):
        _line(console, f"    {escape(line)}")
    if finding.turned is not None:
        _line(console, f"    {safe(finding.turned)}")
    for memory in finding.memories[:MEMORIES]:
        _line(console, f"    [dim]resembles {safe(reminded(memory))}[/]")
    for fact in finding.known:
        _line(console, f"    [dim]known: {safe(fact.text)}[/]")
    if finding.reproduce is not None:
        _line(console, f"    [dim]see it again:[/] {safe(finding.reproduce, 4000)}")


def _flakiness(line: FlakyLine) -> str:
    between = (
        "" if line.low is None or line.high is None else f" (between {percent(line.low)} and {percent(line.high)})"
    )
    causes = ", ".join(line.causes) or "cause unknown"
    return f"flaky: {percent(line.probability)} sure{between}; failed {line.failures} of {line.executions}; {causes}"


def _shortened(lines: list[str]) -> Iterable[str]:
    yield from lines[:EVIDENCE_LINES]
    if len(lines) > EVIDENCE_LINES:
        yield f"… {len(lines) - EVIDENCE_LINES} more lines, in the HTML report"


def _title(console: Console, text: str) -> None:
    _line(console, f"\n[bold]{text}[/]")


def _line(console: Console, markup: str) -> None:
    """Never wrapped, so that what people copy stays in one piece."""
    console.print(markup, soft_wrap=True, highlight=False, emoji=False)
