"""`replay.json`: what was saved and in which files. It is replaced in one step, once those are safely on disk."""

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field

from whet.core.errors import RefusedInput
from whet.policies.deep.replay.schema import Column, Schema
from whet.policies.deep.replay.standing import Standing

NAME = "replay.json"
_LARGEST_BYTES = 1 << 20  # a hundred columns are 20 kB


class Manifest(BaseModel):
    """`token` is in the names of the files of this save; `checksums` is the CRC-32 of each column's held items."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    version: Literal[1] = 1
    token: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    columns: tuple[tuple[str, str, tuple[int, ...]], ...]
    checksums: dict[str, int]
    standing: Standing

    @property
    def schema_of_items(self) -> Schema:
        return Schema(tuple(Column(*column) for column in self.columns))

    def write(self, folder: Path) -> None:
        told = self.model_dump(mode="json")
        draft = folder / f"{NAME}.{self.token}"
        with draft.open("w", encoding="utf-8") as file:
            json.dump({"sha256": _digest(told), "replay": told}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)  # the columns' names must be on disk before what points at them
        draft.replace(folder / NAME)
        sync_folder(folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        path = folder / NAME
        try:
            told = json.loads(_text(path))
            if told["sha256"] != _digest(told["replay"]):
                raise ValueError("its checksum is another")
            manifest = cls.model_validate_json(json.dumps(told["replay"]))
            if manifest.checksums.keys() != {column.name for column in manifest.schema_of_items.stored}:
                raise ValueError("its columns and its checksums differ")
        except FileNotFoundError:
            _refuse_missing(folder)
        except (OSError, ValueError, TypeError, KeyError, RecursionError, RefusedInput) as error:
            refuse_file(path, f"it is not what a replay saved: {str(error)[:200]}")
        return manifest


def refuse_file(path: Path, problem: str) -> NoReturn:
    raise RefusedInput(
        f"The replay was not opened: {path}: {problem}.",
        "The save is damaged: open another, or begin with an empty replay.",
    )


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        text = file.read(_LARGEST_BYTES + 1)
    if len(text) > _LARGEST_BYTES:
        raise ValueError("it is larger than any of ours")
    return text


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _refuse_missing(folder: Path) -> NoReturn:
    if any(folder.glob("*.npy")):
        refuse_file(folder / NAME, "it is missing beside saved columns: the save was cut short")
    raise RefusedInput(f"There is no replay in {folder}: it has no {NAME}.", "Save one there first.")
