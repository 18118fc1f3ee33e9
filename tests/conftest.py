"""Real servers for tests. If one cannot start, tests that need it fail; they are never skipped."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres import PostgresServer

from whet.store import open_store

_MIGRATED = "whet_migrated"

# Who starts the tests in the background of a script has them ignore Ctrl-C, and so would every process they start and
# interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        server.start()
        server.create(name=_MIGRATED)
        open_store(server.url(_MIGRATED)).close()
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """A migrated database of the test's own."""
    name = postgres.create(template=_MIGRATED)
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store on each database in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / '.whet' / 'whet.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
