"""A dashboard to click through: days on recorded outcomes and one real visit, served by a real server."""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from examples.dashboard_life import live, settled, visit

from whet.agents.catalogue import AGENTS
from whet.bootstrap.site import Site
from whet.core.people import Role
from whet.core.records import Finding, Review, new_id, now
from whet.service.app import create_app
from whet.service.keys import mint, service_secret
from whet.store.sql_store import SqlStore

SHOP = Path(__file__).parents[2] / "examples" / "shop"
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>\'"{{7*7}}\u202e'


class Served(NamedTuple):
    site: Site
    store: SqlStore
    address: str

    def key(self, role: Role) -> str:
        made = mint(service_secret(self.site), role.value, role)
        self.store.people.add(made.kept, "the test", now())
        return made.text


def furnished(folder: Path) -> Site:
    """A project with a past: four days of runs, a candidate that decides some of them, and a real visit."""
    shutil.copytree(SHOP, folder, ignore=_the_rest)
    site = settled(folder, experiences=15)
    with site.store() as store:
        live(site, store, now(), days=4, runs_a_day=4)
    visit(site, minutes=0.5)
    with site.store() as store:
        store.runs.note_findings(store.runs.recent(1)[0].id, [hostile()])
        doubt(store)
    return site


def _the_rest(_folder: str, names: list[str]) -> list[str]:
    """Of the shop's tests only some that fail: a visit runs them several times."""
    return [name for name in names if name.startswith("test_") and name not in ("test_shipping.py", "test_prices.py")]


def hostile() -> Finding:
    return Finding(
        kind="failing-test",
        title=f"hostile {HOSTILE}",
        severity="high",
        evidence=HOSTILE * 3,
        reproduce=HOSTILE,
        test=HOSTILE,
        file=HOSTILE,
        line=3,
    )


def doubt(store: SqlStore) -> str:
    """A decision of the past once more, as one that waits for a person; its id."""
    told = store.views.decisions(agent="test-executor").items[0].decision
    seen = store.views.decision(told.id)
    assert seen is not None
    state = AGENTS[told.agent].state_type.model_validate(seen.state)
    changes = {"id": new_id(), "review": Review.PENDING, "proposed": "run_all_tests", "at": now()}
    store.decisions.record(told.model_copy(update=changes), state)
    return str(changes["id"])


@contextmanager
def served(site: Site) -> Iterator[Served]:
    with site.store() as store, socket.create_server(("127.0.0.1", 0)) as taken:
        app = create_app(site, store)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        try:
            yield Served(site, store, f"http://127.0.0.1:{taken.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join(20)
