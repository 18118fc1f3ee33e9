"""Policies for the checks of registries."""

from pathlib import Path
from typing import Any

from whet.core.registries import Facts

AGENT = "test-executor"
FILES = {"policy.json": b'{"kind": "tables"}', "save.1/tensors.safetensors": bytes(range(256)) * 300, "empty": b""}


def policy(below: Path, name: str, files: dict[str, bytes] | None = None) -> Path:
    """A new folder with a policy's files; a policy of another name is another."""
    folder = below / name
    for path, data in {**(FILES if files is None else files), "name.txt": name.encode()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def facts(**changed: Any) -> Facts:
    known = Facts(
        agent=AGENT,
        kind="tables",
        config={"seed": 7, "rates": [0.1, None], "odd 🧪 \0 '": {"deep": True}},
        metrics={"reward": -1.25, "a/b %": 1e300},
        lineage={"batch": 3, "first": "a/1", "parent": None, "code_version": "1.0"},
        pictures={"curve.svg": b"<svg/>", "loss.png": b"\x89PNG"},
    )
    return known._replace(**changed)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
