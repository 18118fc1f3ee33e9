"""Making worlds: every action, for real, several times, from the same starting point."""

import os
import platform
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.agents.catalogue import COMMANDER, AnyAgent
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.records import Outcome, new_id, now
from whet.improvement.mutation import Mutation, mutate, read_source, write_source
from whet.improvement.world import Context, World
from whet.tools.budget import Budget
from whet.tools.coverage_data import tests_by_file
from whet.tools.process import Limits
from whet.tools.project import Project
from whet.tools.python import Python
from whet.tools.suite import Suite, SuitePlan
from whet.tools.system import cpu_count
from whet.tools.workplace import Workplace, failures

# Bulky details that no reward reads; a world keeps what was measured, not what was printed.
_DETAILS = ("findings", "top_gaps", "files", "verdicts", "top")
_LEFT_OUT = shutil.ignore_patterns(".git", ".whet", ".venv", "venv", "node_modules", "__pycache__", ".tox", "*.pyc")
_ACTION_SECONDS = 1800.0
# A mutation that more than half of the suite notices is not the kind that slips through.
_NOTICED_BY_AT_MOST = 0.5
_TRIES = 25

OpenStore = Callable[[Path], Store]


@dataclass(frozen=True)
class Order:
    """What to record."""

    agent: AnyAgent
    project: Project
    python: Python
    repeats: int
    mutants: int
    seed: int
    memory_mb: float
    command: str


def record(order: Order, open_store: OpenStore, tell: Callable[[str], None]) -> World:
    """Record in a copy of the project; the project itself and what was learned of it stay untouched."""
    if order.agent.name == COMMANDER.name:
        raise WhetError("The commander's actions are the other agents' turns.", "Record a specialist instead.")
    with _copied(order.project) as copy:
        studio = _Studio(order, copy, open_store, tell)
        contexts = tuple(studio.contexts())
    return World(
        agent=order.agent.name,
        project=order.project.name,
        command=order.command,
        recorded_at=now().isoformat(timespec="seconds"),
        machine={
            "cpus": str(cpu_count()),
            "python": order.python.version,
            "system": platform.system(),
            **_tools(order),
        },
        contexts=contexts,
    )


def _tools(order: Order) -> dict[str, str]:
    return {name: version for name, version in order.python.packages.items() if name.startswith(("pytest", "coverage"))}


@contextmanager
def _copied(project: Project) -> Iterator[Project]:
    """A copy under git, importable from itself."""
    with tempfile.TemporaryDirectory(prefix="whet-world-") as folder:
        root = Path(folder).resolve() / project.name
        shutil.copytree(project.root, root, symlinks=True, ignore=_LEFT_OUT)
        _git(root, "init", "-q")
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "--allow-empty", "-m", "as recorded")
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(root / "src"), str(root), before)))
        try:
            yield Project(root)
        finally:
            os.environ.pop("PYTHONPATH", None) if before is None else os.environ.update(PYTHONPATH=before)


def _git(root: Path, *arguments: str) -> None:
    """Git in the copy alone: no variable, hook or signing key of the user's own repository takes part."""
    own = ["user.name=whet", "user.email=whet@localhost", "commit.gpgsign=false", "core.hooksPath=/dev/null"]
    settings = [word for setting in own for word in ("-c", setting)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        command = ["git", *settings, *arguments]
        subprocess.run(command, cwd=root, env=env, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        raise WhetError(
            f"git could not keep the copy of the project: {error}.", "Install git and try again."
        ) from error


class _Studio:
    """The copy, set up for one context after the other."""

    def __init__(self, order: Order, copy: Project, open_store: OpenStore, tell: Callable[[str], None]) -> None:
        self.order, self.copy, self.open_store, self.tell = order, copy, open_store, tell
        self.rng = random.Random(order.seed)  # noqa: S311 - not for secrets
        self.tried: set[tuple[Path, Mutation]] = set()
        self.patience_seconds = _ACTION_SECONDS  # a mutation may loop for ever; shortened once the suite is timed

    def contexts(self) -> Iterator[Context]:
        with Suite(self.copy, self.order.python) as suite, tempfile.TemporaryDirectory() as states:
            known = self._warm_up(suite, Path(states) / "known")
            yield self._context("as found", suite, known)
            for number in range(1, self.order.mutants + 1):
                changed = self._break(suite)
                if changed is None:
                    self.tell("no further mutation that the suite notices was found")
                    return
                file, label, original = changed
                yield self._context(f"mutant {number}: {label}", suite, known)
                write_source(file, original)

    def _warm_up(self, suite: Suite, state_dir: Path) -> Path:
        """One run with coverage on the unchanged code: the history every context starts from."""
        self.tell("warming up")
        with self._at(suite, state_dir) as place:
            problem = place.collection.problem()
            if problem is not None:
                raise WhetError(problem)
            plan = SuitePlan(
                coverage="branches" if self.order.python.has("coverage") else "none", contexts=True, workers=0
            )
            run = place.run("test-executor", plan, "covered")
            plain = place.run("test-executor", SuitePlan(), "own-order")
            if run.coverage_file is not None:
                place.history.cover(place.code_version, tests_by_file(run.coverage_file, self.copy.root))
            self.patience_seconds = 30.0 + 5 * plain.duration_seconds
            self.tell(f"{len(plain.tests)} tests, {plain.duration_seconds:.1f} s, {len(failures(plain))} failing")
        return state_dir

    def _context(self, label: str, suite: Suite, known: Path) -> Context:
        agent = self.order.agent
        with self._at(suite, self._fresh(known)) as place:
            state = agent.observe(place)
        allowed = agent.allowed(state)
        outcomes: dict[str, list[dict[str, Any]]] = {action.name: [] for action in allowed}
        for turn in range(self.order.repeats):  # round robin: slow drift of the machine hits every action alike
            for action in allowed:
                with self._at(suite, self._fresh(known)) as place:
                    outcome = agent.act(state, action, place)
                outcomes[action.name].append(_measured(outcome))
                self.tell(f"{label}: {turn + 1}/{self.order.repeats} {action.name} {outcome.duration_seconds:.1f} s")
        recorded = {name: tuple(found) for name, found in outcomes.items()}
        return Context(label=label, state=state.model_dump(mode="json"), outcomes=recorded)

    def _break(self, suite: Suite) -> tuple[Path, str, str] | None:
        """A mutation that some tests notice, and not most of them."""
        files = [file for file in self.copy.source_files() if file.stat().st_size]
        for _ in range(_TRIES if files else 0):
            file = self.rng.choice(files)
            original = read_source(file)
            changed = mutate(file, self.rng)
            known = changed is None or (file, changed) in self.tried
            if changed is not None and not known:
                self.tried.add((file, changed))
            if changed is not None and not known and self._noticed(suite):
                return (
                    file,
                    f"{file.relative_to(self.copy.root)}:{changed.line} {changed.old} → {changed.new}",
                    original,
                )
            write_source(file, original)
        return None

    def _noticed(self, suite: Suite) -> bool:
        limits = Limits(timeout_seconds=self.patience_seconds, memory_mb=self.order.memory_mb)
        run = suite.run(SuitePlan(), limits)
        failed = len(failures(run))
        return run.problem() is None and 0 < failed <= _NOTICED_BY_AT_MOST * max(len(run.tests), 1)

    def _fresh(self, known: Path) -> Path:
        """A copy of the state every action starts from."""
        copy = known.with_name(new_id())
        shutil.copytree(known, copy)
        return copy

    @contextmanager
    def _at(self, suite: Suite, state_dir: Path) -> Iterator[Workplace]:
        state_dir.mkdir(parents=True, exist_ok=True)
        store = self.open_store(state_dir)
        try:
            yield Workplace(
                project=self.copy,
                python=self.order.python,
                suite=suite,
                history=store.history,
                budget=Budget(_ACTION_SECONDS),
                run_id=new_id(),
                code_version=self.copy.code_version(),
                seed=self.rng.randrange(2**31),
                memory_mb=self.order.memory_mb,
                state_dir=state_dir,
                crew=("test-executor",),
            )
        finally:
            store.close()


def _measured(outcome: Outcome) -> dict[str, Any]:
    return {name: value for name, value in outcome.model_dump(mode="json").items() if name not in _DETAILS}
