"""MLflow for tests. One database and one server serve all, each test under a project's name of its own: MLflow takes a
third of a second of work for every further database."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from whet.checks.registry import Subject
from whet.registry.manifest import LARGEST_MANIFEST, digest_of
from whet.registry.mlflow_client import database
from whet.registry.opening import opened

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
_SERVING = Path(__file__).with_name("mlflow_serving.py")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    database(path)
    return path


@pytest.fixture(scope="session")
def mlflow_state(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Path:
    """A `.whet` that tests share."""
    folder = tmp_path_factory.mktemp("state") / ".whet"
    shutil.copytree(empty_database.parent, folder)
    return folder


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[tuple[str, Path]]:
    """Its address, and the folder of its files."""
    folder = tmp_path_factory.mktemp("mlflow-server")
    shutil.copy(empty_database, folder / "server.db")
    command = [sys.executable, str(_SERVING), f"sqlite:///{folder / 'server.db'}", str(folder / "files")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    assert process.stdout is not None
    begun, _, _ = select([process.stdout], [], [], 120)
    port = process.stdout.readline().decode().strip() if begun else None
    try:
        assert port, (folder / "log").read_text()
        yield f"http://127.0.0.1:{port}", folder / "files"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process.stdout.close()


def mlflow_subject(line: str, state: Path, files: Path, project: str) -> Subject:
    def folder(digest: str) -> Path:
        """The newest one."""
        manifests = [path for path in files.glob("**/artefact/manifest.json") if path.stat().st_size < LARGEST_MANIFEST]
        ours = [path.parent for path in manifests if digest_of(path.read_bytes()) == digest]
        return max(ours, key=lambda path: path.stat().st_ctime_ns)

    return Subject(lambda: opened(line, state, KEY, project), lambda: opened(line, state, OTHER_KEY, project), folder)
