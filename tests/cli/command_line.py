"""`whet` as people start it: a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

WHET = Path(sys.executable).with_name("whet")
# Only the agent that runs the suite: the others are tried where they are the point.
EXECUTOR_ONLY = '[tool.whet]\nagents = ["test-executor"]\nminutes = 2.0\n'
_SET_BY_THE_MACHINE = ("VIRTUAL_ENV", "CI", "GITHUB_", "WHET_", "PYTEST_")


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SET_BY_THE_MACHINE)}
    return {**kept, "PYTEST_ADDOPTS": "-p no:hypothesispytest", "PYTHONDONTWRITEBYTECODE": "1", **extra}


def whet(*arguments: str | Path, cwd: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [str(WHET), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=environment(**extra), capture_output=True, text=True, timeout=120, check=False
    )


def project_in(root: Path, files: Mapping[str, str], settings: str = EXECUTOR_ONLY) -> Path:
    for name, text in {"pyproject.toml": settings, **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
    return root


def processes_with(token: str) -> list[int]:
    """Processes that carry `token` on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if token.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
