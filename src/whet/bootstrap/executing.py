"""One agent, one task, the whole loop: observe, recall, decide, act, reward, store, learn."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from whet.agents.catalogue import COMMANDER, agent_named
from whet.bootstrap import assembly
from whet.bootstrap.remembering import FleetMemory, opened_memory
from whet.bootstrap.site import make_state_dir, open_site
from whet.bootstrap.visiting_fleet import seen
from whet.core.agent import Agent
from whet.core.events import Event, Warned
from whet.core.ports import RunRecord, Store
from whet.core.records import Experience, new_id, now
from whet.fleet.loop import Fleet
from whet.fleet.recalling import Recalling
from whet.fleet.teaching import Teacher
from whet.policies.hierarchy import Weights
from whet.policies.shelf import Shelf
from whet.settings.model import Settings
from whet.tools.budget import Budget
from whet.tools.lock import exclusive
from whet.tools.suite import Suite

AnyAgent = Agent[Any, Any, Any]


@dataclass
class Task:
    """What agents of your own work on, with the store that remembers it. One task is one run; any number of threads
    may work on it, and any number of tasks share a store.

        with open_store("sqlite:///work.db") as store, Task(workplace, store) as task:
            execute_with_learning(task, MyAgent())
    """

    workplace: Any
    store: Store
    project: str = "own"
    settings: Settings = field(default_factory=Settings)
    seconds: float = 3600.0
    run_id: str = field(default_factory=new_id)
    agents_done: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)  # by failing test, what it printed, where that is known
    changed_files: Sequence[str] = ()
    _fleets: dict[str, Fleet] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)
    _lived: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.budget, self.seed = Budget(self.seconds), assembly.new_seed(self.settings)
        self._memory = FleetMemory(self.store, self.project, self.settings.memory)

    def __enter__(self) -> Self:
        record = RunRecord(
            id=self.run_id,
            project=self.project,
            code_version="",
            budget_seconds=self.seconds,
            seed=self.seed,
            started_at=now(),
        )
        self.store.runs.start(record)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        summary = {"turns": self._lived, "used_seconds": self.budget.used()}
        self.store.runs.finish(self.run_id, "finished" if kind is None else "interrupted", summary)
        self.remember()

    def emit(self, event: Event) -> None:
        """What happened is in the store; what did not work is nowhere else."""
        _told(event)

    def execute(self, agent: AnyAgent) -> Experience:
        fleet = self._fleet(agent)
        experience = fleet.once(agent, self, self.workplace)
        with self._lock:
            self._lived += 1
            ready = self._lived % max(1, self.settings.experience_replay.batch_size) == 0
        if ready:
            fleet.teacher.replay(agent.name, self.seed + self._lived)
            self.remember()
        return experience

    def remember(self) -> None:
        """So that the next turns are reminded of these. Facts, procedures and the bound when they are due."""
        if not self.settings.memory.enabled:
            return
        fleets = list(self._fleets.values())
        for recalling in (fleet.memory for fleet in fleets if fleet.memory is not None):
            recalling.conclude(_warn)
        self._memory.tend()
        for fleet in fleets:
            fleet.memory = self._recalling()

    def _fleet(self, agent: AnyAgent) -> Fleet:
        """One for each agent, so that random numbers go on where they stopped."""
        with self._lock:
            if agent.name not in self._fleets:
                self._fleets[agent.name] = self._assembled(agent)
            return self._fleets[agent.name]

    def _assembled(self, agent: AnyAgent) -> Fleet:
        policies = Shelf(
            tables=self.store.tables,
            categories={agent.name: agent.category},
            actions={agent.name: agent.actions},
            chosen=self.settings.policies,
            default="thompson",
            schedules={},
            weights=Weights(),
            rate=self.settings.q_learning.learning_rate,
            seed=self.seed,
            states={agent.name: agent.state_type},
        )
        return Fleet(
            commander=COMMANDER,
            crew=(agent,),
            store=self.store,
            policies=policies,
            teacher=Teacher(self.store, {agent.name: agent}, assembly.schooling(self.settings)),
            valuing=assembly.valuing(self.settings),
            memory=self._recalling(),
        )

    def _recalling(self) -> Recalling | None:
        memory, per_action = self._memory, self.settings.memory.recall
        if not self.settings.memory.enabled:
            return None
        return Recalling(self.store, self.project, lambda: memory.recall, lambda: memory.embedder, per_action)


def execute_with_learning(task: Task | Path | str, agent: AnyAgent | str) -> Experience:
    """One turn of one agent, which learns from it, and what was lived.

    On a project, one of the fleet's agents::

        execute_with_learning("../shop", "test-executor").outcome

    On anything else, an agent of your own (see `whet.core.agent.Agent`)::

        with open_store("sqlite:///work.db") as store, Task(workplace, store) as task:
            for _ in range(100):
                execute_with_learning(task, MyAgent())
    """
    chosen = agent_named(agent) if isinstance(agent, str) else agent
    return task.execute(chosen) if isinstance(task, Task) else _in_project(Path(task), chosen)


def _told(event: Event) -> None:
    if isinstance(event, Warned):
        _warn(event.message)


def _warn(told: str) -> None:
    warnings.warn(told, RuntimeWarning, stacklevel=2)


def _in_project(path: Path, agent: AnyAgent) -> Experience:
    site = open_site(path)
    make_state_dir(site.state_dir)
    seed = assembly.new_seed(site.settings)
    with (
        exclusive(site.state_dir / "run.lock"),
        site.store() as store,
        Suite(site.project, site.python) as suite,
    ):
        place = assembly.workplace(site, store, suite, seed, _told)
        fleet = assembly.fleet(site, store, seed, _warn)
        experience = fleet.errand(agent, place)
        if (memory := opened_memory(site, store)) is not None:
            memory.tend(seen=seen(fleet, place))
        return experience
