"""Every measure of an order against numbers worked by hand, what must always hold, and a neutral implementation."""

import math
from collections.abc import Callable
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmarks.yardstick import load_yardstick

from whet.skills.ordering import metrics

Columns = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]
OfRun = Callable[[npt.NDArray[np.float64], npt.NDArray[np.bool_]], float]
# 10 seconds in all; the failures begin after 4 and after 8 seconds.
SECONDS, FAILED = np.array([4.0, 1.0, 3.0, 2.0]), np.array([False, True, False, True])


def test_the_walk_passes_over_what_does_not_fit_and_goes_on() -> None:
    assert metrics.runs_within(np.array([6.0, 3.0, 4.0, 2.0]), 5.5).tolist() == [False, True, False, True]


def test_rounding_alone_does_not_exceed_a_budget() -> None:
    assert 0.1 + 0.2 > 0.3
    assert metrics.runs_within(np.array([0.1, 0.2]), 0.3).tolist() == [True, True]


def test_apfd_by_hand() -> None:
    assert metrics.apfd(FAILED) == pytest.approx(1 - (2 + 4) / 8 + 1 / 8)


def test_napfd_by_hand() -> None:
    # within 5 seconds only the first two run; of the two failures one is found, at rank 2
    assert metrics.napfd(SECONDS, FAILED, 0.5) == pytest.approx(0.5 - 2 / 8 + 0.5 / 8)
    assert metrics.recall(SECONDS, FAILED, 0.5) == 0.5


def test_ranks_count_only_what_ran() -> None:
    # of 11 seconds 5.5 may be used: the first does not run, the failure is the second that does
    assert metrics.napfd(np.array([6.0, 3.0, 2.0]), np.array([False, False, True]), 0.5) == pytest.approx(
        1 - 2 / 3 + 1 / 6
    )


def test_apfdc_by_hand() -> None:
    assert metrics.apfdc(SECONDS, FAILED) == pytest.approx(((6 - 0.5) + (2 - 1)) / (10 * 2))


def test_time_and_rank_of_each_failure_by_hand() -> None:
    assert [metrics.failure_time_share(SECONDS, FAILED, which) for which in (1, 2, -1)] == [0.5, 1.0, 1.0]
    assert [metrics.failure_rank_share(FAILED, which) for which in (1, 2, -1)] == [0.5, 1.0, 1.0]
    assert math.isnan(metrics.failure_time_share(SECONDS, FAILED, 3))


def test_without_durations_ranks_stand_in_for_time() -> None:
    nothing = np.zeros(4)
    assert metrics.apfdc(nothing, FAILED) == metrics.apfd(FAILED)
    assert metrics.failure_time_share(nothing, FAILED) == metrics.failure_rank_share(FAILED)


@pytest.mark.parametrize("executions", [0, 3])
def test_without_a_failure_nothing_is_measured(executions: int) -> None:
    seconds, failed = np.ones(executions), np.zeros(executions, dtype=np.bool_)
    told = [measure(seconds, failed) for measure in (*_higher_is_better(), *_lower_is_better())]
    assert all(math.isnan(value) for value in told)


_execution = st.tuples(st.integers(0, 50).map(lambda n: n / 8) | st.floats(0.001, 1e6), st.booleans())


@st.composite
def failing_runs(draw: st.DrawFn) -> Columns:
    rows = draw(st.lists(_execution, min_size=1, max_size=12).filter(lambda rows: any(failed for _, failed in rows)))
    return np.array([seconds for seconds, _ in rows]), np.array([failed for _, failed in rows], dtype=np.bool_)


def _higher_is_better() -> tuple[OfRun, ...]:
    return (
        lambda seconds, failed: metrics.napfd(seconds, failed, 0.5),
        lambda seconds, failed: metrics.recall(seconds, failed, 0.5),
        lambda _, failed: metrics.apfd(failed),
        metrics.apfdc,
    )


def _lower_is_better() -> tuple[OfRun, ...]:
    return (
        lambda _, failed: metrics.failure_rank_share(failed),
        metrics.failure_time_share,
        lambda seconds, failed: metrics.failure_time_share(seconds, failed, -1),
    )


@settings(deadline=None)
@given(failing_runs())
def test_no_order_is_better_than_the_best_one(run: Columns) -> None:
    seconds, failed = run
    best = metrics.best_order(seconds, failed)
    for measure in _higher_is_better():
        assert measure(seconds[best], failed[best]) >= measure(seconds, failed) - 1e-9
    for measure in _lower_is_better():
        assert measure(seconds[best], failed[best]) <= measure(seconds, failed) + 1e-9


@settings(deadline=None)
@given(failing_runs(), st.floats(0.0, 1.0))
def test_measures_stay_within_their_bounds(run: Columns, budget_share: float) -> None:
    seconds, failed = run
    for measure in (*_higher_is_better(), *_lower_is_better()):
        assert -1e-9 <= measure(seconds, failed) <= 1 + 1e-9
    assert metrics.napfd(seconds, failed, budget_share) <= metrics.recall(seconds, failed, budget_share)
    assert seconds[metrics.runs_within_share(seconds, budget_share)].sum() <= budget_share * seconds.sum() + 1e-6


@settings(deadline=None)
@given(failing_runs())
def test_with_equal_durations_time_says_what_ranks_say(run: Columns) -> None:
    _, failed = run
    assert metrics.apfdc(np.full(len(failed), 0.7), failed) == pytest.approx(metrics.apfd(failed))


@pytest.fixture(scope="module")
def yardstick() -> ModuleType:
    return load_yardstick()


@settings(deadline=None)
@given(run=failing_runs())
def test_the_neutral_yardstick_measures_the_same(yardstick: ModuleType, run: Columns) -> None:
    seconds, failed = run
    order = [yardstick.Exec(n, n, s, int(f)) for n, (s, f) in enumerate(zip(seconds.tolist(), failed, strict=True))]
    theirs = yardstick.cycle_metrics(order, 0.5)
    assert metrics.napfd(seconds, failed, 0.5) == pytest.approx(theirs["napfd"], abs=1e-12)
    assert metrics.recall(seconds, failed, 0.5) == pytest.approx(theirs["recall"], abs=1e-12)
    assert metrics.apfd(failed) == pytest.approx(theirs["apfd"], abs=1e-12)
    assert metrics.apfdc(seconds, failed) == pytest.approx(theirs["apfdc"], abs=1e-9)
    assert metrics.failure_rank_share(failed) == pytest.approx(theirs["first_rank"], abs=1e-12)
    assert metrics.failure_time_share(seconds, failed) == pytest.approx(theirs["first_time"], abs=1e-9)
