"""A save that was damaged, or forged, is refused by the name of the file."""

import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.deep.replay.replay_items import filled

from whet.core.errors import RefusedInput
from whet.policies.deep.replay import Replay


def _column(folder: Path, name: str) -> Path:
    (path,) = folder.glob(f"{name}.*.npy")
    return path


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _pickle(path: Path) -> None:
    np.save(path, np.array([{"surprise": 1}], dtype=object), allow_pickle=True)


def _other_type(path: Path) -> None:
    np.save(path, np.load(path).astype(np.float16))


def _same_bytes_of_another_type(path: Path) -> None:
    values = np.load(path)
    np.save(path, values.view(f"u{values.dtype.itemsize}"))


DAMAGES = [_truncate, _empty, _flip_a_bit, _pickle, _other_type, _same_bytes_of_another_type, Path.unlink]


@pytest.mark.parametrize("name", ["state", "done", "mass"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_column_is_refused_by_name(name: str, damage: Callable[[Path], Any], tmp_path: Path) -> None:
    filled(30).save(tmp_path)
    path = _column(tmp_path, name)
    damage(path)
    with pytest.raises(RefusedInput) as refused:
        Replay.open(tmp_path)
    assert str(path) in str(refused.value)


def _seal(folder: Path, change: Callable[[Any], Any]) -> None:
    """Writes `replay.json` as a forger would who knows how checksums are made."""
    path = folder / "replay.json"
    replay = json.loads(path.read_text())["replay"]
    change(replay)
    digest = hashlib.sha256(json.dumps(replay, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"sha256": digest, "replay": replay}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", np.nan),
        ("reward", np.inf),
        ("mass", np.nan),
        ("mass", -1.0),
        ("mass", 0.0),
        ("mass", 2.0),
        ("mass", np.inf),
    ],
)
def test_impossible_values_are_refused_by_name_even_with_fitting_checksums(
    name: str, value: float, tmp_path: Path
) -> None:
    filled(30).save(tmp_path)
    path = _column(tmp_path, name)
    values = np.load(path)
    values.reshape(-1)[7] = value
    np.save(path, values)
    _seal(tmp_path, lambda replay: replay["checksums"].update({name: zlib.crc32(values.tobytes())}))
    with pytest.raises(RefusedInput) as refused:
        Replay.open(tmp_path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "damage",
    [
        _truncate,
        _empty,
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text(path.read_text() + " " * 3_000_000),
        lambda path: path.write_text(path.read_text().replace('"annealed": 0.0', '"annealed": 0.5')),
    ],
)
def test_a_damaged_manifest_is_refused_by_name(damage: Callable[[Path], Any], tmp_path: Path) -> None:
    filled(30).save(tmp_path)
    damage(tmp_path / "replay.json")
    with pytest.raises(RefusedInput, match=r"replay\.json"):
        Replay.open(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"held": 31},
        {"held": -1},
        {"next_place": 30},
        {"held": 20, "next_place": 3},
        {"alpha": float("nan")},
        {"annealed": 2.0},
        {"largest_mass": 0.0},
        {"largest_mass": float("inf")},
        {"random": {}},
        {"random": {"bit_generator": "MT19937"}},
        {"unheard_of": 1},
    ],
    ids=str,
)
def test_a_forged_standing_is_refused_by_name(change: dict[str, Any], tmp_path: Path) -> None:
    filled(30).save(tmp_path)
    _seal(tmp_path, lambda replay: replay["standing"].update(change))
    with pytest.raises(RefusedInput, match=r"replay\.json"):
        Replay.open(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"token": "../../../../etc"},
        {"columns": [["../state", "float32", [3]]]},
        {"columns": [["state", "object", [3]]]},
        {"columns": []},
        {"checksums": {}},
    ],
    ids=str,
)
def test_a_forged_manifest_is_refused_by_name(change: dict[str, Any], tmp_path: Path) -> None:
    filled(30).save(tmp_path)
    _seal(tmp_path, lambda replay: replay.update(change))
    with pytest.raises(RefusedInput, match=r"replay\.json"):
        Replay.open(tmp_path)
