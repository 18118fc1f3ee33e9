"""A replay in a folder: a file for each column, and `replay.json`, which says which files belong to the save.

Each save writes files with new names and replaces `replay.json` last. A process that dies before that leaves the
earlier save as it was; the next save clears away what it left.
"""

import os
import re
import secrets
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from whet.core.errors import WhetError
from whet.policies.deep.replay.manifest import Manifest, refuse_file
from whet.policies.deep.replay.schema import MASS, Array, Column, Schema
from whet.policies.deep.replay.standing import Standing

_BLOCK_BYTES = 1 << 20  # stays in the processor's cache while it is looked at
_OURS = re.compile(r"[a-z0-9_]+\.([0-9a-f]{16})\.npy|replay\.json\.([0-9a-f]{16})")


def write(folder: Path, schema: Schema, standing: Standing, arrays: dict[str, Array]) -> None:
    token = secrets.token_hex(8)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sums = _write_arrays({name: _path(folder, name, token) for name in arrays}, arrays, standing.held)
        columns = tuple((each.name, each.dtype, each.shape) for each in schema.columns)
        Manifest(token=token, columns=columns, checksums=sums, standing=standing).write(folder)
        _clear(folder, token)
    except OSError as error:
        raise WhetError(
            f"The replay could not be saved in {folder}: {error}.",
            "An earlier save there is still good. Make room or choose another folder, and save again.",
        ) from error


def read(folder: Path) -> tuple[Schema, Standing, dict[str, Array]]:
    """Refused, by the name of the file, unless everything is as it was written."""
    manifest = Manifest.read(folder)
    schema, standing = manifest.schema_of_items, manifest.standing
    paths = {column.name: _path(folder, column.name, manifest.token) for column in schema.stored}
    # Not in the threads: numpy parses headers as Python, at which Python 3.11 now and then fails in several threads.
    arrays = {column.name: _map(paths[column.name], column, standing.capacity) for column in schema.stored}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # checksums are made outside of the interpreter's lock
        list(pool.map(lambda name: _check(paths[name], arrays[name][: standing.held], manifest.checksums[name]), paths))
    if not _are_masses(arrays[MASS.name][: standing.held], standing.largest_mass):
        refuse_file(paths[MASS.name], "it has masses that no replay gives")
    return schema, standing, arrays


def _path(folder: Path, name: str, token: str) -> Path:
    return folder / f"{name}.{token}.npy"


def _write_arrays(paths: dict[str, Path], arrays: dict[str, Array], held: int) -> dict[str, int]:
    try:
        return {name: _write_array(paths[name], array, held) for name, array in arrays.items()}
    except OSError:  # mostly a full disk: what was written would be in the way of the next attempt
        for path in paths.values():
            path.unlink(missing_ok=True)
        raise


def _write_array(path: Path, array: Array, held: int) -> int:
    """Only what is held is written; the rest of the file is a hole, which takes no room on disk."""
    checksum = 0
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        end = file.tell() + array.nbytes
        for block in _blocks(array[:held]):
            file.write(block.data)
            checksum = zlib.crc32(block.data, checksum)
        file.truncate(end)
        file.flush()
        os.fsync(file.fileno())
    return checksum


def _map(path: Path, column: Column, capacity: int) -> Array:
    """Mapped copy-on-write: what is changed later does not reach the file."""
    try:
        mapped = np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        refuse_file(path, f"it cannot be read ({error})")
    if mapped.dtype != column.type or mapped.shape != (capacity, *column.shape) or not mapped.flags.c_contiguous:
        refuse_file(path, f"it holds {mapped.dtype} of the shape {mapped.shape}, not what was saved")
    return np.asarray(mapped.view(np.ndarray))


def _check(path: Path, held: Array, checksum: int) -> None:
    found = 0
    for block in _blocks(held):
        found = zlib.crc32(block.data, found)
        if held.dtype.kind == "f" and not np.isfinite(block).all():
            refuse_file(path, "it has values that are not finite")
    if found != checksum:
        refuse_file(path, "its checksum is another than when it was saved")


def _are_masses(held: Array, largest: float) -> bool:
    return bool(((held > 0.0) & (held <= largest)).all())


def _blocks(array: Array) -> Iterator[Array]:
    rows = max(1, _BLOCK_BYTES // max(1, array[:1].nbytes))
    return (array[first : first + rows] for first in range(0, len(array), rows))


def _clear(folder: Path, token: str) -> None:
    """Earlier saves, and what is left of those that were cut short."""
    for path in folder.iterdir():
        ours = _OURS.fullmatch(path.name)
        if ours and token not in ours.groups():
            path.unlink()
