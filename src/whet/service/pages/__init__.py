"""The dashboard: pages made on the server, for people. They work without JavaScript; with it they are live."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

from whet.service.pages import (
    audit,
    decisions,
    experiments,
    findings,
    learning,
    memory,
    models,
    outside,
    overview,
    resources,
    reward_rules,
    runs,
)


@asynccontextmanager
async def _drawn(app: FastAPI) -> AsyncIterator[None]:
    """Who is not known yet, and who is refused, see pages of the same kind."""
    app.state.login_page = outside.login_page
    app.state.problem_page = outside.problem_page
    yield


router = APIRouter(include_in_schema=False, lifespan=_drawn)
for _part in (
    outside,
    overview,
    runs,
    findings,
    decisions,
    learning,
    models,
    experiments,
    reward_rules,
    memory,
    resources,
    audit,
):
    router.include_router(_part.router)
