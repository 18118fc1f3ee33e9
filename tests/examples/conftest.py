"""The example library in processes of its own: one as it should be, one with every fault."""

from collections.abc import Iterator
from typing import Any

import pytest
from examples.api.running import running
from tests.examples.library_client import Library


@pytest.fixture(scope="session")
def sound() -> Iterator[Library]:
    with running("none") as service:
        yield Library(service.url)


@pytest.fixture(scope="session")
def faulty() -> Iterator[Library]:
    with running("all", supervised=True) as service:
        yield Library(service.url)


@pytest.fixture(scope="session")
def document(sound: Library) -> Any:
    return sound.ask("GET", "/openapi.json").json
