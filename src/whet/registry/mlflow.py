"""A registry in MLflow, for those who look at models there. What it hands out is checked by us, as everywhere."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from whet.core.errors import RefusedInput
from whet.core.registries import ALIASES, Alias, Facts, Kept
from whet.registry.manifest import require_agent, require_alias, require_digest
from whet.registry.mlflow_artefact import VersionSource
from whet.registry.mlflow_client import calling, connected, database
from whet.registry.mlflow_versions import DIGEST, Versions
from whet.registry.plain import not_kept, require_agent_of
from whet.registry.private import PrivateFolder, roomy
from whet.registry.sealing import Opener, seal, signed_manifest
from whet.registry.signing import require_key
from whet.registry.trees import size_of


class MlflowRegistry:
    """Implements `core.registries.Registry`. `address`: of a server; None for a database below `state_dir`."""

    def __init__(self, address: str | None, state_dir: Path, key: bytes, project: str) -> None:
        self._key, self._spare = require_key(key), state_dir / "registry" / "opened"
        self._where = address or str(state_dir / "mlflow.db")
        # A server knows where its files go; for the database we say it.
        files = (state_dir / "mlflow-artefacts").resolve().as_uri() if address is None else None
        self._uri = address or database(state_dir / "mlflow.db")
        self._client = connected(self._uri)
        self._versions = Versions(self._client, project, files)
        self._opener = Opener(key, self._spare)

    def keep(self, files: Path, facts: Facts) -> str:
        with calling(self._where), PrivateFolder(roomy(size_of(files), self._spare)) as place:
            digest = seal(files, facts, self._key, place.path / "artefact")
            if not self._intact(digest):
                self._versions.add(place.path / "artefact", digest, facts)
                self._opener.check(self._source(digest), digest)  # what is lost on the way is noticed now
        return digest

    def open(self, digest: str) -> Kept:
        with calling(self._where):
            return self._opener.open(self._source(digest), digest)

    def name(self, agent: str, alias: Alias, digest: str | None) -> None:
        model = self._versions.model(require_agent(agent))
        require_alias(alias)
        with calling(self._where):
            if digest is not None:
                owner = signed_manifest(self._source(digest), digest, self._key).agent
                require_agent_of(agent, digest, owner)
                version = self._versions.of(digest)[0].version
                self._client.set_registered_model_alias(model, alias, str(version))
            elif alias in self._versions.aliases(agent):
                self._client.delete_registered_model_alias(model, alias)

    def named(self, agent: str) -> Mapping[Alias, str]:
        require_agent(agent)
        with calling(self._where):
            found = self._versions.aliases(agent)
            return {alias: self._digest_at(agent, str(found[alias])) for alias in ALIASES if alias in found}

    def digests(self) -> list[str]:
        with calling(self._where):
            return sorted({each.tags[DIGEST] for each in self._versions.all() if DIGEST in each.tags})

    def close(self) -> None:
        """Let go of the folders that were handed out."""
        self._opener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _source(self, digest: str) -> VersionSource:
        found = self._versions.of(require_digest(digest))
        if not found:
            raise not_kept(digest, self._where)
        return VersionSource(found[0], self._uri, self._spare)

    def _intact(self, digest: str) -> bool:
        with suppress(RefusedInput):
            self._opener.check(self._source(digest), digest)
            return True
        return False

    def _digest_at(self, agent: str, version: str) -> str:
        model = self._versions.model(agent)
        digest: str = self._client.get_model_version(model, version).tags.get(DIGEST, "")
        if not digest:
            raise RefusedInput(
                f"Version {version} of {model} in MLflow was not kept by Whet.", "Point the alias to one that was."
            )
        return require_digest(digest)
