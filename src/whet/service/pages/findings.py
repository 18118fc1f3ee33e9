"""Findings: what is wrong, the evidence, how to see it again; and what people say of it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from whet.bootstrap.feedback import Listener
from whet.core.views import Asked, FindingLine, Standing
from whet.reports.words import KINDS, SEVERITIES
from whet.service.desk import desk_of
from whet.service.pages.asking import Before, Reviewer, Viewer
from whet.service.pages.decisions import recalled
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused

router = APIRouter()
STANDINGS = {Standing.UNMARKED: "not marked", Standing.REAL: "real", Standing.FALSE_ALARM: "false alarm"}
_Kind = Literal["", "failing-test", "flaky-test", "coverage-gap", "risky-change", "suite-problem", "api-fault"]
_Severity = Literal["", "critical", "high", "medium", "low"]


@router.get("/findings")
def findings(
    request: Request,
    _person: Viewer,
    before: Before = None,
    kind: Annotated[_Kind, Query()] = "",
    severity: Annotated[_Severity, Query()] = "",
    standing: Annotated[Literal["", "unmarked", "real", "false-alarm"], Query()] = "",
) -> Response:
    """An empty filter is what a form sends for "any"."""
    asked = Asked(kind=kind or None, severity=severity or None, standing=Standing(standing) if standing else None)
    return page(
        request,
        "findings.html.j2",
        "Findings",
        page=desk_of(request).store.views.findings(asked, before),
        asked=asked,
        kinds={name: one for name, (one, _) in KINDS.items()},
        severities=SEVERITIES,
        standings=STANDINGS,
    )


@router.get("/findings/{fingerprint}")
def finding(request: Request, fingerprint: str, _person: Viewer) -> Response:
    store, line = desk_of(request).store, _known(request, fingerprint)
    behind = store.feedback.behind(fingerprint)
    return page(
        request,
        "finding.html.j2",
        "Finding",
        line=line,
        mark=store.feedback.marks([fingerprint]).get(fingerprint),
        behind=behind,
        moved=store.feedback.applied([each.key for each in behind]),
        standings=STANDINGS,
        memories=recalled(store, line.finding.memories),
        known=recalled(store, line.finding.known),
    )


@router.post("/findings/{fingerprint}/mark")
def mark(
    request: Request,
    fingerprint: str,
    person: Reviewer,
    verdict: Annotated[Literal["real", "false-alarm", "none"], Form()],
) -> Response:
    desk = desk_of(request)
    _known(request, fingerprint)
    said = None if verdict == "none" else verdict
    Listener(desk.store, desk.settings).mark(fingerprint, said, person.name)
    return back(f"/findings/{fingerprint}", "unmarked" if said is None else "marked")


def _known(request: Request, fingerprint: str) -> FindingLine:
    line = desk_of(request).store.views.finding(fingerprint)
    if line is None:
        raise Refused(404, "There is no such finding.", "Findings are listed at /findings.")
    return line
