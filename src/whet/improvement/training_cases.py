"""Test cases as a subject of training: which one to run next, learned from what running them shows."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from whet.improvement.cases import Case, label, require_differences, require_executable, require_outcomes, split
from whet.improvement.cases_environment import CANDIDATES, CaseEnvironment
from whet.improvement.cases_running import Recorded, Runner
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_subject import Subject

if TYPE_CHECKING:  # it imports torch
    from whet.improvement.cases_evaluation import HeldOut

# Of the cases; what is learned is judged on those.
HELD_OUT = 1 / 3
# How many requests a sitting may send; where a case needs more, as many as the longest.
BUDGET = 24
# Of each way of choosing, when a training is judged: with 24 requests each, the comparison sends at most 984.
SITTINGS = 20


class CaseLesson(NamedTuple):
    training: list[Case]
    held_out: list[Case]
    runner: Runner


def lesson_of(cases: Sequence[Case], runner: Runner | None) -> CaseLesson:
    """Without a service, only cases whose outcomes were written down: a reward for others would be invented."""
    if runner is not None:
        return CaseLesson(*split(require_executable(cases), HELD_OUT), runner)
    require_outcomes(cases)
    training, held_out = split(cases, HELD_OUT)
    require_differences(training)
    return CaseLesson(training, held_out, Recorded(cases))


def judged(lesson: CaseLesson, folder: TrainingFolder) -> "HeldOut | None":
    """What the finished training is worth on the cases it never saw; None: there are none. Kept beside the learner."""
    from whet.improvement.cases_evaluation import compared
    from whet.improvement.cases_learner import CandidatePPO

    if not lesson.held_out:
        return None
    learner, budget = CandidatePPO.open(folder.learner), budget_for(lesson.held_out)
    told = compared(learner, lesson.held_out, lesson.runner, budget, range(SITTINGS))
    folder.tell_held_out(told._asdict())
    return told


def budget_for(cases: Sequence[Case], budget: int = BUDGET) -> int:
    return max([budget, *(len(case.steps) for case in cases)])


def digest(cases: Sequence[Case]) -> str:
    return hashlib.sha256("\n".join(case.key for case in cases).encode()).hexdigest()


def told(cases: Sequence[Case]) -> str:
    return str(label(cases))


def subject_of_cases(
    cases: Sequence[Case], runner: Runner, order: Order, budget: int = BUDGET, candidates: int = CANDIDATES
) -> Subject:
    from whet.improvement.cases_learner import CandidatePPO, new_learner

    allowed = budget_for(cases, budget)
    environments = [CaseEnvironment(cases, runner, allowed, candidates=candidates) for _ in range(order.environments)]
    return Subject(environments, lambda: new_learner(order.steps, order.seed, candidates), CandidatePPO.open)
