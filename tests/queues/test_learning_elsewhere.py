"""One line of settings each: the same learning with PostgreSQL, Redis, Kafka and MLflow."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.improvement.learning_site import SETTINGS, START, live, made, ticked
from tests.queues.servers import KafkaBroker, RedisServer

from whet.bootstrap.candidates import registry


def learned(folder: Path, line: str) -> tuple[str, int, str]:
    """A project that lived and learned once: its candidate's stage, what it learned from, and its alias."""
    settings = SETTINGS.replace("min_hours = 0.0\n", f"min_hours = 0.0\n{line}\n")
    site = made(folder / "project", settings)
    with site.store() as store:
        live(site, store, runs=20, first=0)
    ticked(site, START + timedelta(hours=1))
    with site.store() as store:
        (candidate,) = store.candidates.all()
        kept = registry(site)
        assert kept.named(candidate.agent) == {"canary": candidate.artefact}
        assert kept.open(candidate.artefact).facts.lineage["batch"] == 1
        kept.close()
        return candidate.stage.value, candidate.lineage.experiences, candidate.lineage.first or ""


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, str]:
    return learned(tmp_path_factory.mktemp("embedded"), "")


def test_a_queue_in_redis(tmp_path: Path, embedded: tuple[str, int, str], redis_server: RedisServer) -> None:
    assert learned(tmp_path, f'queue = "{redis_server.url()}"') == embedded


def test_a_queue_in_kafka(tmp_path: Path, embedded: tuple[str, int, str], kafka_broker: KafkaBroker, name: str) -> None:
    assert learned(tmp_path, f'queue = "{kafka_broker.url()}/{name}"') == embedded


def test_a_registry_in_mlflow(tmp_path: Path, embedded: tuple[str, int, str]) -> None:
    assert learned(tmp_path, 'registry = "mlflow"') == embedded


def test_a_store_in_postgres(tmp_path: Path, embedded: tuple[str, int, str], postgres_url: str) -> None:
    line = f'[tool.whet]\nseed = 3\ndatabase_url = "{postgres_url}"\n'
    settings = SETTINGS.replace("[tool.whet]\nseed = 3\n", line)
    site = made(tmp_path / "project", settings)
    with site.store() as store:
        live(site, store, runs=20, first=0)
    ticked(site, START + timedelta(hours=1))
    with site.store() as store:
        (candidate,) = store.candidates.all()
    assert (candidate.stage.value, candidate.lineage.experiences, candidate.lineage.first) == embedded
