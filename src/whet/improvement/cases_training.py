"""Training on cases while they are executed; after each chapter everything is saved.

    with running_service([sys.executable, "examples/cases/service.py"], cwd=Path.cwd()) as url:
        for measures in train_on_cases(cases, url, CaseOrder(steps=16_000, budget=24, seed=7), folder):
            print(measures)

Each rollout is of the present policy and of answers that have just come back; it is forgotten when it has been learned
from. Nothing is learned from a case that was not executed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from whet.core.records import Count, Record
from whet.improvement.cases import Case, require_executable
from whet.improvement.cases_environment import CANDIDATES, CaseEnvironment
from whet.improvement.cases_learner import CandidatePPO, new_learner
from whet.improvement.cases_running import Live, Recorded, Runner
from whet.policies.deep.gymnasium_steps import gymnasium_steps
from whet.policies.deep.learning import Floats, Steps

Measures = Mapping[str, float]


class CaseOrder(Record):
    """`budget`: requests in a sitting; `steps`: cases executed in training, by all environments together."""

    steps: Annotated[int, Field(ge=1)] = 16_000
    budget: Annotated[int, Field(ge=1)] = 24
    seed: Count = 0
    environments: Annotated[int, Field(ge=1, le=64)] = 8
    candidates: Annotated[int, Field(ge=2, le=256)] = CANDIDATES
    chapter_steps: Annotated[int, Field(ge=1)] = 2048


def train_on_cases(
    cases: Sequence[Case], service: str | None, order: CaseOrder, folder: Path, *, resume: bool = False
) -> Iterator[Measures]:
    """What was measured, chapter by chapter. Without a service there must be outcomes, or it is refused.

    What was saved last is gone on from with `resume`, to the same weights where the service answers the same.
    """
    torch.set_num_threads(1)
    with ExitStack() as opened:
        runners = [_runner(cases, service, opened) for _ in range(order.environments)]
        ready = require_executable(cases) if service else list(cases)
        environments = [CaseEnvironment(ready, each, order.budget, candidates=order.candidates) for each in runners]
        learner = CandidatePPO.open(folder) if resume else new_learner(order.steps, order.seed, order.candidates)
        while learner.steps < order.steps:
            measures = _chapter(learner, environments, order)
            learner.save(folder)
            yield measures


def _runner(cases: Sequence[Case], service: str | None, opened: ExitStack) -> Runner:
    return opened.enter_context(Live(service)) if service else Recorded(cases)


def _chapter(learner: CandidatePPO, environments: list[CaseEnvironment], order: CaseOrder) -> Measures:
    rounds = max(1, min(order.chapter_steps, order.steps - learner.steps) // len(environments))
    seed = int(np.random.SeedSequence([order.seed, learner.steps]).generate_state(1)[0])
    tally = _Tally(len(environments))
    for steps in gymnasium_steps(environments, learner, seed, rounds):
        tally.add(steps, learner.learn(steps))
    return {"total_steps": learner.steps, "rollouts": learner.rollouts, **tally.told()}


class _Tally:
    """Means over the sittings that ended and the improvements that were made."""

    def __init__(self, environments: int) -> None:
        self._found: Floats = np.zeros(environments, dtype=np.float32)
        self._seen: dict[str, list[float]] = {}

    def add(self, steps: Steps, measures: Mapping[str, float]) -> None:
        self._found += steps.rewards
        for place in np.flatnonzero(steps.terminated):
            self._seen.setdefault("causes_found", []).append(float(self._found[place]))
        self._found[steps.terminated | steps.truncated] = 0.0
        for name, value in measures.items():
            self._seen.setdefault(name, []).append(value)

    def told(self) -> Measures:
        return {name: float(np.mean(values)) for name, values in self._seen.items()}
