"""Live pages: one look at the audit head a second per process, fanned out to its viewers as server-sent events.

Whatever happens in the store moves the head, whichever process did it, so that no message bus is needed.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from whet.core.errors import WhetError
from whet.core.people import Person, Role
from whet.service.access import require
from whet.service.desk import Desk, desk_of

router = APIRouter(include_in_schema=False)
LOOK_SECONDS: Final = 1.0
_STILL_THERE_SECONDS: Final = 15.0  # proxies end connections that say nothing for long
_ASK_AGAIN_SECONDS: Final = 5.0  # whether the viewer may still look
_RETRY_MILLISECONDS: Final = 2000


class Watch:
    """Looks while anybody watches. Every viewer has a box that holds the newest head alone: who is slow misses nothing
    but what is old."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._boxes: set[asyncio.Queue[int]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._head: int | None = None

    def join(self) -> asyncio.Queue[int]:
        """The box has the head that was seen last: it may have moved since the viewer's page was made."""
        box: asyncio.Queue[int] = asyncio.Queue(1)
        self._boxes.add(box)
        if self._looking is None or self._looking.done():
            self._head = None
            self._looking = asyncio.create_task(self._look())
        elif self._head is not None:
            box.put_nowait(self._head)
        return box

    def leave(self, box: asyncio.Queue[int]) -> None:
        self._boxes.discard(box)

    async def _look(self) -> None:
        while self._boxes:
            with suppress(WhetError):  # a store that is busy or away is looked at again
                head = await run_in_threadpool(self._desk.store.views.head)
                if head != self._head:
                    self._head = head
                    self._tell(head)
            await asyncio.sleep(LOOK_SECONDS)

    def _tell(self, head: int) -> None:
        for box in self._boxes:
            with suppress(asyncio.QueueEmpty):
                box.get_nowait()
            box.put_nowait(head)


@router.get("/live")
async def live(
    request: Request,
    _person: Annotated[Person, Depends(require(Role.VIEWER))],
    since: int = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """`since` is the head that the page shows; after a break the browser says itself how far it got."""
    seen = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else since
    watch = _watch(request)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_events(request, watch, seen), media_type="text/event-stream", headers=headers)


async def _events(request: Request, watch: Watch, seen: int) -> AsyncIterator[str]:
    box = watch.join()
    asked = said = time.monotonic()
    try:
        yield f"retry: {_RETRY_MILLISECONDS}\n\n"
        while not await request.is_disconnected():
            head = await _next(box)
            now = time.monotonic()
            if now - asked >= _ASK_AGAIN_SECONDS:
                asked = now
                if await request.app.state.identifying.who(request) is None:
                    yield "event: ended\ndata: {}\n\n"
                    return
            if head is not None and head > seen:
                seen, said = head, now
                yield f"id: {head}\nevent: changed\ndata: {head}\n\n"
            elif now - said >= _STILL_THERE_SECONDS:
                said = now
                yield ": still there\n\n"
    finally:
        watch.leave(box)


async def _next(box: asyncio.Queue[int]) -> int | None:
    try:
        return await asyncio.wait_for(box.get(), LOOK_SECONDS)
    except TimeoutError:
        return None


def _watch(request: Request) -> Watch:
    state = request.app.state
    if not hasattr(state, "watch"):
        state.watch = Watch(desk_of(request))
    found: Watch = state.watch
    return found
