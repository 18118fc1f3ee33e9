"""What is gained when a failure changes what runs next, against the order made before the run?"""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.ordering_history import Cycle, History
from benchmarks.ordering_replay import BUDGET_SHARE, Positions, Scores, average, shuffled, what_ran
from benchmarks.ordering_whet import Executions, OursForWholeRuns, failed, in_place

from whet.skills.ordering import metrics

AfterFailure = Callable[[Sequence[str], Sequence[str], Sequence[str]], list[str]]


def reranking(history: History, seed: int = 0) -> dict[str, Any]:
    """On the failing cycles with at least two failing executions: with one there is nothing left to find sooner."""
    ours = OursForWholeRuns(history)
    static: list[Scores] = []
    dynamic: list[Scores] = []
    for shown in shuffled(history, seed):
        executions = ours.executions(shown.tests)
        tests = [ranked.test for ranked in ours.rank(list(executions))]
        order = in_place(tests, executions)
        if shown.failed.sum() > 1:
            again = reranked(tests, shown, executions, ours.orderer.after_failure)
            static.append(_scores(shown, order))
            dynamic.append(_scores(shown, in_place(again, executions)))
        ours.learn(shown.number, what_ran(shown, order, "full"))
    return {"cycles": len(static), "static": average(static), "reranked": average(dynamic)}


def reranked(tests: Sequence[str], shown: Cycle, executions: Executions, after_failure: AfterFailure) -> list[str]:
    """The order in which the tests really run when each failure may change it."""
    left, done = list(tests), {True: list[str](), False: list[str]()}
    run: list[str] = []
    while left:
        test = left.pop(0)
        run.append(test)
        done[failed(test, shown, executions)].append(test)
        if done[True] and done[True][-1] == test and left:
            left = _checked(after_failure(done[True], done[False], left), left)
    return run


def _checked(answer: list[str], left: Sequence[str]) -> list[str]:
    if sorted(answer) != sorted(left):
        raise ValueError("after_failure must return every test that is left exactly once")
    return list(answer)


def _scores(shown: Cycle, order: Positions) -> Scores:
    seconds, failures = shown.seconds[order], shown.failed[order]
    return {
        "napfd": metrics.napfd(seconds, failures, BUDGET_SHARE),
        "apfd": metrics.apfd(failures),
        "apfdc": metrics.apfdc(seconds, failures),
        "second_time": metrics.failure_time_share(seconds, failures, 2),
        "last_time": metrics.failure_time_share(seconds, failures, -1),
    }
