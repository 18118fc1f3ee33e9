"""Runs, and one of them: what it decided, what it found, how useful it was."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from whet.bootstrap.feedback import Listener
from whet.core.views import RunLine
from whet.service.desk import desk_of
from whet.service.pages.asking import Before, Reviewer, Viewer
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused

router = APIRouter()


@router.get("/runs")
def runs(request: Request, _person: Viewer, before: Before = None) -> Response:
    shown = desk_of(request).store.views.runs(before)
    largest = max((abs(line.reward) for line in shown.items if line.reward is not None), default=0.0)
    return page(request, "runs.html.j2", "Runs", page=shown, largest=largest)


@router.get("/runs/{run_id}")
def run(request: Request, run_id: str, _person: Viewer, before: Before = None) -> Response:
    store, line = desk_of(request).store, _known(request, run_id)
    return page(
        request,
        "run.html.j2",
        f"Run {run_id[:8]}",
        line=line,
        rating=store.feedback.rating(run_id),
        findings=store.views.found_in(run_id),
        page=store.views.decisions(run_id=run_id, before=before),
    )


@router.post("/runs/{run_id}/rating")
def rate(request: Request, run_id: str, person: Reviewer, stars: Annotated[int, Form(ge=1, le=5)]) -> Response:
    desk = desk_of(request)
    _known(request, run_id)
    Listener(desk.store, desk.settings).rate(run_id, stars, person.name)
    return back(f"/runs/{run_id}", "rated")


def _known(request: Request, run_id: str) -> RunLine:
    line = desk_of(request).store.views.run(run_id)
    if line is None:
        raise Refused(404, f"There is no run {run_id[:80]!r}.", "Runs are listed at /runs.")
    return line
