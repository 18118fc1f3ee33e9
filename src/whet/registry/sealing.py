"""Making an artefact, and opening one: the same folder whichever registry carries it.

manifest.json   what it consists of      files/…      the policy
signature       of the manifest          pictures/…   curves
"""

import shutil
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from whet.core.errors import RefusedInput, WhetError
from whet.core.registries import Facts, Kept
from whet.registry.manifest import (
    FILES,
    LARGEST_MANIFEST,
    MANIFEST,
    PICTURES,
    SIGNATURE,
    Manifest,
    digest_of,
    manifest_bytes,
    read_manifest,
    require_pictures,
)
from whet.registry.private import PrivateFolder, roomy
from whet.registry.signing import LARGEST_SIGNATURE, refused, require_signature, signature_of
from whet.registry.trees import MOST_BYTES, Entry, Unfit, all_synced, copied, measured, names, written

_MOST_COPIES = 32


class Source(Protocol):
    """An artefact where others may have been at it."""

    def document(self, name: str, most: int) -> bytes:
        """Unfit when it is missing or larger."""

    def names(self) -> Sequence[str]:
        """Of all files in it, as they are."""

    def bring(self, entry: Entry, folder: Path) -> None:
        """Copy one file below the folder; whether it is the right one is looked at there."""


def seal(files: Path, facts: Facts, key: bytes, into: Path) -> str:
    """Copy everything into the new folder, signed and safe on the disk; the digest."""
    require_pictures(facts.pictures)
    manifest_bytes(facts, [])  # refused before anything is written
    try:
        entries = _copied(files.resolve(), into / FILES)
        for name, picture in facts.pictures.items():
            written(into / PICTURES / name, picture)
            entries.append(measured(into, f"{PICTURES}/{name}", len(picture)))
    except Unfit as unfit:
        raise RefusedInput(
            f"The policy in {files} was not kept: {unfit}.", "Keep a folder with the policy's own files alone."
        ) from unfit
    manifest = manifest_bytes(facts, entries)
    written(into / MANIFEST, manifest)
    written(into / SIGNATURE, signature_of(manifest, key))
    all_synced(into)
    return digest_of(manifest)


def signed_manifest(source: Source, digest: str, key: bytes) -> Manifest:
    """What the artefact should consist of. Nothing is read out of a manifest before its signature is checked."""
    try:
        data = source.document(MANIFEST, LARGEST_MANIFEST)
        require_signature(data, source.document(SIGNATURE, LARGEST_SIGNATURE), key)
        if digest_of(data) != digest:
            raise Unfit(MANIFEST, f"it is that of another artefact, {digest_of(data)[:12]}")
        return read_manifest(data)
    except Unfit as unfit:
        raise refused(digest, unfit) from unfit


class Opener:
    """Takes artefacts out of a registry into private folders, checks them there, and hands out those: between the
    checking and the loading nobody can change them. The copies of the last 32 artefacts are kept."""

    def __init__(self, key: bytes, spare: Path) -> None:
        self._key, self._spare = key, spare
        self._places: dict[Path, PrivateFolder] = {}
        self._copies: OrderedDict[str, Path] = OrderedDict()

    def open(self, source: Source, digest: str) -> Kept:
        manifest = signed_manifest(source, digest, self._key)
        try:
            copy = self._fresh(source, manifest)
            pictures = _pictures(copy, manifest)
            folder = self._remembered(digest, copy, manifest) / FILES
        except Unfit as unfit:
            raise refused(digest, unfit) from unfit
        except OSError as error:
            raise WhetError(
                f"The artefact {digest[:12]} could not be opened: {error}.",
                "It is still kept. See that the registry can be reached and temporary files have room, and try again.",
            ) from error
        facts = Facts(manifest.agent, manifest.kind, manifest.config, manifest.metrics, manifest.lineage, pictures)
        return Kept(digest, facts, folder)

    def check(self, source: Source, digest: str) -> None:
        """RefusedInput unless it could be opened."""
        try:
            shutil.rmtree(self._fresh(source, signed_manifest(source, digest, self._key)))
        except Unfit as unfit:
            raise refused(digest, unfit) from unfit

    def close(self) -> None:
        for place in self._places.values():
            place.close()
        self._places.clear()
        self._copies.clear()

    def _fresh(self, source: Source, manifest: Manifest) -> Path:
        _require_same_names(source.names(), manifest)
        copy = self._place(manifest.size).path / uuid4().hex
        (copy / FILES).mkdir(parents=True)
        try:
            for entry in manifest.files:
                source.bring(entry, copy)
            _require_intact(copy, manifest)
        except BaseException:
            shutil.rmtree(copy, ignore_errors=True)
            raise
        return copy

    def _place(self, size: int) -> PrivateFolder:
        parent = roomy(size, self._spare)
        if parent not in self._places:
            self._places[parent] = PrivateFolder(parent)
        return self._places[parent]

    def _remembered(self, digest: str, copy: Path, manifest: Manifest) -> Path:
        """The folder handed out before, if it is still right: whoever has it may go on reading it."""
        earlier = self._copies.pop(digest, copy)
        if earlier != copy:
            kept, gone = (earlier, copy) if _intact(earlier, manifest) else (copy, earlier)
            shutil.rmtree(gone, ignore_errors=True)
            copy = kept
        self._copies[digest] = copy
        while len(self._copies) > _MOST_COPIES:
            shutil.rmtree(self._copies.popitem(last=False)[1], ignore_errors=True)
        return copy


def _copied(files: Path, target: Path) -> list[Entry]:
    if not files.is_dir():
        raise Unfit(files.name, "there is no such folder")
    target.mkdir(parents=True)
    room, entries = MOST_BYTES, []
    for path in names(files):
        entry = copied(files, path, target, room)
        room -= entry.size
        entries.append(entry._replace(path=f"{FILES}/{path}"))
    if not entries:
        raise Unfit(files.name, "there are no files in it")
    return entries


def _require_same_names(found: Sequence[str], manifest: Manifest) -> None:
    wanted = {MANIFEST, SIGNATURE, *(each.path for each in manifest.files)}
    for name in sorted(wanted.symmetric_difference(found)):
        raise Unfit(name, "it is missing" if name in wanted else "it was added since the artefact was signed")


def _require_intact(copy: Path, manifest: Manifest) -> None:
    for entry in manifest.files:
        if measured(copy, entry.path, entry.size) != entry:
            raise Unfit(entry.path, "it was cut short or changed since it was signed")


def _intact(copy: Path, manifest: Manifest) -> bool:
    try:
        _require_intact(copy, manifest)
        return sorted(names(copy)) == sorted(each.path for each in manifest.files)
    except (Unfit, OSError):
        return False


def _pictures(copy: Path, manifest: Manifest) -> dict[str, bytes]:
    found = [each.path for each in manifest.files if each.path.startswith(f"{PICTURES}/")]
    return {path.removeprefix(f"{PICTURES}/"): (copy / path).read_bytes() for path in found}
