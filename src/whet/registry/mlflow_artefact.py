"""One artefact in MLflow: files of a run, which its version points to. The server is asked, never believed."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.text import printable
from whet.registry.private import roomy
from whet.registry.trees import MOST_FILES, MOST_PARTS, Entry, Unfit, bounded, require_paths

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

_NOT_GIVEN = ("INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", 400, 404)


class VersionSource:
    def __init__(self, version: "ModelVersion", uri: str, spare: Path) -> None:
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        self._files, self._spare = get_artifact_repository(str(version.source), tracking_uri=uri), spare
        self._listed: dict[str, int] | None = None

    def document(self, name: str, most: int) -> bytes:
        self._require_size(name, most)
        with tempfile.TemporaryDirectory(dir=roomy(most, self._spare)) as folder:
            return bounded(self._downloaded(name, Path(folder)), most)

    def names(self) -> Sequence[str]:
        return sorted(self._sizes())

    def bring(self, entry: Entry, folder: Path) -> None:
        """Only what the manifest names, under the name it has there: a server could name a file outside."""
        self._require_size(entry.path, entry.size)
        scratch = folder.with_name(f"{folder.name}.new")
        scratch.mkdir()
        try:
            (folder / entry.path).parent.mkdir(parents=True, exist_ok=True)
            self._downloaded(entry.path, scratch).rename(folder / entry.path)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _downloaded(self, name: str, folder: Path) -> Path:
        """Where it lies below the folder is up to MLflow."""
        from mlflow.exceptions import MlflowException
        from requests import HTTPError

        try:
            return Path(self._files.download_artifacts(name, str(folder)))  # type: ignore[no-untyped-call]
        except (MlflowException, HTTPError) as error:
            if getattr(error, "error_code", None) in _NOT_GIVEN or _status(error) in _NOT_GIVEN:
                raise Unfit(name, f"MLflow does not give it out ({printable(str(error)[-160:])})") from error
            raise

    def _require_size(self, name: str, most: int) -> None:
        size = self._sizes().get(name)
        if size is None:
            raise Unfit(name, "it is missing")
        if size > most:
            raise Unfit(name, f"it has {size:,} bytes where at most {most:,} belong")

    def _sizes(self) -> dict[str, int]:
        if self._listed is None:
            listed: dict[str, int] = {}
            self._list("", listed, MOST_PARTS)
            require_paths(list(listed))
            self._listed = listed
        return self._listed

    def _list(self, folder: str, listed: dict[str, int], depth: int) -> None:
        for found in self._files.list_artifacts(folder or None):
            if not found.path.startswith(folder) or depth == 0 or len(listed) > MOST_FILES:
                raise Unfit(found.path, "it is more than belongs to an artefact")
            if found.is_dir:
                self._list(f"{found.path}/", listed, depth - 1)
            else:
                listed[found.path] = found.file_size or 0


def _status(error: Exception) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)
