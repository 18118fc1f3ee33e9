"""The experts' scores, against numbers worked by hand."""

import math

import numpy as np
import pytest

from whet.skills.ordering import experts
from whet.skills.ordering.columns import Column, Columns, Places
from whet.skills.ordering.experts import Goal, View
from whet.skills.ordering.hazard import Hazard


def seen(columns: Columns, at: Places, near: list[float] | None = None, sheet: int = 9) -> View:
    nearness = None if near is None else np.array(near)
    return experts.view(columns, Hazard(), at, sheet, nearness, np.zeros(len(at)))


def made(**changes: Column | list[float] | bool) -> View:
    """Three tests of which nothing sets one apart, but for the changes."""
    same = {name: np.ones(3) / 4 for name in View._fields} | {"nearness": None, "by_change": False, "selecting": False}
    given = {name: value if isinstance(value, bool) else np.array(value) for name, value in changes.items()}
    return View(**{**same, **given})  # type: ignore[arg-type]


def order(name: str, view: View) -> list[int]:
    scores = experts.score(name, view).tolist()
    return sorted(range(len(scores)), key=lambda place: -scores[place])


def test_history_is_the_hazard_and_the_decayed_failures_together() -> None:
    columns = Columns()
    view = seen(columns, columns.meet(["t"]))
    assert view.probability[0] == pytest.approx(0.3**0.2 * 0.501**0.8)
    assert view.evidence[0] == 0.5


@pytest.mark.parametrize(
    ("flakes", "failures", "trusted"), [(0, 3, 1.0), (1, 1, 0.5), (1, 3, 0.75), (2, 1, 0.5), (9, 3, 0.25)]
)
def test_failures_on_equal_code_count_less(flakes: float, failures: float, trusted: float) -> None:
    columns = Columns()
    at = columns.meet(["t"])
    columns.failures[at] = failures
    steady = seen(columns, at).probability[0]
    columns.flakes[at] = flakes
    assert seen(columns, at).probability[0] == pytest.approx(steady * trusted)


def test_nearness_is_another_way_to_fail() -> None:
    columns = Columns()
    at = columns.meet(["t", "unknown"])
    by_history = seen(columns, at).probability[0]
    view = seen(columns, at, [0.6, math.nan])
    assert view.probability == pytest.approx([1 - (1 - by_history) * 0.4, by_history])
    assert view.evidence.tolist() == [0.6, 0.5]


def test_where_a_change_is_known_it_counts_more_than_a_past_without_failures() -> None:
    columns = Columns()
    at = columns.meet(["far", "near", "new", "unknown"])
    columns.run(at[[0, 1, 3]], np.zeros(3, dtype=bool), 0)
    columns.time(at, np.zeros(4, dtype=bool), np.array([0.001, 0.01, 0.001, 0.05]))
    past = seen(columns, at).probability
    view = seen(columns, at, [0.0, 0.3, 0.0, math.nan])
    assert view.probability[0] <= 0.001 * past[0]
    assert view.probability[[2, 3]] == pytest.approx(past[[2, 3]])
    assert all(
        experts.score(name, view)[1] > experts.score(name, view)[0]
        for name in ("likeliest", "likeliest half^.3", "failures per second")
    )


def test_what_was_left_out_becomes_likelier_every_time() -> None:
    columns = Columns()
    at = columns.meet(["just ran", "once", "twice", "often"])
    for sheet in range(80):
        columns.run(at, np.zeros(4, dtype=bool), sheet)
    columns.passed_over[at] = [0, 1, 2, 1000]
    view = seen(columns, at, sheet=80)
    assert view.selecting
    just_ran, once, twice, often = view.probability.tolist()
    # One failure in a hundred runs, times the runs since somebody looked, and a hundredth for each that it waited.
    assert once / just_ran == pytest.approx((0.02 + 0.01) ** 0.8 / 0.01**0.8)
    assert twice / just_ran == pytest.approx((0.03 + 0.02) ** 0.8 / 0.01**0.8)
    assert twice < often <= 1


def test_a_test_that_fails_now_and_then_stays_before_those_that_never_failed_and_waited() -> None:
    columns = Columns()
    at = columns.meet(["now and then", "never"])
    for sheet in range(100):
        columns.run(at, np.array([sheet % 20 == 0, False]), sheet)
    columns.passed_over[at] = [0, 2]
    view = seen(columns, at, sheet=100)
    assert view.probability[0] > view.probability[1]
    columns.passed_over[at] = [0, 40]
    view = seen(columns, at, sheet=100)
    assert view.probability[0] < view.probability[1]  # but not for ever: its turn comes


def test_one_long_failure_that_is_over_does_not_keep_a_test_before_one_that_fails_again_and_again() -> None:
    columns = Columns()
    at = columns.meet(["once for long", "again and again", "left out"])
    for sheet in range(200):
        columns.run(at, np.array([sheet < 12, sheet % 20 == 0 and sheet < 100, False]), sheet)
    columns.passed_over[at] = [0, 0, 1]
    once, again, _ = seen(columns, at, sheet=200).probability.tolist()
    assert again > once


def test_expected_seconds_are_those_of_failing_runs_where_a_failure_is_likely() -> None:
    columns = Columns()
    at = columns.meet(["failing", "healed", "untimed"])
    columns.time(at[:2], np.array([True, True]), np.array([8.0, 8.0]))
    columns.time(at[:2], np.array([False, False]), np.array([2.0, 2.0]))
    columns.fast[at] = [0.5, 0.4, 0.9]
    assert experts.expected_seconds(columns, at).tolist() == [8.0, 5.0, 5.0]  # recent: 5; typical: 5


def test_expected_seconds_are_never_nothing() -> None:
    columns = Columns()
    at = columns.meet(["quick", "slow"])
    assert experts.expected_seconds(columns, at).tolist() == [1.0, 1.0]
    columns.time(at, np.array([False, False]), np.array([0.0, 10.0]))
    assert experts.expected_seconds(columns, at).tolist() == [0.005, 10.0]


def test_recently_failed_puts_new_tests_before_those_that_never_failed() -> None:
    columns = Columns()
    ran = columns.meet(["long ago", "never", "lately"])
    at = columns.places(["long ago", "never", "new", "lately"])
    for sheet, failed in ((0, [True, False, False]), (3, [False, False, True])):
        columns.run(ran, np.array(failed), sheet)
    view = seen(columns, at, sheet=4)
    assert view.sheets_since_failure.tolist() == [4, math.inf, 0, 1]
    assert order("recently failed", view) == [2, 3, 0, 1]


@pytest.mark.parametrize(
    ("name", "view", "first"),
    [
        ("decayed failures", made(decayed=[0.1, 0.3, 0.2]), [1, 2, 0]),
        ("decayed failures per second", made(decayed=[0.1, 0.3, 0.2], seconds=[1.0, 9.0, 1.0]), [2, 0, 1]),
        ("failure rate", made(rate=[0.1, 0.3, 0.2]), [1, 2, 0]),
        ("co-failures", made(company=[0.0, 0.0, 0.2]), [2, 0, 1]),
        ("near the change", made(nearness=[math.nan, 0.5, 0.3], seconds=[1.0, 5.0, 1.0]), [2, 1, 0]),
        ("failures per second", made(probability=[0.1, 0.3, 0.2], seconds=[1.0, 9.0, 1.0]), [2, 0, 1]),
        # Within a budget the likeliest comes first, whatever it costs.
        ("likeliest", made(probability=[0.1, 0.3, 0.2], seconds=[3.0, 9.0, 4.0]), [1, 2, 0]),
        # Seconds count among the likely alone: 0.3 / 2 < 0.2 / 1, yet 0.1 is not before either.
        ("likeliest^1", made(probability=[0.1, 0.3, 0.2], seconds=[0.4, 2, 1], evidence=[0, 0.6, 0.6]), [2, 1, 0]),
        ("likeliest^.3", made(probability=[0.1, 0.3, 0.2], seconds=[0.4, 2, 1], evidence=[0, 0.6, 0.6]), [1, 2, 0]),
        # What the change alone speaks for goes by seconds too: 0.3 / √9 < 0.24 / √4 < 0.16 / √1.
        ("likeliest", made(probability=[0.16, 0.3, 0.24], seconds=[1, 9, 4], by_change=True), [0, 2, 1]),
        # In a whole run, half of 16 seconds: the second does not fit, nothing is left to go before it.
        ("likeliest half^.03", made(probability=[0.1, 0.3, 0.2], seconds=[3.0, 9.0, 4.0]), [2, 0, 1]),
        # What surely fails comes first at any length.
        ("likeliest half^.03", made(probability=[0.1, 0.3, 0.2], seconds=[3, 9, 4], evidence=[0, 0.5, 0]), [1, 2, 0]),
        # What does not fit goes by failures per second: 0.2 / 6 before 0.3 / 12.
        ("likeliest half^.03", made(probability=[0.3, 0.2, 0.9], seconds=[12.0, 6.0, 0.5]), [2, 1, 0]),
    ],
)
def test_orders(name: str, view: View, first: list[int]) -> None:
    assert order(name, view) == first


def test_the_rate_starts_at_a_half() -> None:
    columns = Columns()
    at = columns.meet(["t"])
    assert seen(columns, at).rate[0] == 0.5
    columns.run(at, np.array([False]), 0)
    assert seen(columns, at).rate[0] == pytest.approx(1 / 3)


def test_nearness_sleeps_while_no_change_is_known() -> None:
    asleep = experts.awake(Goal.BUDGET, made())
    awake = experts.awake(Goal.BUDGET, made(nearness=[0.0, 0.0, math.nan]))
    assert [name for name, on in asleep.items() if not on] == ["near the change"]
    assert all(awake.values())
    with pytest.raises(ValueError, match="near the change"):
        experts.score("near the change", made())
    with pytest.raises(ValueError, match="no expert is called 'coin'"):
        experts.score("coin", made())


def test_every_expert_can_score() -> None:
    for name in {name for goal in Goal for name in experts.priors(goal)}:
        assert len(experts.score(name, made(nearness=[0.1, 0.2, 0.3]))) == 3


@pytest.mark.parametrize("goal", list(Goal))
def test_priors_are_shares_of_one(goal: Goal) -> None:
    assert sum(experts.priors(goal).values()) == pytest.approx(1.0)


def test_within_a_budget_the_plain_one_is_trusted_first() -> None:
    priors = experts.priors(Goal.BUDGET)
    assert priors["likeliest"] > 0.75
    assert max(priors, key=lambda name: priors[name]) == "likeliest"
