"""A project that learns on a recorded world, in a folder, with a clock that is given."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from whet.agents.catalogue import agent_named
from whet.bootstrap import assembly
from whet.bootstrap.candidates import rolled_out
from whet.bootstrap.learning import Trainer, pipeline
from whet.bootstrap.site import Site, open_site
from whet.core.candidates import Candidate
from whet.core.ports import PolicySource, Store
from whet.improvement.pipeline import Examination, Pipeline, Told
from whet.improvement.rehearsal import Effect, Rehearsal, scenes_of
from whet.improvement.rollout import steps
from whet.improvement.world import shipped

WORLD = "shop/test-executor"
START = datetime(2026, 3, 2, tzinfo=UTC)
SETTINGS = """
[project]
name = "learns"
[tool.whet]
seed = 3
[tool.whet.learn]
min_experiences = 30
min_hours = 0.0
[tool.whet.production]
first_share = 0.4
traffic_split = 0.5
min_samples = 25
min_decisions = 25
step_hours = 0.0
"""


def made(folder: Path, settings: str = SETTINGS) -> Site:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(settings)
    return open_site(folder)


def live(
    site: Site,
    store: Store,
    runs: int,
    first: int,
    effect: Effect | None = None,
    warn: Callable[[str], None] | None = None,
    began: datetime = START,
) -> None:
    """So many runs, a minute apart."""
    world = next(each for each in shipped() if each.name == WORLD)
    scenes = scenes_of(world, assembly.valuing(site.settings))
    shelf = assembly.shelf(site.settings, store, 1, site.state_dir / "models")

    def policies() -> PolicySource:
        return rolled_out(site, store, shelf, 1, warn or _unexpected)

    rehearsal = Rehearsal(agent_named(world.agent), store, policies, np.random.default_rng(first))
    for number in range(first, first + runs):
        rehearsal.run(scenes, f"run-{number:05}", began + timedelta(minutes=number), effect)


def proven(_candidate: Candidate, _now: datetime) -> Examination:
    """The gates have tests of their own; these ask what becomes of their verdict."""
    return Examination(True, "it is proven", {"gates": []})


@contextmanager
def at_work(site: Site, store: Store) -> Iterator[Pipeline]:
    """Its candidates are proven, and do not tell which sources they come from: by that runs would fall to other sides
    with every change of Whet, and what is measured in few of them would be another."""
    with pipeline(site, store) as opened:
        yield replace(opened, examine=proven, workshop=Trainer(site, store, opened.registry, code="tests"))


def ticked(site: Site, now: datetime, die_after: int = 0) -> list[Told]:
    """Ends its process with SIGKILL after so many steps; 0: never."""
    told = []
    with site.store() as store, at_work(site, store) as learning:
        for told_now in learning.tick(now):
            told.append(told_now)
            if len(told) == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
    return told


def in_production(site: Site) -> Candidate:
    """A candidate that decides everything, made at START + 30 minutes."""
    with site.store() as store:
        live(site, store, runs=30, first=0)
        ticked(site, START + timedelta(minutes=30))
        (candidate,) = store.candidates.all()
        step = steps.to_production(candidate, None, START + timedelta(minutes=31), steps.Told("it is better"))
        reached = store.candidates.move(step, START + timedelta(minutes=31))
    assert reached is not None
    return reached


def _unexpected(told: str) -> None:
    raise AssertionError(told)
