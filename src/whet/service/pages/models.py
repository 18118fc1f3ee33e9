"""Trained policies: versions, traffic, evidence; and what an operator can do to them."""

from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from whet.bootstrap.learning import plan
from whet.core.candidates import Candidate, Stage
from whet.core.feedback import PagedStore
from whet.improvement.rollout import people
from whet.service.desk import desk_of
from whet.service.pages.asking import Before, Operator, Viewer
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused

router = APIRouter()
Deed = Literal["promote", "rollback", "pause", "resume"]
_SAID = {"promote": "promoted", "rollback": "rolled-back", "pause": "paused", "resume": "resumed"}
_PROMOTABLE = (Stage.TRAINED, Stage.PROVEN, Stage.CANARY, Stage.RETIRED)
_DECIDING = (Stage.CANARY, Stage.PRODUCTION)


@router.get("/models")
def models(request: Request, _person: Viewer, before: Before = None) -> Response:
    store = desk_of(request).store
    found = store.views.candidates(before)
    return page(request, "models.html.j2", "Models", page=found, corrected=corrected(store, found.items))


@router.get("/models/{number}")
def model(request: Request, number: int, _person: Viewer) -> Response:
    found = _known(request, number)
    outdated = corrected(desk_of(request).store, [found]).get(number)
    return page(request, "model.html.j2", f"Model {number}", c=found, deeds=deeds(found), corrected=outdated)


@router.get("/models/{number}/{deed}")
def confirm(request: Request, number: int, deed: Deed, _person: Operator) -> Response:
    """What would happen, before it does: asked on a page, so that it also works without a script."""
    desk, found = desk_of(request), _known(request, number)
    skipped: tuple[str, ...] = ()
    if deed == "promote":
        skipped = people.outlook(desk.store, number, plan(desk.settings), desk.clock()).skipped
    return page(request, "confirm_model.html.j2", f"{deed.title()} model {number}", c=found, deed=deed, skipped=skipped)


@router.post("/models/{number}/{deed}")
def steer(
    request: Request,
    number: int,
    deed: Deed,
    person: Operator,
    why: Annotated[str, Form(max_length=300)] = "no reason given",
) -> Response:
    desk = desk_of(request)
    _known(request, number)
    store, now, by, because = desk.store, desk.clock(), person.name, why.strip() or "no reason given"
    match deed:
        case "promote":
            people.promote(store, number, by, plan(desk.settings), now)
        case "rollback":
            people.rollback(store, number, by, because, now)
        case "pause":
            people.pause(store, number, by, because, now)
        case "resume":
            people.resume(store, number, by, because, now)
    return back(f"/models/{number}", _SAID[deed])


def corrected(store: PagedStore, candidates: Iterable[Candidate]) -> dict[int, int]:
    """By number, of those that decide or may yet: how many rewards they were trained with people corrected since."""
    open_ones = (each for each in candidates if each.stage in (*_PROMOTABLE, *_DECIDING))
    found = {each.number: store.feedback.corrected(each.agent, each.lineage.batch, each.made_at) for each in open_ones}
    return {number: count for number, count in found.items() if count}


def deeds(candidate: Candidate) -> list[Deed]:
    """What makes sense for it where it stands."""
    found: list[Deed] = ["promote"] if candidate.stage in _PROMOTABLE else []
    if candidate.stage in _DECIDING:
        found += ["resume" if candidate.paused else "pause", "rollback"]
    return found


def _known(request: Request, number: int) -> Candidate:
    found = None if not 0 <= number < 2**62 else desk_of(request).store.candidates.get(number)
    if found is None:
        raise Refused(404, f"There is no model {number}.", "Models are listed at /models.")
    return found
