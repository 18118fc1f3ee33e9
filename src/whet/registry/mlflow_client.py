"""MLflow, started only when it is used: its import takes seconds. It is asked to be quiet and not to tell others."""

import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sqlalchemy.exc import SQLAlchemyError

from whet.core.errors import MissingTool, WhetError
from whet.core.text import printable
from whet.registry.private import PrivateFolder, roomy
from whet.registry.trees import copied

if TYPE_CHECKING:
    from mlflow import MlflowClient

# Only while we call it: the user's own tests may use MLflow too, and inherit our environment.
_SURROUNDINGS: Mapping[str, str] = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",  # what goes wrong is raised, and said once
    "MLFLOW_SQLALCHEMYSTORE_POOLCLASS": "NullPool",  # no connection stays open
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # 7, as usual, are four minutes of silence when the server is down
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}
_ALONE = threading.RLock()  # the environment and the warnings' filters are everybody's
_DATABASE_BYTES = 16 << 20
_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")


def require_mlflow() -> None:
    if find_spec("mlflow") is None:
        raise MissingTool(
            "Keeping policies in MLflow needs mlflow-skinny, which is not installed.", "Run pip install 'whet[mlflow]'."
        )


@contextmanager
def calling(where: str) -> Iterator[None]:
    """Around every use of MLflow; what goes wrong there becomes a sentence."""
    with _ALONE, _surroundings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow about its own dependencies
        from mlflow.exceptions import MlflowException

        try:
            yield
        except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
            _refuse(where, error)


def connected(uri: str) -> "MlflowClient":
    require_mlflow()
    with calling(uri):
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=uri, registry_uri=uri)


def database(path: Path) -> str:
    """The address of MLflow's own database there. It is made elsewhere and put in its place when it is whole: MLflow
    cannot go on with one that it was killed in the middle of making."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with PrivateFolder(roomy(_DATABASE_BYTES, path.parent)) as made, PrivateFolder(path.parent) as near:
            client = connected(f"sqlite:///{made.path / path.name}")
            with calling(str(path)):
                client.search_experiments(max_results=1)
                client.search_registered_models(max_results=1)
                copied(made.path, path.name, near.path, _DATABASE_BYTES)
                with suppress(FileExistsError):  # another process was first
                    os.link(near.path / path.name, path)
    return f"sqlite:///{path.resolve()}"


def plain_name(text: str) -> str:
    """What MLflow takes as the name of a model, a metric or a parameter."""
    return _PLAIN.sub("_", text).strip(".")[:100] or "_"


@contextmanager
def _surroundings() -> Iterator[None]:
    ours = {name: value for name, value in _SURROUNDINGS.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)


def _refuse(where: str, error: Exception) -> NoReturn:
    raise WhetError(
        f"MLflow at {where} could not do it: {_said(error)}.",
        "What was kept before is as it was. See that it can be reached and has room, and try again.",
    ) from error


def _said(error: Exception) -> str:
    """Without the statements and the advertising that SQLAlchemy adds."""
    return printable(str(error).partition("\n[SQL")[0], 400).rstrip(".")
