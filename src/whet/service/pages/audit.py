"""The audit trail: what happened, by whom, and whether it was tampered with."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from whet.service.desk import desk_of
from whet.service.pages.asking import Before, Operator, Viewer
from whet.service.pages.drawing import page

router = APIRouter()


@router.get("/audit")
def audit(request: Request, _person: Viewer, before: Before = None) -> Response:
    shown = desk_of(request).store.views.audit(before)
    return page(request, "audit.html.j2", "Audit", page=shown, report=None)


@router.post("/audit/verify")
def verify(request: Request, _person: Operator) -> Response:
    """Reads the whole trail, which takes a while when it is long: on request only."""
    store = desk_of(request).store
    return page(request, "audit.html.j2", "Audit", page=store.views.audit(), report=store.audit.verify())
