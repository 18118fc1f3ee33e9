"""What the fleet remembers: looking for it, keeping it, forgetting it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from whet.bootstrap.remembering import FleetMemory, opened_memory
from whet.core.memories import Kind, Memory, Question, Wanted
from whet.service.desk import desk_of
from whet.service.pages.asking import Operator, Reviewer, Viewer
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused

router = APIRouter()
SHOWN = 25
_MOST_PAGES = 40  # older ones are found by looking for them


@router.get("/memory")
def memories(
    request: Request,
    _person: Viewer,
    text: Annotated[str, Query(alias="q", max_length=400)] = "",
    kind: Annotated[Literal["", "episodic", "semantic", "procedural"], Query()] = "",
    part: Annotated[int, Query(ge=0, le=_MOST_PAGES)] = 0,
) -> Response:
    memory = _opened(request)
    found: list[tuple[Memory, str]] = []
    if memory is not None:
        wanted = Wanted(project=memory.project, kinds=(Kind(kind),) if kind else ())
        found = _found(memory, wanted, text.strip(), part)
    more = not text.strip() and len(found) > SHOWN and part < _MOST_PAGES
    return page(
        request,
        "memory.html.j2",
        "Memory",
        enabled=memory is not None,
        text=text,
        kind=kind,
        part=part,
        more=more,
        found=found[:SHOWN],
    )


@router.get("/memory/{memory_id}/forget")
def confirm(request: Request, memory_id: str, _person: Operator) -> Response:
    return page(request, "confirm_forget.html.j2", "Forget a memory", memory=_known(request, memory_id))


@router.post("/memory/{memory_id}/forget")
def forget(request: Request, memory_id: str, person: Operator) -> Response:
    _known(request, memory_id)
    desk_of(request).store.memories.forget([memory_id], f"{person.name} asked for it")
    return back("/memory", "forgotten")


@router.post("/memory/{memory_id}/pin")
def pin(request: Request, memory_id: str, _person: Reviewer, pinned: Annotated[bool, Form()]) -> Response:
    _known(request, memory_id)
    desk_of(request).store.memories.pin(memory_id, pinned)
    return back("/memory", "pinned" if pinned else "unpinned")


def _found(memory: FleetMemory, wanted: Wanted, text: str, part: int) -> list[tuple[Memory, str]]:
    """With why each was found. Without words: the newest, one more than is shown."""
    if not text:
        return [(each, "") for each in memory.memories.newest(wanted, SHOWN + 1, part * SHOWN)]
    recalled = memory.recall.recall(Question(wanted=wanted, text=text), SHOWN)
    return [(each.memory, each.why) for each in recalled]


def _opened(request: Request) -> FleetMemory | None:
    """Once per process: a model of language takes a moment to load."""
    state = request.app.state
    if not hasattr(state, "fleet_memory"):
        desk = desk_of(request)
        state.fleet_memory = opened_memory(desk.site, desk.store)
    found: FleetMemory | None = state.fleet_memory
    return found


def _known(request: Request, memory_id: str) -> Memory:
    memory = _opened(request)
    found = desk_of(request).store.memories.get([memory_id[:100]])
    if memory is None or not found or found[0].project != memory.project:
        raise Refused(404, "There is no such memory.", "Memories are listed at /memory.")
    return found[0]
