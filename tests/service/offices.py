"""A service over a project of its own, asked as programs and browsers ask."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from starlette.types import Message

from whet.bootstrap.site import Site, open_site
from whet.core.people import Role
from whet.core.records import now
from whet.service.app import create_app
from whet.service.keys import mint
from whet.store.sql_store import SqlStore, open_store

URL = "http://127.0.0.1"


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = now()

    def __call__(self) -> datetime:
        return self.at

    def pass_minutes(self, minutes: float) -> None:
        self.at += timedelta(minutes=minutes)


@dataclass
class Office:
    site: Site
    store: SqlStore
    app: FastAPI
    clock: Clock
    _keys: dict[Role, str] = field(default_factory=dict)

    def key(self, role: Role = Role.ADMIN) -> str:
        if role not in self._keys:
            self._keys[role] = self.new_key(role)
        return self._keys[role]

    def new_key(self, role: Role, name: str = "ada", expires_at: datetime | None = None) -> str:
        minted = mint(self.app.state.desk.secret, name, role, expires_at)
        self.store.people.add(minted.kept, "tests", self.clock())
        return minted.text

    def program(self, role: Role = Role.ADMIN) -> TestClient:
        """Sends its key with every request."""
        return TestClient(self.app, base_url=URL, headers=bearer(self.key(role)))

    def stranger(self) -> TestClient:
        return TestClient(self.app, base_url=URL, follow_redirects=False)

    def browser(self, role: Role = Role.ADMIN) -> TestClient:
        """Has come in at /login, and keeps the cookie."""
        browser = self.stranger()
        assert browser.post("/login", data={"key": self.key(role)}).status_code == 303
        return browser


@contextmanager
def office(folder: Path, service: str = "", settings: str = "") -> Iterator[Office]:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"[project]\nname = 'shop'\n[tool.whet]\n{settings}\n[tool.whet.service]\n{service}\n"
    (folder / "pyproject.toml").write_text(text)
    site = open_site(folder)
    if not site.visited:
        site.state_dir.mkdir(exist_ok=True)
        shutil.copy(_migrated(), site.state_dir / "whet.db")
    with over(site) as opened:
        yield opened


@contextmanager
def over(site: Site) -> Iterator[Office]:
    """The same in a project that is there already."""
    clock = Clock()
    with site.store() as store:
        app = create_app(site, store, clock)
        yield Office(site, store, app, clock)
        app.state.desk.close()


@cache
def _migrated() -> Path:
    """An empty store: making one takes longer than most tests."""
    file = Path(tempfile.mkdtemp()) / "whet.db"
    atexit.register(shutil.rmtree, file.parent)
    open_store(f"sqlite:///{file}").close()
    return file


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def routes_of(app: FastAPI) -> list[APIRoute]:
    """All of them, those of included routers too."""
    found, todo = [], list(app.routes)
    while todo:
        route = todo.pop()
        if isinstance(route, APIRoute):
            found.append(route)
        else:
            todo += route.original_router.routes  # type: ignore[attr-defined]  # an included router
    return found


async def raw(app: FastAPI, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> list[Message]:
    """A path as it is, without the tidying that clients do."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    told = {"host": "127.0.0.1", **(headers or {})}
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "headers": [(name.lower().encode(), value.encode()) for name, value in told.items()],
        "state": {},
    }
    await app(scope, receive, send)
    return sent
