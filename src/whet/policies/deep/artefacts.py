"""What a learner saved, in a folder: `policy.json`, and beside it `save.<token>/tensors.safetensors` with the numbers.

Each save goes into a folder with a new name; `policy.json`, which names it, is replaced last, in one step. Whoever dies
before that leaves the earlier save as it was. Nothing here is ever unpickled: a pickle runs what it likes.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from pydantic import Field
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as bytes_of

from whet.core.errors import RefusedInput, WhetError
from whet.core.records import Record

NAME, TENSORS = "policy.json", "tensors.safetensors"
Array = npt.NDArray[Any]
_LARGEST_BYTES = 1 << 22  # of policy.json; 4,096 names of actions are 300 kB
_OURS = re.compile(r"save\.[0-9a-f]{16}|policy\.json\.[0-9a-f]{16}")
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Manifest(Record):
    """`progress` is what the learner needs to go on, beside its tensors; `sha256` is of the tensors' file."""

    version: Literal[1] = 1
    kind: str
    token: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    sha256: _Digest
    config: dict[str, Any]
    progress: dict[str, Any]
    versions: dict[str, str]


class Artefact(NamedTuple):
    folder: Path  # of this save; what else the learner put there is there
    manifest: Manifest
    tensors: dict[str, Array]

    @property
    def path(self) -> Path:
        return self.folder / TENSORS

    def require_shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        found = {name: tensor.shape for name, tensor in self.tensors.items()}
        for name in sorted(shapes.keys() | found.keys()):
            if found.get(name) != shapes.get(name):
                refuse(self.path, f"{name!r} has the shape {found.get(name)} where {shapes.get(name)} is needed")


def begin(folder: Path) -> Path:
    """An empty place for a new save; it counts for nothing until `finish`."""
    place = folder / f"save.{secrets.token_hex(8)}"
    try:
        place.mkdir(parents=True)
    except OSError as error:
        _refuse_saving(folder, error)
    return place


def finish(place: Path, kind: str, config: Record, progress: Mapping[str, Any], tensors: Mapping[str, Array]) -> None:
    folder, token = place.parent, place.name.partition(".")[2]
    # Of an array that is a part of a larger one, safetensors would write the wrong numbers.
    data = bytes_of({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    manifest = Manifest(
        kind=kind,
        token=token,
        sha256=hashlib.sha256(data).hexdigest(),
        config=config.model_dump(mode="json"),
        progress=dict(progress),
        versions=_versions(),
    )
    try:
        _write(place / TENSORS, data)
        _sync(place)
        draft = folder / f"{NAME}.{token}"
        _write(draft, _sealed(manifest))
        _sync(folder)
        draft.replace(folder / NAME)
        _sync(folder)
        _clear(folder, place.name)
    except OSError as error:
        _refuse_saving(folder, error)


def read(folder: Path, kind: str) -> Artefact:
    """Refused, by the name of the file, unless everything is as it was written and every number is finite."""
    manifest = _manifest(folder / NAME)
    if manifest.kind != kind:
        refuse(folder / NAME, f"it is a {manifest.kind} policy where a {kind} one is needed")
    place = folder / f"save.{manifest.token}"
    try:
        return Artefact(place, manifest, _tensors(place / TENSORS, manifest.sha256))
    except FileNotFoundError:
        if _manifest(folder / NAME).token != manifest.token:  # replaced by a newer save since it was read
            return read(folder, kind)
        refuse(place / TENSORS, "it is missing")


def refuse(path: Path, problem: str) -> NoReturn:
    raise RefusedInput(f"The policy was not opened: {path}: {problem}.", "Open another save, or train it again.")


def _refuse_saving(folder: Path, error: OSError) -> NoReturn:
    raise WhetError(
        f"The policy could not be saved in {folder}: {error}.",
        "An earlier save there is still good. Make room or choose another folder, and save again.",
    ) from error


def _manifest(path: Path) -> Manifest:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_BYTES + 1)
        if len(text) > _LARGEST_BYTES:
            raise ValueError("it is larger than any of ours")
        told = json.loads(text)
        if told["sha256"] != _digest(told["policy"]):
            raise ValueError("its checksum is another")
        return Manifest.model_validate(told["policy"])
    except FileNotFoundError as error:
        raise RefusedInput(f"There is no policy in {path.parent}: it has no {NAME}.", "Train one first.") from error
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        refuse(path, f"it is not what a learner saved ({str(error)[:200]})")


def _tensors(path: Path, sha256: str) -> dict[str, Array]:
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            refuse(path, "its checksum is another than when it was saved: it was cut short or changed")
        tensors = tensors_of(data)
    except (SafetensorError, ValueError, KeyError) as error:
        refuse(path, f"it cannot be read ({error})")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            refuse(path, f"{name!r} has numbers that are not finite")
    return tensors


def _sealed(manifest: Manifest) -> bytes:
    told = manifest.model_dump(mode="json")
    return json.dumps({"sha256": _digest(told), "policy": told}, indent=1).encode()


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clear(folder: Path, kept: str) -> None:
    """Earlier saves, and what is left of those that were cut short."""
    for path in folder.iterdir():
        if _OURS.fullmatch(path.name) and path.name != kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _versions() -> dict[str, str]:
    found = {}
    for name in ("whet", "torch", "numpy", "safetensors"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
