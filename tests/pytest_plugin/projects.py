"""Small projects with real pytest runs in processes of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

_SET_BY_THE_MACHINE = ("VIRTUAL_ENV", "CI", "GITHUB_", "WHET_", "PYTEST_", "COV_", "COVERAGE_")
_QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--color=no")


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SET_BY_THE_MACHINE)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **extra}


def project(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in {"pytest.ini": "[pytest]\n", **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
    return root


def run(root: Path, *arguments: str, plain: bool = False, **extra: str) -> subprocess.CompletedProcess[str]:
    """pytest as people start it; with --whet unless `plain`."""
    asked = () if plain else ("--whet",)
    command = [sys.executable, "-m", "pytest", *_QUIET, *asked, *arguments]
    return subprocess.run(
        command, cwd=root, env=environment(**extra), capture_output=True, text=True, timeout=120, check=False
    )


def executed(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The tests in the order in which `-v` showed them."""
    finished = re.compile(r"^(?:\[gw\d+\] \[ *\d+%\] [A-Z]+ (\S+::\S+)|(\S+::\S+) [A-Z]+ .*\[ *\d+%\]) *$")
    found = (finished.match(line) for line in done.stdout.splitlines())
    return [match[1] or match[2] for match in found if match]


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What Whet said."""
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith("whet:"))


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
