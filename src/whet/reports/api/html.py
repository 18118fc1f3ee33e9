"""The report as one HTML file: no script, no request, light and dark, readable without colours and on a phone."""

from functools import cache
from typing import NamedTuple

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template

from whet.core.text import printable, printable_lines
from whet.reports import words as numbers
from whet.reports.api import drawings, graph, words
from whet.reports.api.model import ApiReport, OperationLine
from whet.reports.html import _breakable

MOST_STATUSES = 12
MOST_EDGES_LISTED = 200
LONGEST_CURL = 20_000
FOLDED_ABOVE = 60  # operations; more of them would hide what comes after


class StatusColumn(NamedTuple):
    """A status, or what is left when there are too many to stand side by side."""

    title: str
    statuses: frozenset[str]

    def count(self, operation: OperationLine) -> int:
        return sum(count for status, count in operation.statuses.items() if status in self.statuses)

    @property
    def tone(self) -> str:
        """2 for 2xx and so on; "none" for requests without an answer and for the rest."""
        return self.title[0] if self.title[:1] in tuple("12345") else "none"


def render_html(report: ApiReport) -> str:
    groups = {operation.id: operation.group for operation in report.operations}
    return _template().render(
        report=report,
        headline=words.headline(report),
        faults=words.by_urgency(report.faults),
        present=words.present(report.faults),
        reached=words.reached(report),
        spent=words.spent(report),
        columns=status_columns(report),
        curve=drawings.curve(report.curve, len(report.operations)),
        graph=graph.dependency_graph(report.edges, groups),
        drawn=min(len(report.edges), graph.MOST_EDGES),
        edges=graph.strongest(report.edges, MOST_EDGES_LISTED),
        changes=sorted(report.changes, key=lambda change: not change.breaking),
    )


def status_columns(report: ApiReport) -> list[StatusColumn]:
    """Every status that was answered, lowest first and silence last; the rarest are put together."""
    counts: dict[str, int] = {}
    for operation in report.operations:
        for status, count in operation.statuses.items():
            counts[status] = counts.get(status, 0) + count
    kept = set(sorted(counts, key=lambda status: -counts[status])[:MOST_STATUSES])
    columns = [StatusColumn(status, frozenset((status,))) for status in sorted(kept, key=_order)]
    rest = frozenset(counts) - kept
    return [*columns, StatusColumn("other", rest)] if rest else columns


def _order(status: str) -> tuple[bool, str]:
    return not status[:1].isdigit(), status


@cache
def _template() -> Template:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("whet.reports.api"), PackageLoader("whet.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": printable,
        "lines": printable_lines,
        "seconds": numbers.seconds,
        "percent": numbers.percent,
        "breakable": _breakable,
    }
    environment.globals |= {
        "words": words,
        "numbers": numbers,
        "longest_curl": LONGEST_CURL,
        "folded_above": FOLDED_ABOVE,
    }
    return environment.get_template("api.html.j2")
