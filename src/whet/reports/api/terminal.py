"""The report in a terminal, in the order in which a person needs it."""

from collections import Counter

from rich.console import Console
from rich.markup import escape

from whet.core.text import printable_lines
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.words import KINDS, by_urgency, headline, present, reached, spent
from whet.reports.terminal import COLOURS, safe
from whet.reports.words import counted, seconds

FINDINGS_EACH = 10
LISTED = 8
LONGEST_CURL = 2_000


def print_report(report: ApiReport, console: Console | None = None) -> None:
    shown = Console(highlight=False) if console is None else console
    _headline(report, shown)
    _faults(report, shown)
    _changes(report, shown)
    _untested(report, shown)
    for note in report.notes:
        _line(shown, f"[dim]note: {safe(note)}[/]")


def _headline(report: ApiReport, console: Console) -> None:
    style = "bold red" if present(report.faults) else "bold green" if report.requests else "bold"
    _line(console, f"[{style}]{safe(headline(report), 1000)}[/]")
    operations = f"{reached(report)} of {counted(len(report.operations), 'operation', 'operations')} answered 2xx"
    used = f"{spent(report)} requests in {seconds(report.seconds)}"
    _line(console, f"[dim]{safe(report.base_url)} · {operations} · {used} · seed {report.seed}[/]")


def _faults(report: ApiReport, console: Console) -> None:
    shown: Counter[str] = Counter()
    for fault in by_urgency(report.faults):
        if fault.standing in ("fixed", "not re-tested"):
            continue
        shown[fault.kind] += 1
        if shown[fault.kind] <= FINDINGS_EACH:
            _fault(fault, console)
    for kind, count in shown.items():
        if count > FINDINGS_EACH:
            _line(console, f"  [dim]… and {count - FINDINGS_EACH} more of kind {kind}, in the HTML report[/]")
    for standing in ("fixed", "not re-tested"):
        titles = [fault.title for fault in report.faults if fault.standing == standing]
        _listed(console, f"{standing.capitalize()} since the last run", titles)


def _fault(fault: FaultLine, console: Console) -> None:
    news = " [bold]new[/]" if fault.standing == "new" else ""
    doubt = "" if fault.confirmed else " [dim](not confirmed)[/]"
    kind = KINDS[fault.kind][0]
    _line(console, f"\n  [{COLOURS[fault.severity]}]{fault.severity}[/]{news} {kind}: {safe(fault.title)}{doubt}")
    if len(fault.operations) > 1:
        _line(console, f"    [dim]in {len(fault.operations)} operations: {safe(', '.join(fault.operations), 300)}[/]")
    for line in printable_lines(fault.detail, 1000).split("\n")[:6]:
        _line(console, f"    {escape(line)}")
    if len(fault.curl) > LONGEST_CURL:
        _line(console, "    [dim]see it again: too long for here; --format json has it[/]")
        return
    for line in fault.curl.split("\n"):
        _line(console, f"    [dim]see it again:[/] {safe(line, LONGEST_CURL)}")


def _changes(report: ApiReport, console: Console) -> None:
    for breaking, title in ((True, "Breaking changes of the contract"), (False, "Other changes of the contract")):
        _listed(console, title, [change.sentence for change in report.changes if change.breaking is breaking])


def _untested(report: ApiReport, console: Console) -> None:
    _listed(console, "Not tested", [f"{line.what}: {line.why}" for line in report.untested])


def _listed(console: Console, title: str, texts: list[str]) -> None:
    if not texts:
        return
    _line(console, f"\n[bold]{title}[/]")
    for text in texts[:LISTED]:
        _line(console, f"  · {safe(text)}")
    if len(texts) > LISTED:
        _line(console, f"  [dim]… and {len(texts) - LISTED} more, in the HTML report[/]")


def _line(console: Console, markup: str) -> None:
    """Never wrapped, so that what people copy stays in one piece."""
    console.print(markup, soft_wrap=True, highlight=False, emoji=False)
