"""The order in which a trained choice runs cases: as far as it is known before any outcome, or outcome by outcome.

    learner = CandidatePPO.open(Path(".whet/models/cases/ppo/learner"))
    order = beforehand(learner, cases)
    for case, verdict in one_by_one(learner, cases, Live("http://127.0.0.1:8000"), requests=24): ...

Each time it chooses among all cases that are left; in training it chose among a few that were drawn.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from whet.improvement.cases import Case
from whet.improvement.cases_environment import CaseEnvironment
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_running import Runner, Verdict


class Executed(NamedTuple):
    case: Case
    verdict: Verdict


def beforehand(learner: CandidatePPO, cases: Sequence[Case]) -> list[Case]:
    """Without outcomes nothing says that two cases show the same fault: copies of a suspicion stand side by side."""
    environment = CaseEnvironment(cases, _Nobody(), requests_of(cases), candidates=len(cases))
    observation, _ = environment.reset(seed=0)
    return [environment.candidate(place) for place in np.argsort(-learner.scores(observation), kind="stable")]


def one_by_one(learner: CandidatePPO, cases: Sequence[Case], runner: Runner, requests: int) -> Iterator[Executed]:
    """Until so many requests were sent, or no case is left that the rest of them allows."""
    environment = CaseEnvironment(cases, runner, requests, candidates=len(cases))
    observation, info = environment.reset(seed=0)
    ended = False
    while not ended:
        best = np.where(info["action_mask"], learner.scores(observation), -np.inf).argmax()
        case = environment.candidate(int(best))
        observation, _, ended, _, info = environment.step(np.int64(best))
        yield Executed(case, info["verdict"])


def requests_of(cases: Sequence[Case]) -> int:
    return sum(max(1, len(case.steps)) for case in cases)


class _Nobody:
    """Runs nothing: it is only asked what would come first."""

    def run(self, case: Case) -> Verdict:
        raise NotImplementedError(case.name)
