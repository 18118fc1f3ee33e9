"""Git histories of real projects, made by applying and reverting real mutations.

A project's folder below the work folder holds `repo` (the git history), `mutants.jsonl` and `history.json`.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SEED = 20240229
MUTATION_TOOL = ("cosmic-ray==8.7.0",)
RUNNERS = ("pytest==9.2.0", "pytest-testmon==2.2.0", "coverage==7.17.2")
CONFIGURATIONS = ("pytest.toml", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
PYTEST_SECTION = re.compile(r"^\[(pytest|tool:pytest|tool\.pytest.*)\]", re.MULTILINE)
GIT = ("git", "-c", "user.name=mutation", "-c", "user.email=mutation@localhost", "-c", "commit.gpgsign=false",
       "-c", "gc.auto=0")  # fmt: skip


class Project(NamedTuple):
    """A public project whose source distribution has its tests."""

    name: str
    version: str
    package: str  # the folder with the source files, below the root
    tests: str  # the folder with the tests, below the root

    @property
    def archive(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def import_root(self) -> str:
        return str(Path(self.package).parent)


PROJECTS = {
    project.name: project
    for project in (
        Project("boltons", "26.2.0", "boltons", "tests"),
        Project("toolz", "1.2.0", "toolz", "toolz"),
        Project("sqlparse", "0.6.1", "sqlparse", "tests"),
        Project("cachetools", "8.0.0", "src/cachetools", "tests"),
    )
}


class Pair(NamedTuple):
    """A commit with one mutation, and the commit that takes it back."""

    number: int
    mutated: str
    reverted: str
    file: str
    line: int
    operator: str


class History(NamedTuple):
    project: Project
    folder: Path
    base: str
    pairs: tuple[Pair, ...]

    @property
    def repo(self) -> Path:
        return self.folder / "repo"


def environment(work: Path, name: str, requirements: tuple[str, ...]) -> Path:
    """The interpreter of an environment of its own with these requirements."""
    python = work / name / "bin" / "python"
    done = work / name / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != sorted(requirements):
        subprocess.run([sys.executable, "-m", "venv", work / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
        done.write_text(json.dumps(sorted(requirements)))
    return python


def suites_python(work: Path) -> Path:
    """The interpreter all suites run in."""
    return environment(work, "env-suites", RUNNERS)


def whet_python(work: Path) -> Path:
    """As the suites' interpreter, and with this checkout's Whet installed."""
    return environment(work, "env-whet", (*RUNNERS, "--editable", str(HERE.parent)))


def mutation_python(work: Path) -> Path:
    return environment(work, "env-mutation", MUTATION_TOOL)


def history(work: Path, project: Project, commits: int) -> History:
    """The project's history with `commits` mutations, as it was made before or made now."""
    folder = work / project.name
    told = folder / "history.json"
    if not told.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _unpack(folder, project)
        told.write_text(json.dumps(_commit(folder, _mutants(work, folder, project, commits))))
    made = json.loads(told.read_text())
    return History(project, folder, made["base"], tuple(Pair(*pair) for pair in made["pairs"][:commits]))


def checkout(repo: Path, commit: str, branch: str | None = None) -> None:
    _git(repo, "checkout", "-q", "--force", *(["-B", branch] if branch else ["--detach"]), commit)


def _unpack(folder: Path, project: Project) -> None:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*command, f"{project.name}=={project.version}"], check=True)
    with tarfile.open(folder / f"{project.archive}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    repo = folder / "repo"
    (folder / project.archive).rename(repo)
    # Without a configuration of its own pytest would look for one in the folders above.
    files = [file for file in map(repo.joinpath, CONFIGURATIONS) if file.exists()]
    if not any(PYTEST_SECTION.search(file.read_text()) for file in files):
        (repo / "pytest.ini").write_text("[pytest]\n")


def _mutants(work: Path, folder: Path, project: Project, count: int) -> list[dict[str, Any]]:
    repo, out = folder / "repo", folder / "mutants.jsonl"
    sources = sorted(
        str(path.relative_to(repo))
        for path in (repo / project.package).rglob("*.py")
        if not any(part in ("test", "tests") for part in path.relative_to(repo).parts)
    )
    command: list[str | Path] = [mutation_python(work), HERE / "first_failures_mutants.py"]
    subprocess.run([*command, repo, str(count), str(SEED), out, *sources], check=True)
    return [json.loads(line) for line in out.read_text().splitlines()]


def _commit(folder: Path, mutants: list[dict[str, Any]]) -> dict[str, Any]:
    repo = folder / "repo"
    _git(repo, "init", "-q", "-b", "main")
    (repo / ".git" / "info" / "exclude").write_text(".testmondata*\n.whet/\n__pycache__/\n.pytest_cache/\n")
    _git(repo, "add", "--all", "--force")
    _git(repo, "commit", "-q", "-m", "As released")
    base = _git(repo, "rev-parse", "HEAD")
    return {"base": base, "pairs": [_pair(repo, number, mutant) for number, mutant in enumerate(mutants)]}


def _pair(repo: Path, number: int, mutant: dict[str, Any]) -> Pair:
    path = repo / mutant["file"]
    before = path.read_bytes()
    path.write_text(mutant["text"], encoding="utf-8", newline="")
    _git(repo, "commit", "-q", "-a", "-m", f"{mutant['operator']} in {mutant['file']}:{mutant['line']}")
    mutated = _git(repo, "rev-parse", "HEAD")
    path.write_bytes(before)
    _git(repo, "commit", "-q", "-a", "-m", f"Revert {mutated[:10]}")
    reverted = _git(repo, "rev-parse", "HEAD")
    return Pair(number, mutated, reverted, mutant["file"], mutant["line"], mutant["operator"])


def _git(repo: Path, *arguments: str) -> str:
    environ = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run([*GIT, *arguments], cwd=repo, check=True, capture_output=True, text=True, env=environ)
    return done.stdout.strip()
