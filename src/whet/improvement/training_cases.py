"""Test cases as a subject of training: which one to run next, learned from what running them shows."""

import hashlib
from collections.abc import Sequence

from whet.improvement.cases import Case, label, require_executable, require_outcomes, split
from whet.improvement.cases_environment import CANDIDATES, CaseEnvironment
from whet.improvement.cases_running import Recorded, Runner
from whet.improvement.training_record import Order
from whet.improvement.training_subject import Subject

# Of the cases; what is learned is judged on those.
HELD_OUT = 1 / 3
# How many requests a sitting may send; where a case needs more, as many as the longest.
BUDGET = 24


def trained_on(cases: Sequence[Case], runner: Runner | None) -> tuple[list[Case], Runner]:
    """Without a service, only cases whose outcomes were written down: a reward for others would be invented."""
    if runner is None:
        require_outcomes(cases)
        runner = Recorded(cases)
    else:
        cases = require_executable(cases)
    return split(cases, HELD_OUT)[0], runner


def digest(cases: Sequence[Case]) -> str:
    return hashlib.sha256("\n".join(case.key for case in cases).encode()).hexdigest()


def told(cases: Sequence[Case]) -> str:
    return str(label(cases))


def subject_of_cases(
    cases: Sequence[Case], runner: Runner, order: Order, budget: int = BUDGET, candidates: int = CANDIDATES
) -> Subject:
    from whet.improvement.cases_learner import CandidatePPO, new_learner

    budget = max(budget, *(len(case.steps) for case in cases))
    environments = [CaseEnvironment(cases, runner, budget, candidates=candidates) for _ in range(order.environments)]
    return Subject(environments, lambda: new_learner(order.steps, order.seed, candidates), CandidatePPO.open)
