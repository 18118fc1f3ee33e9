"""A project's suite in a folder of its own, run by real pytest processes."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.first_failures_history import Project, _unpack, environment
from benchmarks.first_failures_recording import run

ROOT = Path(__file__).parents[1]
TURNING = ROOT / "src" / "whet" / "tools" / "probe" / "whet_turning"
RUNNERS = ("pytest==9.2.0", "coverage==7.17.2")
OPTIONS = ("-p", "no:cacheprovider", "-p", "triage_probe", "-p", "whet_turning")


class Told(NamedTuple):
    broken: list[str]
    failed: dict[str, dict[str, str]]
    executed: dict[str, dict[str, list[int]]]  # where asked for: test → file → lines; "" is what importing executes


class Suite:
    """A project's suite in a folder of its own, run by real pytest processes."""

    def __init__(self, work: Path, project: Project) -> None:
        self.project, self.folder = project, work / project.name
        self.repo = self.folder / "repo"
        self.python = environment(work, "env-suites", RUNNERS)
        if not self.repo.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            _unpack(self.folder, project)
        plugins = self.folder / "plugins"
        plugins.mkdir(exist_ok=True)
        shutil.copy(ROOT / "benchmarks" / "triage_probe.py", plugins)
        shutil.copytree(TURNING, plugins / TURNING.name, dirs_exist_ok=True)

    def sources(self) -> list[str]:
        package = self.repo / self.project.package
        found = [package] if package.is_file() else package.rglob("*.py")
        relative = (path.relative_to(self.repo) for path in found)
        return sorted(str(path) for path in relative if not {"test", "tests"} & set(path.parts))

    def run(
        self, tests: list[str] | None, limit_seconds: float, *, cover: bool = False, turning: Path | None = None
    ) -> Told | None:
        """None: it took longer than the limit. `turning` is a plan for the plugin that follows tests."""
        out = self.folder / "told.json"
        out.unlink(missing_ok=True)
        covered = [str(self.repo / source) for source in self.sources()] if cover else []
        plan = {"out": str(out), "root": str(self.repo), "cover": covered, "tests": tests}
        (self.folder / "plan.json").write_text(json.dumps(plan))
        more = {} if turning is None else {"WHET_TURNING": str(turning)}
        command = [str(self.python), "-m", "pytest", *OPTIONS, self.project.tests]
        ended = run(command, self.repo, {**self._environ(), **more}, limit_seconds)
        if ended is None:
            return None
        return Told(**json.loads(out.read_text())) if out.exists() else Told(["(pytest did not end)"], {}, {})

    @contextmanager
    def mutated(self, mutant: dict[str, Any]) -> Iterator[None]:
        path = self.repo / mutant["file"]
        before, modified = path.read_bytes(), path.stat().st_mtime_ns
        path.write_text(mutant["text"], encoding="utf-8", newline="")
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(modified, modified))

    def warm(self) -> None:
        """Compile everything once. Later runs write no byte code, and a mutated file is newer than this."""
        environ = self._environ()
        del environ["PYTHONDONTWRITEBYTECODE"], environ["TRIAGE_PLAN"]
        run([str(self.python), "-m", "pytest", *OPTIONS[:2], self.project.tests], self.repo, environ, 600)

    def _environ(self) -> dict[str, str]:
        # pytest prints more where it believes to be on a build server.
        left_out = ("PYTEST_", "COV", "WHET_", "CI", "BUILD_NUMBER")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        paths = [str(self.repo / self.project.import_root), str(self.folder / "plugins")]
        more = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
        return {**kept, **more, "TRIAGE_PLAN": str(self.folder / "plan.json")}
