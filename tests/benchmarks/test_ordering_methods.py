"""Every method learns a tiny known problem, and meets the protocol of the neutral yardstick."""

from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.ordering import METHODS
from benchmarks.ordering_heuristics import HEURISTICS, Memory, rounds
from benchmarks.ordering_history import Tests
from benchmarks.ordering_replay import Feedback, Method, Optimal, Ran, replay, shuffled
from benchmarks.ordering_retecs import time_ranked
from benchmarks.ordering_whet import Ours
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmarks.recorded import always_the_seventh, executions, history, now_and_then, written
from tests.benchmarks.yardstick import load_yardstick

BY_FAILURES = sorted(set(METHODS) - {"random", "quick_first", "recent_per_time", "decay_per_time"})


@pytest.mark.parametrize("name", BY_FAILURES)
def test_a_test_that_always_fails_moves_to_the_front(tmp_path: Path, name: str) -> None:
    recorded = history(tmp_path / "some.csv", executions(150, 10, always_the_seventh))
    later = frozenset(range(100, 151))
    mean = replay(recorded, METHODS[name], "full", 0).mean(later)
    assert mean is not None
    # by chance it is 0.55; a tenth is the very front; every fifth priority of the tableau is explored
    assert mean["first_rank"] <= (0.25 if name == "retecs_tableau" else 0.15)


@pytest.mark.parametrize("name", list(METHODS))
def test_the_same_seed_gives_the_same_scores(tmp_path: Path, name: str) -> None:
    recorded = history(tmp_path / "some.csv", executions(20, 8, now_and_then, again=0.3))
    one, other = (replay(recorded, METHODS[name], "budget", 3).scores for _ in range(2))
    assert one == other


def test_chance_depends_on_the_seed(tmp_path: Path) -> None:
    recorded = history(tmp_path / "some.csv", executions(20, 8, now_and_then))
    assert (
        replay(recorded, METHODS["random"], "full", 0).scores != replay(recorded, METHODS["random"], "full", 1).scores
    )


def _ran(*rows: tuple[int, float, bool]) -> Ran:
    tests, seconds, failed = zip(*rows, strict=True)
    return Ran(np.arange(len(rows)), np.array(tests), np.array(seconds), np.array(failed), True)


def test_the_memory_of_one_test_by_hand() -> None:
    memory = Memory(2)
    memory.cycle = 4
    memory.learn(_ran((0, 2.0, True), (1, 5.0, False), (0, 4.0, False)))
    assert memory.decayed[0] == pytest.approx(0.7 * (0.7 * 0.5 + 0.3) + 0.0)
    assert memory.last_four[0] == 0b0111  # passed last, failed before, and what is not known counts as failed
    assert (memory.runs[0], memory.failures[0], memory.last_failed[0], memory.last_run[0]) == (2, 1, 4, 4)
    assert memory.expected_seconds(np.array([0, 1])).tolist() == [3.0, 5.0]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=20))
def test_rounds_keep_the_order_and_hold_a_test_once(tests: list[int]) -> None:
    found = [turn.tolist() for turn in rounds(np.array(tests, dtype=np.intp))]
    assert sorted(place for turn in found for place in turn) == list(range(len(tests)))
    for number, turn in enumerate(found):
        assert all(tests[:place].count(tests[place]) == number for place in turn)


def test_time_ranked_rewards_by_hand() -> None:
    failed = np.array([False, True, False, True, False])
    assert time_ranked(failed).tolist() == [0.0, 1.0, 0.5, 1.0, 1.0]
    assert time_ranked(np.zeros(2, dtype=np.bool_)).tolist() == [0.0, 0.0]


def test_ours_places_every_execution_of_a_test_once(tmp_path: Path) -> None:
    recorded = history(tmp_path / "some.csv", executions(3, 6, now_and_then, again=0.5))
    tests = next(shuffled(recorded, 0)).tests
    assert len(set(tests.tolist())) < len(tests)
    assert sorted(Ours(recorded).order(1, tests).tolist()) == list(range(len(tests)))


def test_a_cycle_as_a_sheet_by_hand(tmp_path: Path) -> None:
    recorded = history(tmp_path / "some.csv", executions(1, 3, now_and_then))
    ours = Ours(recorded)
    ran = _ran((2, 2.0, True), (0, 5.0, True), (2, 4.0, False))
    sheet = ours.sheet(7, ran._replace(complete=False))
    assert (sheet.id, sheet.tests, sheet.outcomes) == ("cycle-7", ["test_2", "test_0", "test_2"], "ffp")
    assert (list(sheet.seconds), sheet.complete) == ([2.0, 5.0, 4.0], False)
    ours.learn(7, ran)
    assert ours.sheet(8, ran).at > sheet.at


@pytest.fixture(scope="module")
def yardstick() -> ModuleType:
    return load_yardstick()


@pytest.mark.parametrize("feedback", ["full", "budget"])
@pytest.mark.parametrize("name", [*HEURISTICS, "optimal"])
def test_a_rule_scores_what_the_yardstick_says(
    yardstick: ModuleType, tmp_path: Path, name: str, feedback: Feedback
) -> None:
    path = written(tmp_path / "some.csv", executions(40, 12, now_and_then, again=0.2))
    recorded = history(tmp_path / "same.csv", executions(40, 12, now_and_then, again=0.2))
    theirs = yardstick.replay(yardstick.load(path), yardstick.POLICIES[name](2), 0.5, feedback, 2)
    ours = replay(recorded, METHODS[name], feedback, 2).mean()
    assert ours is not None
    assert ours == pytest.approx({measure: theirs[measure] for measure in ours}, abs=1e-9)


class _AsTheirs:
    """One of our methods as a policy of the yardstick."""

    def __init__(self, method: Method, codes: dict[str, int]) -> None:
        self._method, self._codes = method, codes
        self._places: dict[str, int] = {}

    def order(self, cycle: int, cand: list[tuple[str, str]]) -> list[str]:
        self._places = {exec_id: place for place, (exec_id, _) in enumerate(cand)}
        self._shown = self._tests(cand)
        return [cand[place][0] for place in self._method.order(cycle, self._tests(cand))]

    def _tests(self, cand: list[Any]) -> Tests:
        return np.array([self._codes[row[1]] for row in cand], dtype=np.intp)

    def learn(self, cycle: int, results: list[tuple[str, str, float, int]]) -> None:
        ran = Ran(
            np.array([self._places[row[0]] for row in results], dtype=np.intp),
            self._tests(results),
            np.array([row[2] for row in results]),
            np.array([row[3] > 0 for row in results], dtype=np.bool_),
            len(results) == len(self._places),
            np.setdiff1d(self._shown, self._tests(results)),
        )
        self._method.learn(cycle, ran)


@pytest.mark.parametrize("feedback", ["full", "budget"])
@pytest.mark.parametrize("name", sorted(set(METHODS) - set(HEURISTICS) - {"optimal"}))
def test_a_learner_scores_the_same_in_the_yardsticks_own_replay(
    yardstick: ModuleType, tmp_path: Path, name: str, feedback: Feedback
) -> None:
    path = written(tmp_path / "some.csv", executions(40, 12, now_and_then, again=0.2))
    recorded = history(tmp_path / "same.csv", executions(40, 12, now_and_then, again=0.2))
    codes = {test: code for code, test in enumerate(recorded.tests)}
    policy = _AsTheirs(METHODS[name](recorded, 1), codes)
    theirs = yardstick.replay(yardstick.load(path), policy, 0.5, feedback, 1)
    ours = replay(recorded, METHODS[name], feedback, 1).mean()
    assert ours is not None
    assert ours == pytest.approx({measure: theirs[measure] for measure in ours}, abs=1e-9)


def test_nothing_is_better_than_hindsight(tmp_path: Path) -> None:
    recorded = history(tmp_path / "some.csv", executions(30, 10, now_and_then, again=0.2))
    best = replay(recorded, Optimal, "full", 0).scores
    by_measure = defaultdict(list)
    for name in METHODS:
        for cycle, scores in replay(recorded, METHODS[name], "full", 0).scores.items():
            for measure in ("napfd", "apfd", "apfdc"):
                by_measure[measure].append(best[cycle][measure] - scores[measure])
    assert all(min(gaps) > -1e-9 for gaps in by_measure.values())
