"""The registry that one line of settings asks for."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from whet.core.errors import WhetError
from whet.core.text import printable
from whet.registry.plain import PlainRegistry

if TYPE_CHECKING:
    from whet.registry.mlflow import MlflowRegistry


def opened(line: str, state_dir: Path, key: bytes, project: str) -> "PlainRegistry | MlflowRegistry":
    """`line`: "plain" (folders), "mlflow" (its database in `state_dir`) or the address of an MLflow server.
    `project`: what models are called by on a server that several projects use."""
    if line == "plain":
        return PlainRegistry(state_dir / "registry", key)
    address = None if line == "mlflow" else _address(line)
    from whet.registry.mlflow import MlflowRegistry

    return MlflowRegistry(address, state_dir, key, project)


def _address(line: str) -> str:
    try:
        parts = urlsplit(line)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise WhetError(
            f"{printable(repr(line), 200)} is no registry.",
            'Write registry = "plain", "mlflow", or the address of an MLflow server, as in "http://127.0.0.1:5000".',
        )
    if parts.username is not None or parts.password is not None:
        raise WhetError(
            f"The address of the MLflow server at {parts.hostname} has a password in it, which others would read.",
            "Leave it out, and set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD (or MLFLOW_TRACKING_TOKEN).",
        )
    return line.rstrip("/")
