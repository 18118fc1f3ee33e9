"""What selection missed and what re-ranking gained, on runs worked by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks.ordering_history import Cycle
from benchmarks.ordering_replay import Ran
from benchmarks.ordering_reranking import reranked, reranking
from benchmarks.ordering_selection import Tally, selection
from tests.benchmarks.recorded import executions, history, never, now_and_then

SHOWN = Cycle(1, np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))
EXECUTIONS = {"a": [0], "b": [1], "c": [2], "d": [3]}


def _ran(*places: int) -> Ran:
    kept = np.array(places, dtype=np.intp)
    return Ran(kept, SHOWN.tests[kept], SHOWN.seconds[kept], SHOWN.failed[kept], len(places) == 4)


def test_a_failing_cycle_is_missed_when_no_failing_execution_ran() -> None:
    tally = Tally()
    for ran in (_ran(0, 1, 2, 3), _ran(0, 1), _ran(0, 2)):
        tally.count(SHOWN, ran)
    told = tally.told()
    assert (told["cycles"], told["failing_cycles"], told["missed_cycles"], told["full_runs"]) == (3, 3, 1, 1)
    assert told["miss_rate"] == pytest.approx(1 / 3)
    assert told["miss_rate_of_selections"] == pytest.approx(1 / 2)
    assert told["missed_executions_share"] == pytest.approx(3 / 6)
    assert told["time_saved"] == pytest.approx(1 - (10 + 3 + 4) / 30)


def test_without_failing_cycles_the_miss_rate_is_unknown(tmp_path: Path) -> None:
    told = selection(history(tmp_path / "some.csv", executions(12, 4, never)))
    assert told["cycles"] == 12
    assert (told["miss_rate"], told["missed_executions_share"]) == (None, None)


def test_every_tenth_cycle_runs_whole_and_the_promise_is_told(tmp_path: Path) -> None:
    told = selection(history(tmp_path / "some.csv", executions(41, 6, now_and_then)))
    assert told["full_runs"] >= 5 + told["full_runs_without_promise"]
    assert (told["promised_risk"], told["full_run_every"]) == (0.05, 10)
    assert 0.0 <= told["time_saved"] < 1.0


def test_a_failure_changes_what_runs_next() -> None:
    asked: list[tuple[list[str], list[str], list[str]]] = []

    def last_first(failed: Sequence[str], passed: Sequence[str], left: Sequence[str]) -> list[str]:
        asked.append((list(failed), list(passed), list(left)))
        return list(reversed(left))

    assert reranked(["a", "b", "c", "d"], SHOWN, EXECUTIONS, last_first) == ["a", "b", "d", "c"]
    assert asked == [(["b"], ["a"], ["c", "d"]), (["b", "d"], ["a"], ["c"])]


def test_a_test_must_not_get_lost_in_re_ranking() -> None:
    with pytest.raises(ValueError, match="exactly once"):
        reranked(["a", "b", "c", "d"], SHOWN, EXECUTIONS, lambda _failed, _passed, left: list(left[1:]))


def test_re_ranking_is_measured_where_there_are_two_failures(tmp_path: Path) -> None:
    recorded = history(tmp_path / "some.csv", executions(30, 10, now_and_then, again=0.2))
    told = reranking(recorded)
    assert told["cycles"] == sum(cycle.failed.sum() > 1 for cycle in recorded.cycles) > 0
    assert set(told["static"]) == set(told["reranked"]) == {"napfd", "apfd", "apfdc", "second_time", "last_time"}
