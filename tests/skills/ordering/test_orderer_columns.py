"""What is remembered of each test, against numbers worked by hand."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import unhurried

from whet.skills.ordering.columns import Columns


def ran(columns: Columns, test: str, outcomes: str, sheet: int = 0) -> int:
    """One run of one test, in a sheet that may hold it several times; gives its place."""
    at = columns.meet([test] * len(outcomes))
    columns.run(at, np.array([letter == "f" for letter in outcomes]), sheet)
    return int(at[0])


def timed(columns: Columns, test: str, seconds: float, failed: bool = False) -> int:
    at = columns.meet([test])
    columns.time(at, np.array([failed]), np.array([seconds]))
    return int(at[0])


@pytest.mark.parametrize(
    ("runs", "slow", "fast"),
    [
        ([], 0.5, 0.5),  # as likely as not
        (["p"], 0.35, 0.25),  # 0.7 × 0.5; 0.5 × 0.5
        (["f"], 0.65, 0.75),  # 0.35 + 0.3; 0.25 + 0.5
        (["f", "p"], 0.455, 0.375),
        (["p", "f"], 0.545, 0.625),
        (["fp"], 0.5, 0.5),  # half of its executions failed: 0.49 × 0.5 + 0.51 × 0.5
        (["ff"], 0.755, 0.875),  # as two runs: 0.49 × 0.5 + 0.51
    ],
)
def test_failures_fade_with_every_run(runs: list[str], slow: float, fast: float) -> None:
    columns = Columns()
    place = int(columns.meet(["t"])[0])
    for number, outcomes in enumerate(runs):
        ran(columns, "t", outcomes, number)
    assert columns.slow[place] == pytest.approx(slow)
    assert columns.fast[place] == pytest.approx(fast)


@pytest.mark.parametrize(
    ("runs", "streak", "failed_run", "failed_sheet", "failures"),
    [
        ("p", -1, -1, -1, 0),
        ("pp", -2, -1, -1, 0),
        ("ff", 2, 2, 1, 2),
        ("ffp", -1, 2, 1, 2),
        ("pf", 1, 2, 1, 1),
        ("fppf", 1, 4, 3, 2),
    ],
)
def test_streaks_and_the_last_failure(
    runs: str, streak: float, failed_run: float, failed_sheet: float, failures: float
) -> None:
    columns = Columns()
    for number, outcome in enumerate(runs):
        place = ran(columns, "t", outcome, number)
    assert (columns.streak[place], columns.failed_run[place]) == (streak, failed_run)
    assert (columns.failed_sheet[place], columns.failures[place]) == (failed_sheet, failures)
    assert (columns.runs[place], columns.seen_sheet[place]) == (len(runs), len(runs) - 1)


@pytest.mark.parametrize("outcomes", ["fpp", "f" + 48 * "p"], ids=["one of three", "one of forty-nine"])
def test_a_test_that_failed_now_and_then_in_one_sheet_failed_as_often_as_it_did(outcomes: str) -> None:
    columns = Columns()
    place = ran(columns, "t", outcomes)
    assert columns.failures[place] == outcomes.count("f")
    assert columns.failed_run[place] > 0


def test_expected_seconds_are_the_mean_of_the_first_runs_and_follow_the_newest_later() -> None:
    columns = Columns()
    seen = []
    for seconds in (4.0, 2.0, 0.0, 12.0):
        place = timed(columns, "t", seconds)
        seen.append((columns.mean_seconds[place], columns.recent_seconds[place]))
    assert seen == [pytest.approx(pair) for pair in ((4, 4), (3, 3), (2, 2), (4.5, 5.0))]  # 2 + 0.3 × (12 − 2)


def test_failing_runs_have_an_expected_duration_of_their_own() -> None:
    columns = Columns()
    place = timed(columns, "t", 1.0)
    assert columns.failing_seconds[place] == -1
    timed(columns, "t", 10.0, failed=True)
    timed(columns, "t", 20.0, failed=True)
    timed(columns, "t", 1.0)
    assert columns.failing_seconds[place] == pytest.approx(13.0)  # 10 + 0.3 × (20 − 10)


def test_unknown_seconds_teach_nothing() -> None:
    columns = Columns()
    place = timed(columns, "t", math.nan, failed=True)
    assert columns.typical_seconds() is None
    assert (columns.timed[place], columns.failing_seconds[place]) == (0, -1)


def test_what_is_typical_is_the_mean_over_timed_tests() -> None:
    columns = Columns()
    for seconds in (1.0, 3.0):
        timed(columns, "often", seconds)
    timed(columns, "once", 10.0)
    timed(columns, "never", math.nan)
    assert columns.typical_seconds() == pytest.approx(6.0)  # of 2 and 10


def test_a_selection_counts_what_it_left_out_until_that_runs() -> None:
    columns = Columns()
    at = columns.meet(["in", "out"])
    for _ in range(2):
        columns.run(at[:1], np.array([False]), 0)
        columns.pass_over(at[1:])
    assert columns.passed_over[at].tolist() == [0, 2]
    columns.run(at[1:], np.array([False]), 2)
    assert columns.passed_over[at].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("runs", "onsets"),
    [(["p"], 0), (["f"], 1), (["f", "f", "f"], 1), (["f", "f", "p", "f"], 2), (["p", "ff"], 1), (["p", "fp", "f"], 1)],
)
def test_failures_in_a_row_began_once(runs: list[str], onsets: int) -> None:
    columns = Columns()
    for number, outcomes in enumerate(runs):
        place = ran(columns, "t", outcomes, number)
    assert columns.onsets[place] == onsets


def test_many_tests_keep_what_was_learned_of_the_first() -> None:
    columns = Columns()
    first = ran(columns, "t0", "f")
    at = columns.meet([f"t{i}" for i in range(1000)])
    assert sorted(at.tolist()) == list(range(1000))
    assert columns.failures[at].tolist() == [1.0] + 999 * [0.0]
    assert columns.slow[first] == pytest.approx(0.65)
    assert set(columns.slow[at[1:]].tolist()) == {0.5}


def test_one_that_was_never_met_is_as_at_the_start_and_stays_unmet() -> None:
    columns = Columns()
    for count in (1, 63, 64, 65):  # also where there is just room for those that were met
        columns.meet([f"t{i}" for i in range(count)])
        at = columns.places(["t0", "stranger", "other"])
        assert at.tolist() == [0, count, count]
        assert {name: column[at[1]] for name, column in columns._columns.items()} == Columns.START
        assert "stranger" not in columns.place


def test_it_has_no_other_columns() -> None:
    with pytest.raises(AttributeError, match="luck"):
        Columns().luck  # noqa: B018


EXECUTIONS = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 64)), min_size=1, max_size=12)


@unhurried
@given(st.lists(EXECUTIONS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_executions_within_a_sheet_does_not_matter(
    history: list[list[tuple[str, bool, int]]], random: Random
) -> None:
    straight, mixed = Columns(), Columns()
    for columns in (straight, mixed):
        columns.meet(["a", "b", "c"])
    for number, executions in enumerate(history):
        shuffled = list(executions)
        random.shuffle(shuffled)
        for columns, told in ((straight, executions), (mixed, shuffled)):
            at = columns.meet([test for test, _, _ in told])
            failed = np.array([bad for _, bad, _ in told])
            columns.run(at, failed, number)
            columns.time(at, failed, np.array([float(seconds) for _, _, seconds in told]))
    for name, column in straight.arrays().items():
        assert mixed.arrays()[name].tolist() == column.tolist(), name


@unhurried
@given(st.lists(EXECUTIONS, max_size=6))
def test_weights_stay_shares_and_counts_add_up(history: list[list[tuple[str, bool, int]]]) -> None:
    columns = Columns()
    for number, executions in enumerate(history):
        at = columns.meet([test for test, _, _ in executions])
        columns.run(at, np.array([bad for _, bad, _ in executions]), number)
    kept = columns.arrays()
    for name in ("slow", "fast"):
        assert ((kept[name] >= 0) & (kept[name] <= 1)).all()
    assert kept["runs"].sum() == sum(map(len, history))
    assert kept["failures"].sum() == pytest.approx(sum(bad for row in history for _, bad, _ in row))
    assert (kept["failures"] <= kept["runs"] + 1e-9).all()


def test_columns_of_another_version_are_refused() -> None:
    arrays = Columns().arrays()
    with pytest.raises(ValueError, match="not the columns"):
        Columns().restore(["t"], arrays)
    arrays.pop("flakes")
    with pytest.raises(ValueError, match="not the columns"):
        Columns().restore([], arrays)
