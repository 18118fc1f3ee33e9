"""Every request is counted and leaves one line in the log, and nothing of what it carried."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whet.service.identifying import Known
from whet.service.logs import LOGGER
from whet.service.metrics import Meters

_NOWHERE = "none"
_LIVE = "/live"  # lasts as long as somebody looks, which says nothing about us


class Watched:
    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self.app, self.meters = app, meters
        self.logger = logging.getLogger(LOGGER)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            self._tell(scope, status, time.perf_counter() - begun)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route(scope)
        if route != _LIVE:
            self.meters.answered(scope["method"], route, status, seconds)
        if not self.logger.isEnabledFor(logging.INFO):
            return
        known: Known | None = scope.get("state", {}).get("known")
        facts = {
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "milliseconds": round(1000.0 * seconds, 2),
            "who": None if known is None else known.person.name,
            "key": None if known is None else known.person.key_id,
        }
        self.logger.info("request", extra=facts)


def _route(scope: Scope) -> str:
    """The pattern, not the path: there are few of them, whatever is asked for."""
    path: str = getattr(scope.get("route"), "path", _NOWHERE)
    return path
