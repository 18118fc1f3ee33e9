"""The report as one HTML file: no script, no request, light and dark, readable without colours."""

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from whet.core.text import printable, printable_lines
from whet.reports import charts, words
from whet.reports.model import CoverageLine, FlakyLine, RiskLine, RunReport, TestLine

SLOWEST = 10
LONGEST_EVIDENCE = 8
ROWS = 25


def render_html(report: RunReport) -> str:
    slowest = _slowest(report.tests)
    return _template().render(
        report=report,
        headline=words.headline(report),
        advice=words.advice(report),
        findings=words.by_urgency(report.findings),
        gaps=_gaps(report.coverage),
        flaky=_flakiest(report.flaky),
        risks=_riskiest(report.risks),
        slowest=slowest,
        slowest_seconds=slowest[0].mean_seconds if slowest else None,
        largest_side=charts.largest_side(report.steps),
        whole_seconds=max(report.budget_seconds, report.used_seconds or 0.0),
        credited=_credited(report),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("whet.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": printable,
        "lines": printable_lines,
        "seconds": words.seconds,
        "percent": words.percent,
        "percentage": words.percentage,
        "points": words.points,
        "ranges": words.line_ranges,
        "unknown": _or_unknown,
        "breakable": _breakable,
    }
    environment.globals |= {"charts": charts, "words": words, "longest_evidence": LONGEST_EVIDENCE, "rows": ROWS}
    return environment.get_template("report.html.j2")


def _or_unknown(value: object) -> str | Markup:
    return Markup('<span class="unknown">{}</span>').format(words.UNKNOWN) if value is None else printable(str(value))


def _breakable(text: str) -> Markup:
    """A test id or path that may be broken where a reader would; nothing is added to what is copied."""
    return Markup(re.sub(r"(::|[/_])", r"\1<wbr>", str(escape(printable(text)))))  # noqa: S704 - escaped just here


def _slowest(tests: tuple[TestLine, ...]) -> list[TestLine]:
    known = [test for test in tests if test.mean_seconds]
    return sorted(known, key=lambda test: -(test.mean_seconds or 0.0))[:SLOWEST]


def _gaps(coverage: tuple[CoverageLine, ...] | None) -> list[CoverageLine] | None:
    """Files with lines that nothing executed, least covered first; those of unknown coverage last."""
    if coverage is None:
        return None
    gaps = [line for line in coverage if line.missing or line.percent is None]
    return sorted(gaps, key=lambda line: (line.percent is None, line.percent or 0.0, line.path))


def _flakiest(lines: tuple[FlakyLine, ...]) -> list[FlakyLine]:
    return sorted(lines, key=lambda line: (line.probability is None, -(line.probability or 0.0)))


def _riskiest(lines: tuple[RiskLine, ...]) -> list[RiskLine]:
    return sorted(lines, key=lambda line: (line.risk is None, -(line.risk or 0.0)))


def _credited(report: RunReport) -> float | None:
    """What the run earned, known only when every step's share is."""
    shares = [step.reward_credited for step in report.steps]
    known = [share for share in shares if share is not None]
    return sum(known) if shares and len(known) == len(shares) else None
