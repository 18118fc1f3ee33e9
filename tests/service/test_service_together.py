"""Two processes on one PostgreSQL and one Redis behind a proxy: to whoever asks they are one service."""

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx
import pytest
from pydantic import SecretStr
from tests.postgres import PostgresServer
from tests.queues.servers import RedisServer
from tests.service.proxying import Proxy, proxied
from tests.service.serving import Serving

from whet.bootstrap.site import Site
from whet.client import Client, ServiceError
from whet.core.people import Role
from whet.core.ports import Scope
from whet.core.records import now
from whet.service.keys import mint, service_secret
from whet.service.rest.samples import OUTCOME, STATE
from whet.settings.model import Settings
from whet.store import open_store
from whet.tools.project import Project

AUDIT_KEY = "of both of them, and of nobody else"
ATTEMPTS = 3
WRONG = {"Authorization": "Bearer whet_aaaaaaaaaaaa_" + "a" * 43}
AT_MOST_SECONDS = 30.0
MANY = 1_000_000


@dataclass
class Pair:
    one: Serving
    other: Serving
    proxy: Proxy
    key: str
    database: str


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer.running() as server:
        yield server


@pytest.fixture(scope="module")
def pair(postgres: PostgresServer, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """As on two machines: the project is the same, its folder is not."""
    database = postgres.url(postgres.create(template="whet_migrated"))
    settings = (
        f'[tool.whet]\ndatabase_url = "{database}"\nproject = "shop"\n[tool.whet.learn]\nqueue = "{redis.url()}"\n'
        f"[tool.whet.service]\nattempts_per_minute = {ATTEMPTS}\n"
    )
    folders = [tmp_path_factory.mktemp(machine) / "shop" for machine in ("one", "other")]
    for folder in folders:
        folder.mkdir()
        (folder / "pyproject.toml").write_text(settings)
    key = first_key(folders[0], database)
    with ThreadPoolExecutor(2) as both:
        started = list(both.map(lambda folder: Serving(folder, WHET_AUDIT_KEY=AUDIT_KEY), folders))
    try:
        with proxied([each.port for each in started]) as proxy:
            made = Pair(started[0], started[1], proxy, key, database)
            yield made
            started.append(made.one)
    finally:
        for each in started:
            each.kill()


def first_key(folder: Path, database: str) -> str:
    site = Site(Project(folder), Settings(audit_key=SecretStr(AUDIT_KEY), database_url=database))
    with site.store() as store:
        minted = mint(service_secret(site), "ada", Role.ADMIN)
        store.people.add(minted.kept, "tests", now())
    return minted.text


def bearer(pair: Pair) -> dict[str, str]:
    return {"Authorization": f"Bearer {pair.key}"}


@contextmanager
def viewer(address: str, key: dict[str, str]) -> Iterator[Iterator[int]]:
    """Somebody who looks at a page: the heads that its process tells of, as they come."""
    with httpx.stream("GET", f"{address}/live", headers=key, timeout=AT_MOST_SECONDS) as answer:
        assert answer.status_code == 200
        yield (int(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))


def test_what_happens_through_one_is_seen_live_at_both(pair: Pair) -> None:
    with ExitStack() as stack, open_store(pair.database, AUDIT_KEY.encode()) as store:
        addresses = (pair.one.address, pair.other.address, pair.proxy.address)
        viewers = [stack.enter_context(viewer(address, bearer(pair))) for address in addresses]
        for through in (pair.one, pair.other):
            with Client(through.address, pair.key) as client:
                client.begin_run(budget_seconds=60.0)
            head = store.views.head()
            assert [next(told for told in each if told >= head) for each in viewers] == [head] * 3


def test_who_came_in_at_one_is_in_at_the_other_with_the_same_forms(pair: Pair) -> None:
    with Client(pair.one.address, pair.key) as client:
        run = client.begin_run(budget_seconds=60.0)
    here, there = (httpx.Client(base_url=each.address, timeout=AT_MOST_SECONDS) for each in (pair.one, pair.other))
    with here, there:
        assert here.post("/login", data={"key": pair.key}).status_code == 303
        there.cookies = here.cookies
        page = there.get(f"/runs/{run}")
        assert page.status_code == 200
        found = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert found is not None
        assert here.post(f"/runs/{run}/rating", data={"csrf": found[1], "stars": "5"}).status_code == 303
        assert here.post(f"/runs/{run}/rating", data={"csrf": "another", "stars": "5"}).status_code == 403


def test_a_training_is_one_and_seen_and_ended_from_either(pair: Pair) -> None:
    with Client(pair.one.address, pair.key) as here, Client(pair.other.address, pair.key) as there:
        here.start_training("train", agent="test-executor", steps=10**7)
        seen = there.training()
        assert (seen.under_way, seen.last) == (True, here.training().last)
        refused = httpx.post(
            f"{pair.other.address}/api/v1/training/start", headers=bearer(pair), json={"what": "learn"}
        )
        assert refused.status_code == 409
        assert there.stop_training() is True
        told = here.training()
        assert told.last is not None
        assert (told.under_way, told.last.stopped) == (False, True)


class Writing:
    """Programs that begin runs, decide and learn all the time, and note what they were promised."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._enough = threading.Event()
        self.runs: list[str] = []
        self.decisions: list[str] = []
        self.lessons: list[str] = []

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._write) for _ in range(3)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join()

    def more(self, number: int) -> None:
        wanted, until = len(self.lessons) + number, time.monotonic() + AT_MOST_SECONDS
        while len(self.lessons) < wanted:
            assert time.monotonic() < until, "nobody answers"
            time.sleep(0.01)

    def _write(self) -> None:
        while not self._enough.wait(0.02):
            # Connections of its own each time: the proxy sends them to either in turn. Whoever asked the one that was
            # killed was promised nothing, and asks again.
            with suppress(ServiceError), Client(self._pair.proxy.address, self._pair.key) as client:
                self._written(client)

    def _written(self, client: Client) -> None:
        run = client.begin_run(budget_seconds=60.0)
        self.runs.append(run)
        decision = client.predict("test-executor", STATE, run=run, keep=True)
        self.decisions.append(decision.decision)
        client.tell(decision, OUTCOME)
        self.lessons.append(decision.decision)


def test_what_was_acknowledged_outlives_a_kill_and_the_other_goes_on(pair: Pair) -> None:
    with Writing(pair) as writing:
        writing.more(15)
        pair.one.kill()
        writing.more(15)
        pair.one = Serving(pair.one.folder, WHET_AUDIT_KEY=AUDIT_KEY)
        pair.proxy.ports[0] = pair.one.port
        assert httpx.get(f"{pair.one.address}/model/info", headers=bearer(pair), timeout=30.0).status_code == 200
        writing.more(15)
    with open_store(pair.database, AUDIT_KEY.encode()) as store:
        assert store.audit.verify().problem is None
        lived, everything = store.experiences.recent(limit=MANY), store.decisions.recent(limit=MANY)
        assert {*writing.runs} <= {each.id for each in store.runs.recent(MANY)}
        assert {*writing.decisions} <= {each.id for each in everything}
        assert {*writing.lessons} <= {each.decision.id for each in lived}
        taught = store.tables.rows(Scope.INDIVIDUAL, "test-executor").values()
        assert sum(entry.visits for entry in taught) == 2 * len(lived)  # each once: the exact state, the abstract one
    with Client(pair.one.address, pair.key) as client:  # what happened while it was away
        assert client.decision(writing.lessons[20]).experience is not None


def test_wrong_keys_are_counted_together(pair: Pair) -> None:
    """Last: this address is refused for a while."""
    places = [pair.one.address, pair.other.address] * 2
    told = [httpx.get(f"{place}/model/info", headers=WRONG).status_code for place in places]
    assert told == [401] * ATTEMPTS + [429]
    someone_else = WRONG | {"X-Forwarded-For": "203.0.113.7"}  # as the proxy of this machine tells
    assert httpx.get(f"{pair.one.address}/model/info", headers=someone_else).status_code == 401
