"""The service, put together: `create_app(site, store)` is what uvicorn runs."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import datetime

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from whet import __version__
from whet.bootstrap.feedback import Listener
from whet.bootstrap.remembering import opened_memory
from whet.bootstrap.site import Site
from whet.core.records import now
from whet.service import live, login, metrics, pages, problems
from whet.service.access import Locked
from whet.service.bodies import Bounded
from whet.service.desk import Desk
from whet.service.headers import Headed, Named
from whet.service.identifying import Identifying
from whet.service.metrics import Meters
from whet.service.quick import Quick
from whet.service.rest import REST, predict
from whet.service.watched import Watched
from whet.store.sql_store import SqlStore


def create_app(site: Site, store: SqlStore, clock: Callable[[], datetime] = now, host: str | None = None) -> FastAPI:
    """Over an open store, which stays the caller's. `host`: where it listens, if not where settings say."""
    desk = Desk(site, store, clock)
    app = FastAPI(
        title="Whet",
        version=__version__,
        summary="A test fleet that learns.",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        lifespan=_opened,
    )
    app.state.desk = desk.ready()
    app.state.identifying = Identifying(desk)
    app.state.meters = Meters()
    problems.install(app)
    app.get("/healthz", include_in_schema=False)(healthy)
    for part in (login.router, metrics.router, *REST, live.router, pages.router):
        app.include_router(part)
    _guard(app, desk, host or site.settings.service.host)
    return app


@asynccontextmanager
async def _opened(app: FastAPI) -> AsyncIterator[None]:
    desk: Desk = app.state.desk
    await run_in_threadpool(Listener(desk.store, desk.settings).catch_up)  # what was said when somebody was killed
    memory = opened_memory(desk.site, desk.store)
    with nullcontext() if memory is None else memory.reembedding():
        yield
    await run_in_threadpool(desk.close)
    for limit in (desk.requests, desk.attempts):
        await limit.close()


def healthy() -> dict[str, str]:
    return {"status": "ok", "version": __version__}


def _guard(app: FastAPI, desk: Desk, host: str) -> None:
    """The last one added is the first one asked."""
    app.add_middleware(Quick, method="POST", path="/predict", answered=predict.predicted)
    app.add_middleware(Locked, desk=desk, identifying=app.state.identifying)
    app.add_middleware(Bounded)
    app.add_middleware(Named, names=(host, *desk.settings.service.allowed_hosts))
    app.add_middleware(Headed)
    app.add_middleware(Watched, meters=app.state.meters)
