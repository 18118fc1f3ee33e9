"""Weeks of a project, to look at in the dashboard: recorded outcomes on a clock of its own, then one real visit.

Real: policies, gate, rewards, store, training, rollout, audit trail, and all of the last visit. Recorded: what each
action of the test executor did on the example shop (a world that Whet ships). Skipped, and said: the proof of what was
trained, which so few runs cannot give.
"""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from whet.agents.catalogue import AGENTS, agent_named
from whet.bootstrap import assembly
from whet.bootstrap.candidates import rolled_out
from whet.bootstrap.feedback import Listener
from whet.bootstrap.learning import pipeline
from whet.bootstrap.site import Site, open_site
from whet.core.candidates import Candidate
from whet.core.ports import RunRecord
from whet.core.records import Experience
from whet.fleet.teaching import Teacher
from whet.improvement.pipeline import Examination
from whet.improvement.rehearsal import Rehearsal, scenes_of
from whet.improvement.world import shipped
from whet.store.sql_store import SqlStore

AGENT, WORLD = "test-executor", "shop/test-executor"
SETTINGS = """\
seed = 3

[learn]
min_experiences = {experiences}
min_hours = 0.0
holdout = 0.3

[production]
first_share = 0.3
traffic_split = 0.5
min_samples = 10
min_decisions = 10
step_hours = 0.0

[cost]
per_hour = 0.35
monthly_budget = 20.0
"""


def settled(folder: Path, experiences: int) -> Site:
    """The project's folder with the settings of these weeks."""
    (folder / "whet.toml").write_text(SETTINGS.format(experiences=experiences))
    return open_site(folder)


def live(site: Site, store: SqlStore, now: datetime, days: int, runs_a_day: int) -> None:
    """Runs of the days before `now`; each night continuous learning has its turn, and a person rates a run."""
    world = next(each for each in shipped() if each.name == WORLD)
    scenes = scenes_of(world, assembly.valuing(site.settings))
    shelf = assembly.shelf(site.settings, store, 1, site.state_dir / assembly.MODELS)
    policies = partial(rolled_out, site, store, shelf, 1, print)
    rng = np.random.default_rng(7)
    rehearsal = Rehearsal(agent_named(AGENT), store, policies, rng)
    for day in range(days):
        morning = now - timedelta(days=days - day)
        for run in range(runs_a_day):
            run_id, at = f"{day:03x}{run:02x}{'0' * 27}", morning + timedelta(hours=run * 20 / runs_a_day)
            store.runs.start(_record(site, run_id, at))
            _conclude(site, store, run_id, rehearsal.run(scenes, run_id, at))
        Listener(store, site.settings).rate(run_id, int(rng.integers(3, 6)), "ada")
        with pipeline(site, store) as learning:
            list(replace(learning, examine=_unproven).tick(morning + timedelta(hours=23)))


def visit(site: Site, minutes: float) -> None:
    """One real visit, as a person in an activated environment starts it; it ends with 1 when it found something."""
    whet = [sys.executable, "-c", "from whet.cli.main import main; main()"]
    command = [*whet, "run", str(site.project.root), "--minutes", str(minutes)]
    found = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    done = subprocess.run(command, env={**os.environ, "PATH": found}, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"whet run ended with {done.returncode}: {done.stdout}{done.stderr}")


def _unproven(_candidate: Candidate, _now: datetime) -> Examination:
    return Examination(True, "taken for proven: so few runs prove nothing", {"gates": []})


def _record(site: Site, run_id: str, at: datetime) -> RunRecord:
    return RunRecord(
        id=run_id,
        project=site.project.name,
        code_version="recorded",
        budget_seconds=60.0,
        seed=3,
        started_at=at,
    )


def _conclude(site: Site, store: SqlStore, run_id: str, lived: list[Experience]) -> None:
    Teacher(store, AGENTS, assembly.schooling(site.settings)).note(run_id, lived, {})
    used = sum(float(str(each.outcome["duration_seconds"])) for each in lived)
    store.runs.finish(run_id, "finished", {"turns": len(lived), "used_seconds": used})
