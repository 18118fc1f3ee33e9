"""`whet` as people start it: a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

WHET = Path(sys.executable).with_name("whet")
# Only the agent that runs the suite: the others are tried where they are the point.
EXECUTOR_ONLY = '[tool.whet]\nagents = ["test-executor"]\nminutes = 2.0\n'
_SET_BY_THE_MACHINE = ("VIRTUAL_ENV", "CI", "GITHUB_", "WHET_", "PYTEST_")


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SET_BY_THE_MACHINE)}
    return {**kept, "PYTEST_ADDOPTS": "-p no:hypothesispytest", "PYTHONDONTWRITEBYTECODE": "1", **extra}


# Importing what others wrote is most of a command's time. A process that has done so, and nothing else, is copied for
# each command; what is ours is imported there.
_OTHERS = ("alembic.command", "jinja2", "numpy", "pydantic", "rich.console", "sqlalchemy", "torch")
_PREPARED = get_context("forkserver")
_PREPARED.set_forkserver_preload([*_OTHERS])


def whet(*arguments: str | Path, cwd: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [str(WHET), *map(str, arguments)]
    if "PYTHONPATH" in extra:  # what is imported is the point
        return subprocess.run(
            command, cwd=cwd, env=environment(**extra), capture_output=True, text=True, timeout=120, check=False
        )
    with TemporaryDirectory() as folder:
        told, complained = Path(folder, "stdout"), Path(folder, "stderr")
        process = _PREPARED.Process(target=_become, args=(command, cwd, environment(**extra), told, complained))
        process.start()
        process.join(120)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(command, 120)
        code = process.exitcode
        assert code is not None
        return subprocess.CompletedProcess(command, code, told.read_text("utf-8"), complained.read_text("utf-8"))


def _become(command: list[str], cwd: Path | None, environ: Mapping[str, str], told: Path, complained: Path) -> None:
    """In the copy: the command, with nothing of whoever asked for it but these."""
    os.environ.clear()
    os.environ.update(environ)
    if cwd is not None:
        os.chdir(cwd)
    for file, descriptor in ((told, 1), (complained, 2)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = command
    sys.path[:] = [entry for entry in sys.path if Path(entry) != Path.cwd()]
    from whet.cli.main import main

    main()


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
