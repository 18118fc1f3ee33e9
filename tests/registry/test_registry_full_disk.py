"""A full disk: what was kept before can be opened every time, and keeping another one fails with a sentence."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from whet.checks.registry_samples import contents, facts, policy
from whet.core.errors import WhetError
from whet.registry.plain import PlainRegistry

_SCRIPT = Path(__file__).with_name("full_disk.py")
_NAMESPACE = ["unshare", "-Urm"]  # a mount of one's own, without rights


def _filled(line: str, below: Path, state: Path, times: int) -> str:
    (below / "disk").mkdir()
    command = [
        *_NAMESPACE,
        sys.executable,
        "-W",
        "error",
        str(_SCRIPT),
        line,
        str(below / "disk"),
        str(state),
        str(times),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_folders_on_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    told = _filled("plain", tmp_path, tmp_path / "state", 100)
    assert told.count("No space left on device") == 3
    assert "could not be kept" in told
    assert told.endswith("100 of 100\n")


def test_mlflow_on_a_full_disk(tmp_path: Path, empty_database: Path) -> None:
    told = _filled("mlflow", tmp_path, empty_database.parent, 100)
    assert told.startswith("No space left on device\nMLflow at ")
    assert told.count("database or disk is full. What was kept before is as it was.") == 2
    assert told.endswith("100 of 100\n")


def test_a_write_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """The same without a mount: no file may be longer than 100 kB, so that writing ends in the middle of one."""
    registry = PlainRegistry(tmp_path / "registry", b"k" * 32)
    digest = registry.keep(policy(tmp_path, "first"), facts())
    larger = policy(tmp_path, "larger", {"tensors.safetensors": bytes(200_000)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(WhetError, match="File too large"):
            registry.keep(larger, facts())
        assert contents(registry.open(digest).folder) == contents(tmp_path / "first")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert registry.digests() == [digest]
    assert list((tmp_path / "registry" / "making").iterdir()) == []
    registry.close()
