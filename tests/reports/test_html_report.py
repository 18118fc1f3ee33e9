import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from whet.core.records import Finding, Part
from whet.reports.charts import bar, interval, learning_line, reward_parts
from whet.reports.html import render_html
from whet.reports.model import CoverageLine, FoundLine, RunReport, VisitLine

VOID = {"meta", "link", "wbr"}
HOSTILE = "</style><script>alert(1)</script>\x1b[31m\u202e<img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Every element, the text outside style sheets, and what is left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def test_every_element_is_closed_in_order(report: RunReport) -> None:
    assert Page(render_html(report)).open == []


def test_sections_come_in_the_order_of_need(report: RunReport) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", render_html(report))
    assert headings == [
        "Findings",
        "What was decided and why",
        "Flaky tests",
        "Coverage gaps",
        "Risky changes",
        "Learning across visits",
        "Where the time went",
        "Details",
    ]


def test_headline_findings_and_commands_are_there(report: RunReport) -> None:
    page = Page(render_html(report))
    assert "1 failing test, 1 flaky test and 1 coverage gap, 1 of them new." in page.text
    assert "Fix the failing tests first" in page.text
    for found in report.findings:
        assert found.finding.title in page.text
        assert found.finding.reproduce is None or found.finding.reproduce in page.text
    assert page.text.index("fails every time") < page.text.index("Refunds are not tested")


def test_nothing_is_loaded_and_nothing_runs(report: RunReport) -> None:
    html = render_html(report)
    page = Page(html)
    assert {"script", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in page.elements)
    assert not re.search(r"https?://|url\(|@import", html)
    addresses = [str(v) for _, attributes in page.elements for k, v in attributes.items() if k in ("src", "href")]
    assert all(address.startswith(("#", "data:,")) for address in addresses)
    anchors = {str(attributes["id"]) for _, attributes in page.elements if "id" in attributes}
    assert {address[1:] for address in addresses if address.startswith("#")} == anchors


def test_drawings_and_tables_speak(report: RunReport) -> None:
    page = Page(render_html(report))
    outer = [attributes for tag, attributes in page.elements if tag == "svg" and "viewbox" not in attributes]
    assert len(outer) > 8
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in outer)
    assert all(attributes.get("scope") for tag, attributes in page.elements if tag == "th")
    assert ("html", {"lang": "en"}) in page.elements


def hostile(report: RunReport) -> RunReport:
    finding = Finding(
        kind="failing-test", title=HOSTILE, severity="critical", evidence=HOSTILE * 2, reproduce=HOSTILE, file=HOSTILE
    )
    part = Part(name=HOSTILE, points=1.0, because=HOSTILE)
    names = {"agent": HOSTILE, "action": HOSTILE, "action_summary": HOSTILE, "why": HOSTILE, "parts": (part,)}
    return report.model_copy(
        update={
            "project": HOSTILE,
            "run_id": HOSTILE,
            "python_path": HOSTILE,
            "python_version": HOSTILE,
            "what_changed": (HOSTILE,),
            "findings": (FoundLine(finding=finding, new=True),),
            "coverage": (CoverageLine(path=HOSTILE, percent=1.0, missing=(1,)),),
            "tests": tuple(line.model_copy(update={"id": HOSTILE}) for line in report.tests),
            "flaky": tuple(line.model_copy(update={"test": HOSTILE, "causes": (HOSTILE,)}) for line in report.flaky),
            "risks": tuple(line.model_copy(update={"test": HOSTILE, "reason": HOSTILE}) for line in report.risks),
            "steps": tuple(s.model_copy(update={**names, "highlights": {HOSTILE: HOSTILE}}) for s in report.steps),
        }
    )


def test_hostile_names_stay_text(report: RunReport) -> None:
    html = render_html(hostile(report))
    page = Page(html)
    assert page.open == []
    assert page.count("script") == page.count("img") == 0
    assert page.count("style") == 1
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<script>alert(1)</script>\\x1b[31m" in page.text


def unmeasured(report: RunReport) -> RunReport:
    return report.model_copy(
        update={
            "coverage": (CoverageLine(path="src/a.py", percent=None),),
            "used_seconds": None,
            "ended_at": None,
            "exit_code": None,
            "python_version": None,
            "python_path": None,
            "steps": report.steps[2:],
            "flaky": report.flaky[2:],
            "risks": report.risks[1:],
            "learning": report.learning[1:2],
            "findings": (),
            "tests": report.tests[-1:],
        }
    )


def test_unknown_is_said_and_never_zero(report: RunReport) -> None:
    text = Page(render_html(unmeasured(report))).text
    assert not re.search(r"(?<![\d.])[+-]?0(\.0)? (%|s|ms)", text)
    assert "+0.0" not in text
    assert text.count("unknown") >= 15


def test_unmeasured_coverage_is_said(report: RunReport) -> None:
    text = Page(render_html(report.model_copy(update={"coverage": None}))).text
    assert "Coverage is unknown: it was not measured." in text


def test_first_visit_without_tests(report: RunReport) -> None:
    bare = {"tests": (), "findings": (), "steps": (), "flaky": (), "risks": (), "learning": (), "coverage": ()}
    text = Page(render_html(report.model_copy(update=bare))).text
    for sentence in ("No test was executed.", "first visit", "No flaky test is known.", "No file was measured."):
        assert sentence in text


def test_long_evidence_is_folded(report: RunReport) -> None:
    found = report.findings[0]
    long = found.finding.model_copy(update={"evidence": "\n".join(f"line {n}" for n in range(20))})
    html = render_html(report.model_copy(update={"findings": (FoundLine(finding=long, new=True),)}))
    assert "<summary>Evidence</summary><pre>line 0\n" in html


def test_bar_is_as_wide_as_its_value() -> None:
    assert 'width="43.00%"' in bar(0.43, "x")
    assert bar(None, "x") == ""
    assert "tone-accent" not in bar(0.0, "x")


def test_interval_shows_where_the_value_lies() -> None:
    drawn = interval(0.3, 0.2, 0.5, "fails")
    assert 'x="20.00%" width="30.00%"' in drawn
    assert 'cx="30.00%"' in drawn
    assert 'aria-label="fails, between 20 % and 50 %"' in drawn


def test_reward_parts_stack_from_the_axis() -> None:
    parts = [Part(name="a", points=4.0), Part(name="b", points=2.0, weight=2.0), Part(name="c", points=-8.0)]
    drawn = reward_parts([*parts, Part(name="unrated", points=None)], 8.0)
    places = re.findall(r'series-(\d)" x="([\d.]+)%" y="2" width="([\d.]+)%"', drawn)
    assert places == [("0", "50.00", "25.00"), ("1", "75.00", "25.00"), ("2", "0.00", "50.00")]
    assert "unrated" not in drawn


@pytest.mark.parametrize("credited", [(1.0,), (1.0, None), ()])
def test_no_line_through_a_single_point(report: RunReport, credited: tuple[float | None, ...]) -> None:
    assert learning_line(visits(report, credited)) == ""


def test_unknown_visits_interrupt_the_line(report: RunReport) -> None:
    drawn = learning_line(visits(report, (1.0, 2.0, None, 3.0, 4.0)))
    assert drawn.count("<polyline") == 2
    assert drawn.count("<circle") == 4
    assert "visit 3: unknown" in drawn


def visits(report: RunReport, credited: tuple[float | None, ...]) -> list[VisitLine]:
    return [
        VisitLine(number=n, started_at=report.started_at, credited=value, seconds_used=None, findings=None)
        for n, value in enumerate(credited, 1)
    ]


def test_template_ships_with_the_package() -> None:
    import whet.reports

    folder = Path(str(whet.reports.__file__)).parent / "templates"
    assert {path.name for path in folder.iterdir()} == {"report.html.j2", "parts.html.j2", "style.css"}
