"""A short way for what is asked a thousand times a second.

Finding a route and what it depends on takes longer than deciding. The route stays declared where all others are, which
is where its description comes from.
"""

from collections.abc import Awaitable, Callable

from fastapi import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from whet.service.problems import answer, problem_of

Answer = Callable[[Request], Awaitable[Response]]


class Quick:
    def __init__(self, app: ASGIApp, method: str, path: str, answered: Answer) -> None:
        self.app, self.method, self.path, self.answered = app, method, path, answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path or scope["method"] != self.method:
            await self.app(scope, receive, send)
            return
        scope["route"] = self  # for whoever counts
        request = Request(scope, receive, send)
        response = await self._answered(request)
        await response(scope, receive, send)

    async def _answered(self, request: Request) -> Response:
        try:
            return await self.answered(request)
        except Exception as error:
            problem = problem_of(error)
            if problem.status == 500:
                raise
            return answer(request, problem, getattr(error, "headers", None))
