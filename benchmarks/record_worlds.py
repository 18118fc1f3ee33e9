"""Record the worlds that are shipped with Whet: `python benchmarks/record_worlds.py WORKDIR`.

Unpacks the sources of public projects from the package registry, makes one environment for their
suites, and runs `whet record` for each specialist, exactly as a user would. Takes about an hour on
two cores; a world that exists already is kept, so an interrupted recording goes on where it stopped.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

AGENTS = ("test-executor", "regression-risk-analyzer", "coverage-analyzer", "flaky-test-hunter")
# Public projects with quick suites that need little else.
PROJECTS = ("h11==0.16.0", "toolz==1.2.0", "xmltodict==1.0.4", "cachetools==8.0.0")
# Looked at while choices in the code were made, so they prove nothing.
TUNING = ("shop", "h11", "toolz-test-executor")
WORLDS = Path(__file__).parents[1] / "src" / "whet" / "improvement" / "worlds"
EXAMPLES = Path(__file__).parents[1] / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workdir", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    workdir: Path = arguments.workdir
    workdir.mkdir(parents=True, exist_ok=True)
    _environment(workdir)
    folders = [*(_unpacked(workdir, requirement) for requirement in PROJECTS), _shop(workdir)]
    for agent in AGENTS:
        for folder in folders:
            _record(workdir, folder, agent, arguments.repeats)


def _environment(workdir: Path) -> None:
    if not (workdir / "env").exists():
        subprocess.run([sys.executable, "-m", "venv", "env"], cwd=workdir, check=True)
        tools = ["pytest==9.2.0", "pytest-xdist==3.8.0", "coverage==7.17.2"]
        subprocess.run(["env/bin/python", "-m", "pip", "install", "-q", *tools], cwd=workdir, check=True)


def _shop(workdir: Path) -> str:
    subprocess.run([sys.executable, str(EXAMPLES / "recreate.py"), "shop"], cwd=workdir, check=True)
    return "shop"


def _unpacked(workdir: Path, requirement: str) -> str:
    name = requirement.replace("==", "-")
    if not (workdir / name).exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", requirement]
        subprocess.run(command, cwd=workdir, check=True)
        with tarfile.open(workdir / f"{name}.tar.gz") as archive:
            archive.extractall(workdir, filter="data")
    return name


def _record(workdir: Path, folder: str, agent: str, repeats: int) -> None:
    project = folder.rsplit("-", 1)[0]
    target = WORLDS / f"{project}-{agent}.json"
    if target.exists():
        return
    whet = shutil.which("whet", path=str(Path(sys.executable).parent)) or "whet"
    if agent == "flaky-test-hunter":  # each of its actions runs the suite several times
        repeats, mutants = min(repeats, 2), 1
    else:
        mutants = 2
    command = [whet, "record", folder, "--agent", agent, "--repeats", str(repeats), "--mutants", str(mutants)]
    command += ["--python", "env/bin/python", "--out", f"{project}-{agent}.json"]
    command += ["--tuning"] if {project, target.stem} & set(TUNING) else []
    subprocess.run(command, cwd=workdir, check=True)
    shutil.move(workdir / f"{project}-{agent}.json", target)


if __name__ == "__main__":
    main()
