"""Weeks of continuous learning in minutes: `make demo-learning`.

Real: policies, gate, rewards, store, queue, filter, training, proof, rollout, registry, audit trail. Recorded: what
each action of the test executor did on the example shop (a world that Whet ships). Planted (`planted.py`) and said: the
project changes, a batch is spoilt, a candidate is worse in use than the log could tell. The clock is this script's own,
and the same seed gives the same weeks.
"""

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from examples.learning.chart import Day, Event, chart
from examples.learning.planted import CHANGED_ON, SpoiltTrainer, scenes_on, worse_in_use

from whet.agents.catalogue import agent_named
from whet.bootstrap import assembly
from whet.bootstrap.candidates import rolled_out
from whet.bootstrap.drifting import Changes, changes
from whet.bootstrap.learning import pipeline
from whet.bootstrap.site import Site, open_site
from whet.core.candidates import Candidate
from whet.core.ports import PolicySource, Store
from whet.improvement.rehearsal import Rehearsal, Scene, scenes_of
from whet.improvement.world import shipped

AGENT, WORLD, START = "test-executor", "shop/test-executor", datetime(2026, 1, 5, tzinfo=UTC)
RUNS_A_DAY, DAYS = 200, 24
# In place of the digest of Whet's sources, by which runs would fall to other sides with every change of them.
CODE = "demonstration"
SETTINGS = """\
[project]
name = "demo-learning"

[tool.whet]
seed = {seed}

# A policy that goes on exploring as if everything were new: that is what a trained one has to beat. It takes every
# action often enough for the log to tell what another policy would have earned.
[tool.whet.q_learning]
exploration = "epsilon-greedy"
epsilon_strategy = "exponential"
initial_epsilon = 0.5
epsilon_decay = 1.0

[tool.whet.learn]
min_experiences = 1500
holdout = 0.5

[tool.whet.production]
min_samples = 30
min_decisions = 90
probation_hours = 72.0
"""


@dataclass
class Weeks:
    site: Site
    store: Store
    rng: np.random.Generator
    scenes: list[Scene]
    found: Changes = field(default_factory=lambda: Changes((), {}))
    runs_a_day: int = RUNS_A_DAY
    days: list[Day] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def live(self, day: int) -> None:
        """A day of runs, then the night's learning."""
        if day == CHANGED_ON:
            self._tell(day, "planted: the project changes, what paid best now pays least", "drift")
        effect = partial(worse_in_use, self.store.candidates.all(AGENT))
        rehearsal = Rehearsal(agent_named(AGENT), self.store, self._policies(), self.rng)
        rewards = []
        for run in range(self.runs_a_day):
            at = START + timedelta(days=day, minutes=run * 1440 / self.runs_a_day)
            lived = rehearsal.run(scenes_on(day, self.scenes), f"day-{day:02}-run-{run:03}", at, effect)
            rewards += [each.reward.credited for each in lived]
        self.days.append(Day(day, float(np.mean(rewards))))
        self._learn(day)

    def _policies(self) -> "partial[PolicySource]":
        """As a visit puts them together, but that drift is looked for once a day."""
        models, doubted = self.site.state_dir / assembly.MODELS, self.found.reopened
        shelf = assembly.shelf(self.site.settings, self.store, self.seed, models, doubted)
        return partial(rolled_out, self.site, self.store, shelf, self.seed, print, doubted)

    @property
    def seed(self) -> int:
        return self.site.settings.seed or 0

    def _learn(self, day: int) -> None:
        before = {each.number: each for each in self.store.candidates.all()}
        with pipeline(self.site, self.store) as learning:
            trainer = SpoiltTrainer(self.site, self.store, learning.registry, code=CODE)
            spoiling = replace(learning, workshop=trainer)
            for _ in spoiling.tick(START + timedelta(days=day + 1)):
                pass
        self.found = changes(self.store, (AGENT,))
        for drift in self.found.drifts:
            if drift.at >= START + timedelta(days=day):  # earlier ones were told
                self._tell(day, drift.sentence, "drift")
        for candidate in reversed(self.store.candidates.all()):
            self._tell_move(day, before.get(candidate.number), candidate)

    def _tell_move(self, day: int, before: Candidate | None, now: Candidate) -> None:
        if before is None or (before.stage, before.share) != (now.stage, now.share):
            told = now.why or f"candidate {now.number} is trained"
            named = told if f"andidate {now.number}" in told else f"candidate {now.number} {now.stage.value}: {told}"
            self._tell(day, named, now.stage.value)

    def _tell(self, day: int, told: str, kind: str) -> None:
        self.events.append(Event(day, told, kind))
        print(f"day {day:2}  {told[:200]}", flush=True)


@contextmanager
def begun(folder: Path, seed: int, settings: str = SETTINGS, runs_a_day: int = RUNS_A_DAY) -> Iterator[Weeks]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(settings.format(seed=seed))
    site = open_site(folder)
    world = next(each for each in shipped() if each.name == WORLD)
    with site.store() as store:
        scenes = scenes_of(world, assembly.valuing(site.settings))
        yield Weeks(site, store, np.random.default_rng(seed), scenes, runs_a_day=runs_a_day)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="made anew")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=DAYS)
    asked = parser.parse_args()
    with begun(asked.folder, asked.seed) as weeks:
        for day in range(asked.days):
            weeks.live(day)
        (asked.folder / "weeks.svg").write_text(chart(weeks.days, weeks.events))
    print(f"\nPicture: {asked.folder / 'weeks.svg'}   Look around: whet models -C {asked.folder}")


if __name__ == "__main__":
    main()
