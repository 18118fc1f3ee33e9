"""The user's interpreter: which one it is, and what is installed in it."""

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from whet.core.errors import MissingTool, WhetError
from whet.core.records import Record
from whet.tools.process import Completed, Limits, run

# What Whet uses, or has to know of because it changes how pytest runs.
DISTRIBUTIONS = (
    "coverage",
    "flaky",
    "hypothesis",
    "numpy",
    "pytest",
    "pytest-asyncio",
    "pytest-cov",
    "pytest-forked",
    "pytest-random-order",
    "pytest-randomly",
    "pytest-rerunfailures",
    "pytest-timeout",
    "pytest-xdist",
)
OLDEST_PYTHON = (3, 8)
OLDEST = {"pytest": (7,), "coverage": (5,), "pytest-xdist": (2,)}
_LOOK = """
import json, sys
try:
    from importlib import metadata
except ImportError:
    metadata = None
found = {}
for name in json.loads(sys.argv[1]):
    try:
        found[name] = str(metadata.version(name))
    except Exception:
        pass
print("whet:" + json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "packages": found}))
"""


class Python(Record):
    """An interpreter that answered, with the versions of the distributions in `DISTRIBUTIONS` that it has."""

    path: Path
    version: str
    packages: dict[str, str]

    def has(self, name: str) -> bool:
        return name in self.packages

    def require(self, name: str) -> str:
        """The installed version of `name`; MissingTool when there is none, or one too old to work with."""
        install = f"Install it: {self.path} -m pip install"
        if name not in self.packages:
            raise MissingTool(f"{name} is not installed in {self.path}.", f"{install} {name}")
        oldest = OLDEST.get(name, ())
        if _numbers(self.packages[name]) < oldest:
            wanted = ".".join(map(str, oldest))
            problem = f"{name} {self.packages[name]} in {self.path} is too old; Whet needs {wanted} or newer."
            raise MissingTool(problem, f"{install} '{name}>={wanted}'")
        return self.packages[name]


def find_python(root: Path, explicit: str | None = None) -> Python:
    """`explicit`, else the activated environment, else the project's .venv or venv, else Whet's own interpreter."""
    if explicit is not None:
        return inspect(_explicit(root, explicit))
    activated = os.environ.get("VIRTUAL_ENV")
    for environment in ([Path(activated)] if activated else []) + [root / ".venv", root / "venv"]:
        interpreter = _in_environment(environment)
        if interpreter is not None:
            return inspect(interpreter)
    return inspect(Path(sys.executable))


def inspect(interpreter: Path) -> Python:
    """Ask an interpreter what it is. Never resolves links: a virtual environment is a link."""
    path = interpreter.absolute()
    with tempfile.TemporaryDirectory(prefix="whet-") as empty:
        command = [str(path), "-c", _LOOK, json.dumps(DISTRIBUTIONS)]
        completed = run(command, cwd=Path(empty), limits=Limits(timeout_seconds=60, memory_mb=1024))
    python = _answer(path, completed)
    if _numbers(python.version) < OLDEST_PYTHON:
        raise WhetError(f"{path} is Python {python.version}; Whet tests projects on 3.8 or newer.", _REMEDY)
    return python


def _answer(path: Path, completed: Completed) -> Python:
    for line in completed.output.splitlines():  # not the only one: interpreters can be told to print at start
        if line.startswith("whet:") and completed.exit_code == 0:
            with contextlib.suppress(ValueError, TypeError):
                return Python(path=path, **json.loads(line.removeprefix("whet:")))
    said = completed.output.strip()[-500:] or ("nothing within 60 s" if completed.timed_out else "nothing")
    raise WhetError(f"{path} is not a working Python interpreter; it said: {said}.", _REMEDY)


_REMEDY = "Name another one with --python, for example --python .venv/bin/python."


def _explicit(root: Path, given: str) -> Path:
    for place in (root / Path(given).expanduser(), Path(given).expanduser()):
        if place.is_file():
            return place
        interpreter = _in_environment(place)
        if interpreter is not None:
            return interpreter
    on_path = shutil.which(given)
    if on_path is None:
        raise WhetError(f"There is no Python interpreter {given!r}.", _REMEDY)
    return Path(on_path)


def _in_environment(environment: Path) -> Path | None:
    for place in ("bin/python", "Scripts/python.exe"):
        if (environment / place).is_file():
            return environment / place
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
