"""What happened, newest first. A list comes in parts: send `before` back to get the next, older one."""

from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Request

from whet.client.wire import DecidedItem, DecisionItem, FindingItem, Part, RunItem
from whet.core.candidates import Candidate
from whet.core.people import Person, Role
from whet.core.ports import AuditEntry
from whet.core.views import Asked, DecisionLine, FindingLine, RunLine, Severity, Standing
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS

router = APIRouter(prefix="/api/v1", tags=["lists"], responses=PROBLEMS)
Viewer = Annotated[Person, Depends(require(Role.VIEWER))]
Before = Annotated[int | None, Query(ge=0, lt=2**63, description="only what is older than this number")]
Limit = Annotated[int, Query(ge=1, le=200)]
Id = Annotated[str, Path(min_length=1, max_length=200)]
Number = Annotated[int, Path(ge=0, lt=2**63)]
Name = Annotated[str | None, Query(min_length=1, max_length=200)]
T = TypeVar("T")


@router.get("/runs")
def runs(request: Request, _person: Viewer, before: Before = None, limit: Limit = 25) -> Part[RunItem]:
    found = desk_of(request).store.views.runs(before, limit)
    return Part(items=tuple(_run(line) for line in found.items), before=found.before)


@router.get("/runs/{run}")
def run(request: Request, _person: Viewer, run: Id) -> RunItem:
    found = desk_of(request).store.views.run(run)
    if found is None:
        raise Refused(404, f"There is no run {run!r}.", "List them: GET /api/v1/runs")
    return _run(found)


@router.get("/findings")
def findings(
    request: Request,
    _person: Viewer,
    kind: Name = None,
    severity: Severity | None = None,
    standing: Standing | None = None,
    before: Before = None,
    limit: Limit = 25,
) -> Part[FindingItem]:
    asked = Asked(kind=kind, severity=severity, standing=standing)
    found = desk_of(request).store.views.findings(asked, before, limit)
    return Part(items=tuple(_finding(line) for line in found.items), before=found.before)


@router.get("/findings/{fingerprint}")
def finding(request: Request, _person: Viewer, fingerprint: Id) -> FindingItem:
    found = desk_of(request).store.views.finding(fingerprint)
    if found is None:
        raise Refused(404, f"There is no finding {fingerprint!r}.", "List them: GET /api/v1/findings")
    return _finding(found)


@router.get("/decisions")
def decisions(
    request: Request, _person: Viewer, agent: Name = None, run: Name = None, before: Before = None, limit: Limit = 25
) -> Part[DecisionItem]:
    found = desk_of(request).store.views.decisions(agent, run, before, limit)
    return Part(items=tuple(_decision(line) for line in found.items), before=found.before)


@router.get("/decisions/waiting")
def waiting(request: Request, _person: Viewer, before: Before = None, limit: Limit = 25) -> Part[DecisionItem]:
    """What waits for a person: one per agent and state."""
    found = desk_of(request).store.views.waiting(before, limit)
    return Part(items=tuple(_decision(line) for line in found.items), before=found.before)


@router.get("/decisions/{decision}")
def decision(request: Request, _person: Viewer, decision: Id) -> DecidedItem:
    """One decision: what was seen, what was weighed, what came of it."""
    found = desk_of(request).store.views.decision(decision)
    if found is None:
        raise Refused(404, f"There is no decision {decision!r}.", "List them: GET /api/v1/decisions")
    return DecidedItem(decision=found.decision, state=found.state, experience=found.experience)


@router.get("/candidates")
def candidates(request: Request, _person: Viewer, before: Before = None, limit: Limit = 25) -> Part[Candidate]:
    found = desk_of(request).store.views.candidates(before, limit)
    return Part(items=tuple(found.items), before=found.before)


@router.get("/candidates/{number}")
def candidate(request: Request, _person: Viewer, number: Number) -> Candidate:
    return known_candidate(request, number)


@router.get("/audit")
def audit(request: Request, _person: Viewer, before: Before = None, limit: Limit = 50) -> Part[AuditEntry]:
    found = desk_of(request).store.views.audit(before, limit)
    return Part(items=tuple(found.items), before=found.before)


def known_candidate(request: Request, number: int) -> Candidate:
    found = desk_of(request).store.candidates.get(number)
    if found is None:
        raise Refused(404, f"There is no candidate {number}.", "List them: GET /api/v1/candidates")
    return found


def _run(line: RunLine) -> RunItem:
    return RunItem(**line._asdict())


def _finding(line: FindingLine) -> FindingItem:
    told = line._asdict()
    return FindingItem(**{name: told[name] for name in FindingItem.model_fields})


def _decision(line: DecisionLine) -> DecisionItem:
    return DecisionItem(**line._asdict())
