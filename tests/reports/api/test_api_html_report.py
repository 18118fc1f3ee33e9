import re
from dataclasses import replace

import pytest
from tests.reports.api.api_reports import EMPTY, hostile, large, shop
from tests.reports.test_html_report import Page

from whet.reports.api.drawings import curve
from whet.reports.api.graph import dependency_graph, strongest
from whet.reports.api.html import render_html, status_columns
from whet.reports.api.model import CurvePoint, EdgeLine, OperationLine


def test_sections_come_in_the_order_of_need() -> None:
    html = render_html(shop())
    assert Page(html).open == []
    assert re.findall(r"<h2>(.*?)</h2>", html) == [
        "Findings",
        "What changed in the contract",
        "Operations and what they answered",
        "Progress",
        "Learned dependencies",
        "What was not tested, and why",
        "Details",
    ]


def test_findings_show_how_to_see_them_again() -> None:
    page = Page(render_html(shop()))
    for fault in shop().faults:
        assert fault.title in page.text
        assert fault.curl in page.text
        assert all(step.sent in page.text and step.received in page.text for step in fault.steps)
    assert "1 crash of the service, 1 missing authentication and 3 others, 4 of them new." in page.text
    assert page.text.index("POST /orders fails") < page.text.index("answers 202") < page.text.index("answers 418")


def test_nothing_is_loaded_and_nothing_runs() -> None:
    html = render_html(shop())
    page = Page(html)
    assert {"script", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in page.elements)
    addresses = [str(value) for _, given in page.elements for key, value in given.items() if key in ("src", "href")]
    assert all(address.startswith(("#", "data:,")) for address in addresses)
    anchors = {str(given["id"]) for _, given in page.elements if "id" in given}
    assert {address[1:] for address in addresses if address.startswith("#")} == anchors


def test_hostile_texts_stay_text() -> None:
    html = render_html(hostile())
    page = Page(html)
    assert page.open == []
    assert page.count("script") == page.count("img") == 0
    assert page.count("style") == 1
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert page.text.count("<script>alert(1)</script>\\x1b[31m") >= 15


def test_an_empty_report_says_so() -> None:
    text = Page(render_html(EMPTY)).text
    for sentence in (
        "No request was sent.",
        "first run on this service",
        "The contract names no operation.",
        "Too few requests for a curve.",
        "No dependency between operations was learned.",
        "Everything in the contract was tried.",
    ):
        assert sentence in text
    assert "0 ms" not in text


def test_statuses_stand_side_by_side_and_the_rarest_together() -> None:
    counts = {str(status): status for status in range(400, 415)} | {"200": 1000, "timeout": 2000}
    operation = OperationLine("GET /", 5, counts, 1)
    columns = status_columns(replace(EMPTY, operations=(operation,)))
    assert [column.title for column in columns] == ["200", *map(str, range(405, 415)), "timeout", "other"]
    assert sum(column.count(operation) for column in columns) == sum(counts.values())
    assert [column.tone for column in columns][::6] == ["2", "4", "none"]


def test_a_graph_of_many_says_how_many_it_leaves_out() -> None:
    report = large()
    html = render_html(report)
    assert len(report.operations) == 180
    assert html.count('<path class="edge-') == 40
    assert "The 40 strongest are drawn, 110 are not." in html
    assert html.count("<tr>") > 180


def test_every_consumer_keeps_its_strongest_edge() -> None:
    weak = [EdgeLine("POST /a", "/id", f"GET /{n}", "id", 0.1) for n in range(3)]
    strong = [EdgeLine(f"POST /{n}", "/id", "GET /hub", "id", 0.9) for n in range(9)]
    shown = strongest([*strong, *weak], 4)
    assert {edge.consumer for edge in shown} == {"GET /hub", "GET /0", "GET /1", "GET /2"}


def test_the_graph_runs_from_left_to_right() -> None:
    edges = [
        EdgeLine("POST /a", "/id", "GET /a/{id}", "id", 0.5, 8, 4),
        EdgeLine("GET /a/{id}", "/x", "GET /b", "x", None),
    ]
    drawn = dependency_graph(edges, {})
    starts = [float(x) for x in re.findall(r'd="M(\d+)', drawn)]
    ends = [float(x) for x in re.findall(r"(\d+) \d+\"><title>", drawn)]
    assert max(starts) < min(ends)
    assert "POST /a /id → GET /a/{id} id: 50 %, worked 4 of 8 times" in drawn
    assert "unknown, not tried yet" in drawn


def test_the_curve_ends_with_its_numbers() -> None:
    points = [CurvePoint(0, 0, 0), CurvePoint(10, 2, 1), CurvePoint(100, 4, 1)]
    drawn = curve(points, 8)
    assert "After 100 requests 4 of 8 operations had answered 2xx and 1 faults had been found." in drawn
    assert ">4 operations<" in drawn
    assert ">1 fault<" in drawn
    assert 'class="reached" points="2.00,84.00 2.00,84.00 10.60,84.00 10.60,65.00 88.00,65.00 88.00,46.00"' in drawn


@pytest.mark.parametrize("points", [(), (CurvePoint(1, 1, 0),)])
def test_no_curve_through_a_single_point(points: tuple[CurvePoint, ...]) -> None:
    assert curve(points, 3) == ""
