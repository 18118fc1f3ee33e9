"""A registry of folders: `artefacts/<digest>/`, and `aliases/<agent>.json`. It needs nothing but a disk."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self
from uuid import uuid4

from whet.core.errors import RefusedInput, WhetError
from whet.core.registries import ALIASES, Alias, Facts, Kept
from whet.registry.manifest import require_agent, require_alias, require_digest
from whet.registry.private import PrivateFolder
from whet.registry.sealing import Opener, seal, signed_manifest
from whet.registry.signing import require_key
from whet.registry.trees import Entry, Unfit, bounded, copied, names, synced, written

_LARGEST_ALIASES = 1_000


class FolderSource:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def document(self, name: str, most: int) -> bytes:
        return bounded(self._folder / name, most)

    def names(self) -> Sequence[str]:
        return names(self._folder)

    def bring(self, entry: Entry, folder: Path) -> None:
        copied(self._folder, entry.path, folder, entry.size)


class PlainRegistry:
    """Implements `core.registries.Registry`. Processes may share it."""

    def __init__(self, root: Path, key: bytes) -> None:
        self._root, self._key = root, require_key(key)
        self._artefacts, self._aliases = root / "artefacts", root / "aliases"
        self._opener = Opener(key, spare=root / "opened")

    def keep(self, files: Path, facts: Facts) -> str:
        with _writing(self._root, "The policy could not be kept"), PrivateFolder(self._root / "making") as place:
            made = place.path / "artefact"
            digest = seal(files, facts, self._key, made)
            self._put(made, digest)
        return digest

    def open(self, digest: str) -> Kept:
        return self._opener.open(self._source(digest), digest)

    def name(self, agent: str, alias: Alias, digest: str | None) -> None:
        path = self._aliases_of(agent)
        require_alias(alias)
        if digest is not None:
            require_agent_of(agent, digest, signed_manifest(self._source(digest), digest, self._key).agent)
        with _writing(self._root, f"The alias {alias!r} of {agent} could not be changed"), self._alone():
            pointing = {other: at for other, at in self.named(agent).items() if other != alias}
            _replace(path, pointing if digest is None else {**pointing, alias: digest})

    def named(self, agent: str) -> Mapping[Alias, str]:
        path = self._aliases_of(agent)
        if not os.path.lexists(path):
            return {}
        try:
            told = json.loads(bounded(path, _LARGEST_ALIASES))
            return {alias: require_digest(told[alias]) for alias in ALIASES if alias in told}
        except (Unfit, ValueError, TypeError, RecursionError, RefusedInput) as error:
            raise RefusedInput(
                f"{path} does not say which policies {agent} uses ({str(error)[:200]}).",
                "Remove it: the aliases are only shown, and are set again with the candidates' next step.",
            ) from error

    def digests(self) -> list[str]:
        found = []
        for path in self._artefacts.glob("*"):
            with suppress(RefusedInput):
                found.append(require_digest(path.name))
        return sorted(found)

    def close(self) -> None:
        """Let go of the folders that were handed out."""
        self._opener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _source(self, digest: str) -> FolderSource:
        folder = self._artefacts / require_digest(digest)
        if not os.path.lexists(folder):
            self._require_folders()
            raise not_kept(digest, str(self._root))
        return FolderSource(folder)

    def _require_folders(self) -> None:
        """Something else in the registry's place says nothing about what was kept there."""
        for place in (self._root, self._artefacts):
            if os.path.lexists(place) and not place.is_dir():
                raise WhetError(f"{place} is no folder, so nothing that was kept can be opened.", "Put it back.")

    def _put(self, made: Path, digest: str) -> None:
        """In one step. What has that name already is the same, or it is broken and makes way."""
        folder = self._artefacts / digest
        if os.path.lexists(folder):
            with suppress(RefusedInput):
                self._opener.check(FolderSource(folder), digest)
                return
            folder.rename(made.with_name("broken"))
        self._artefacts.mkdir(parents=True, exist_ok=True)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            self._opener.check(FolderSource(folder), digest)  # another process was first
        synced(self._artefacts)
        synced(self._root)

    def _aliases_of(self, agent: str) -> Path:
        return self._aliases / f"{require_agent(agent)}.json"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time changes aliases: each is read before it is written."""
        self._aliases.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._aliases, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            for left in self._aliases.glob(".*"):  # by one that was killed, or had no room
                left.unlink()
            yield
        finally:
            os.close(descriptor)


def require_agent_of(agent: str, digest: str, owner: str) -> None:
    if owner != agent:
        raise RefusedInput(f"The artefact {digest[:12]} is of {owner}, not of {agent}.", "Name one of its own.")


def not_kept(digest: str, where: str) -> RefusedInput:
    return RefusedInput(
        f"There is no artefact {digest[:12]} in {where}.",
        "If it was kept elsewhere, say so: [tool.whet.learn] registry. If not, let whet learn train another policy.",
    )


def _replace(path: Path, pointing: Mapping[Alias, str]) -> None:
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    written(draft, json.dumps(pointing, indent=1, sort_keys=True).encode())
    draft.replace(path)
    synced(path.parent)


@contextmanager
def _writing(root: Path, problem: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WhetError(
            f"{problem} in {root}: {error.strerror or error}.",
            "What was there before is as it was. Make room or make it writable, and try again.",
        ) from error
