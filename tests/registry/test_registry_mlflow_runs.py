"""What MLflow is told, when, and what happens when it or we go away in between."""

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.forked import forked
from tests.registry.conftest import KEY

from whet.checks.registry_samples import AGENT, contents, facts, policy
from whet.core.errors import RefusedInput, WhetError
from whet.registry.mlflow import MlflowRegistry
from whet.registry.mlflow_client import calling, connected, database


def _opened(state: Path, project: str) -> MlflowRegistry:
    return MlflowRegistry(None, state, KEY, project)


class _Dying:
    """A client whose process is killed instead of making one more call than `calls`."""

    def __init__(self, client: Any, calls: int) -> None:
        self._client, self._calls = client, calls

    def __getattr__(self, name: str) -> Any:
        self._calls -= 1
        if self._calls < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return getattr(self._client, name)


def _kept_with(calls: int, state: Path, files: Path) -> bool:
    """Whether a process got through with so many calls."""

    def keep() -> None:
        registry: Any = _opened(state, "crashing")
        registry._versions._client = _Dying(registry._versions._client, calls)
        registry.keep(files, facts())

    _, status = os.waitpid(forked(keep), 0)
    assert status in (0, signal.SIGKILL)
    return status == 0


def test_a_crash_between_any_two_calls_makes_nothing_twice(mlflow_state: Path, tmp_path: Path) -> None:
    files = policy(tmp_path, "one")
    calls = next(calls for calls in range(100) if _kept_with(calls, mlflow_state, files))
    assert calls >= 3
    with _opened(mlflow_state, "crashing") as registry:
        digest = registry.keep(files, facts())
        assert registry.digests() == [digest]
        assert contents(registry.open(digest).folder) == contents(files)
    client = connected(database(mlflow_state / "mlflow.db"))
    with calling("the database"):
        experiment = client.get_experiment_by_name(f"crashing.{AGENT}")
        assert experiment is not None
        runs = client.search_runs([experiment.experiment_id])
        versions = client.search_model_versions(f"name = 'crashing.{AGENT}'")
    assert [(run.info.status, run.info.run_id) for run in runs] == [("FINISHED", versions[0].run_id)]
    assert len(versions) == 1


def test_people_see_what_it_is_and_where_it_comes_from(mlflow_state: Path, tmp_path: Path) -> None:
    with _opened(mlflow_state, "seen") as registry:
        digest = registry.keep(policy(tmp_path, "one"), facts())
        registry.name(AGENT, "canary", digest)
    client = connected(database(mlflow_state / "mlflow.db"))
    with calling("the database"):
        version = client.get_model_version_by_alias(f"seen.{AGENT}", "canary")
        run = client.get_run(str(version.run_id))
        listed = {
            found.path
            for folder in (None, "artefact", "artefact/pictures")
            for found in client.list_artifacts(run.info.run_id, folder)
        }
    assert (version.tags["whet.digest"], run.data.tags["whet.digest"]) == (digest, digest)
    assert run.data.tags["whet.lineage.batch"] == "3"
    assert run.data.tags["whet.lineage.code_version"] == "1.0"
    assert run.data.params == {"seed": "7"}
    assert run.data.metrics == {"reward": -1.25, "a_b_": 1e300}
    assert {"config.json", "lineage.json", "artefact/signature", "artefact/pictures/curve.svg"} <= listed


def test_an_alias_that_somebody_pointed_elsewhere_is_refused(mlflow_state: Path, tmp_path: Path) -> None:
    with _opened(mlflow_state, "pointed") as registry:
        registry.name(AGENT, "production", registry.keep(policy(tmp_path, "one"), facts()))
        client = connected(database(mlflow_state / "mlflow.db"))
        with calling("the database"):
            client.create_model_version(f"pointed.{AGENT}", str(tmp_path))
            client.set_registered_model_alias(f"pointed.{AGENT}", "production", "2")
        with pytest.raises(RefusedInput, match=r"Version 2 of pointed\.test-executor in MLflow was not kept by Whet"):
            registry.named(AGENT)


def test_projects_on_one_server_do_not_meet(mlflow_server: tuple[str, Path], tmp_path: Path) -> None:
    address, _ = mlflow_server
    with (
        MlflowRegistry(address, tmp_path, KEY, "first") as first,
        MlflowRegistry(address, tmp_path, KEY, "second") as second,
    ):
        digest = first.keep(policy(tmp_path, "one"), facts())
        first.name(AGENT, "production", digest)
        assert (second.digests(), second.named(AGENT)) == ([], {})
        with pytest.raises(RefusedInput, match="There is no artefact"):
            second.open(digest)


def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    registry = MlflowRegistry(address, tmp_path, KEY, "shop")
    with pytest.raises(WhetError, match=f"MLflow at {address} could not do it: .*NewConnectionError"):
        registry.open("0" * 64)
