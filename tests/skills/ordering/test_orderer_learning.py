"""The orderer learns tiny problems whose answer is known."""

import math

import numpy as np
import pytest
from tests.skills.ordering.made_sheets import learned, names, sheet, taught

from whet.core.sheets import UNKNOWN_NEARNESS
from whet.skills.ordering import Goal, Orderer, experts


def order(
    orderer: Orderer, tests: list[str], nearness: dict[str, float] | None = None, goal: Goal = Goal.WHOLE_RUN
) -> list[str]:
    return [one.test for one in orderer.rank(tests, nearness, goal)]


@pytest.mark.parametrize("count", range(3, 12))
def test_an_always_failing_test_moves_to_the_front(count: int) -> None:
    """Whichever expert is drawn."""
    assert order(taught(["pppppppf"] * count), names(8))[0] == "t7"


def test_what_failed_last_comes_before_what_failed_long_ago() -> None:
    orderer = taught(["fppp", *["pppp"] * 6, "pppf", "pppp"])
    assert order(orderer, names(4))[:2] == ["t3", "t0"]


def test_a_failure_pulls_its_companions_forward() -> None:
    orderer = taught(["fpppf", "ppppp"] * 3)
    assert orderer.after_failure(["t0"], ["t1"], ["t2", "t3", "t4"]) == ["t4", "t2", "t3"]
    assert orderer.after_failure(["t4", "t1"], [], ["t2", "t3", "t0"]) == ["t2", "t3", "t0"]  # the last failure counts
    assert orderer.after_failure([], ["t1"], ["t2", "t4"]) == ["t2", "t4"]
    assert orderer.after_failure(["unheard of"], [], ["t2", "t2", "t4"]) == ["t2", "t2", "t4"]
    assert orderer.after_failure(["t0"], [], []) == []


def test_a_rare_companion_stays_where_it_is() -> None:
    orderer = taught(["fpf", *["fpp"] * 8])  # once in nine failures and two more: below a fifth
    assert orderer.after_failure(["t0"], [], ["t1", "t2"]) == ["t1", "t2"]


def test_a_near_test_that_never_failed_comes_first() -> None:
    orderer = taught(["fppppppp", *["pppppppp"] * 40])
    assert order(orderer, names(8), {"t5": 0.9, "t0": 0.0})[0] == "t5"


def test_the_expert_that_is_right_is_trusted() -> None:
    """What fails is always what is near, and never what failed before."""
    near = [bytes(90 if i == at else 0 for i in range(8)) for at in range(8)]
    rows = ["".join("f" if i == at else "p" for i in range(8)) for at in range(8)]
    orderer = learned(sheet(rows[n % 8], nearness=near[n % 8]) for n in range(80))
    for goal in Goal:
        weights = orderer.weights(goal)
        assert sum(weights[name] for name in ("recently failed", "decayed failures", "failure rate")) < 0.01


def seen(orderer: Orderer, near: bool) -> experts.View:
    at = orderer.columns.places(names(3))
    nearness = np.full(3, 0.5) if near else None
    return experts.view(orderer.columns, orderer.hazard, at, orderer.sheets, nearness, np.zeros(3))


def drawn(orderer: Orderer, goal: Goal, near: bool, draws: int = 50) -> set[str]:
    found = set()
    for orderer.sheets in range(draws):
        found.add(orderer.expert(goal, seen(orderer, near)))
    return found


@pytest.mark.parametrize("goal", list(Goal))
def test_the_weights_say_who_orders(goal: Goal) -> None:
    orderer = Orderer()
    hedge = orderer.hedges[goal]
    hedge.learn({name: float(name != "failure rate") for name in hedge.names})
    for _ in range(60):
        hedge.learn({name: 0.2 if name == "failure rate" else 0.9 for name in hedge.names})
    assert drawn(orderer, goal, near=True) == {"failure rate"}


def test_nobody_goes_by_nearness_when_no_change_is_known() -> None:
    orderer = Orderer()
    hedge = orderer.hedges[Goal.BUDGET]
    hedge.learn(dict.fromkeys(hedge.names, 0.5))
    # Its prior is one in five hundred.
    assert "near the change" not in drawn(orderer, Goal.BUDGET, near=False, draws=3000)
    assert "near the change" in drawn(orderer, Goal.BUDGET, near=True, draws=3000)


def test_while_selections_leave_tests_out_only_those_order_that_look_again() -> None:
    orderer = taught(["ppp"])
    orderer.learn(sheet("pp-", complete=False))
    assert drawn(orderer, Goal.BUDGET, near=True) == {experts.LIKELIEST, "likeliest that fit"}
    assert len(drawn(orderer, Goal.WHOLE_RUN, near=True)) > 2
    orderer.learn(sheet("ppp"))
    assert len(drawn(orderer, Goal.BUDGET, near=True)) > 2


def selected(left_out: str) -> Orderer:
    """A long test fails every time, three short ones mostly; a sixth test is left out, or not there at all."""
    rows = ["ffffp", "fffpp", "ffpfp", "fpffp"] * 10
    seconds = [4.0, 1.0, 1.0, 1.0, 1.0, 1.0][: 5 + len(left_out)]
    return learned(sheet(row + left_out, seconds=seconds, complete=False) for row in rows)


def test_a_selection_judges_who_would_have_found_most_in_half_of_what_ran() -> None:
    """The long one takes that half by itself, and in the same time two or three of the short ones are found."""
    orderer = selected(left_out="-")
    weights = orderer.weights(Goal.BUDGET)
    assert weights["likeliest that fit"] > weights[experts.LIKELIEST]
    assert orderer.weights(Goal.WHOLE_RUN) == Orderer().weights(Goal.WHOLE_RUN)


def test_what_was_asked_for_by_name_judges_nobody() -> None:
    assert selected(left_out="").weights(Goal.BUDGET) == Orderer().weights(Goal.BUDGET)


def test_each_goal_judges_by_its_own_measure() -> None:
    """A test of middling length fails every time, a short one now and then: within a budget the surer comes first, in a
    whole run the one that costs next to nothing."""
    outcomes = ["fpp", "fpp", "ffp", "fpp"] * 10
    orderer = learned(sheet(row, seconds=[4.0, 0.1, 6.0]) for row in outcomes)
    assert order(orderer, names(3), goal=Goal.BUDGET)[0] == "t0"
    assert order(orderer, names(3), goal=Goal.WHOLE_RUN)[0] == "t1"


def test_runs_in_which_orders_do_not_differ_say_nothing_about_the_experts() -> None:
    orderer = taught(["fppp"])
    before = orderer.weights()
    for outcomes in ("pppp", "ssss", "ffff", "f", "xXsp"):
        orderer.learn(sheet(outcomes))
    orderer.learn(sheet("pppf", complete=False))  # what was left out might have failed sooner
    assert orderer.weights() == before


def test_the_promise_counts_whole_failing_runs_of_enough_tests_alone() -> None:
    orderer = taught(["fppppp", "pppppp", "ssssss", "fpppp"])
    assert orderer.promise.failing_runs == 1
    orderer.learn(sheet("fppppp", complete=False))  # what was asked for by name, say: nothing was left out
    assert (orderer.promise.failing_runs, orderer.promise.selections) == (1, 0)


def test_the_promise_counts_a_failure_once_and_its_repetitions_as_such() -> None:
    orderer = taught(["fppppp", "fppppp", "ffpppp", "pppppp", "fppppp", "pfpppp"])
    assert [incident.runs for incident in orderer.promise.incidents] == [3, 1, 1]


def test_selections_count_until_a_whole_run_of_enough_tests() -> None:
    orderer = taught(["fppppp"])
    for row in ("fpppp-", "ppppp-", "pppp-"):  # the last is of too few tests
        orderer.learn(sheet(row, complete=False))
    orderer.learn(sheet("ppppp"))
    assert (orderer.promise.failing_runs, orderer.promise.selections) == (2, 2)
    orderer.learn(sheet("pppppp"))
    assert orderer.promise.selections == 0
    orderer.learn(sheet("ppppp-", complete=False))
    orderer.learn(sheet("pppppf"))
    assert orderer.promise.incidents[-1].stands_for == 2


def test_the_promise_goes_by_the_order_that_was_given() -> None:
    orderer = taught(["pppppppf"] * 20 + ["pppppppp"])
    for row in ("fppppppp", "ppfppppp"):
        given = order(orderer, names(8), goal=Goal.BUDGET)
        failing = names(8)[row.index("f")]
        orderer.learn(sheet(row))
        assert orderer.promise.incidents[-1].share == (given.index(failing) + 1) / 8


def test_skipped_tests_did_not_run() -> None:
    orderer = taught(["ps"] * 5)
    told = {one.test: one for one in orderer.rank(names(2))}
    assert told["t1"] == ("t1", "was skipped so far", None, None)
    assert told["t0"].expected_seconds == 1.0


def test_nothing_is_invented_about_new_tests() -> None:
    assert [one[2:] for one in Orderer().rank(["a", "b"])] == [(None, None)] * 2
    untimed = learned([sheet("pf", seconds=[math.nan, 2.0])]).rank(names(2))
    assert {one.test: one.expected_seconds for one in untimed} == {"t0": None, "t1": 2.0}


def test_a_flaky_test_counts_less_than_one_that_fails_for_a_reason() -> None:
    rows = ["ffp", "ppp"] * 3
    flaky = learned(sheet(row, code_version=str(n // 2)) for n, row in enumerate(rows))
    real = learned(sheet(row, code_version=str(n)) for n, row in enumerate(rows))
    assert flaky.columns.flakes[:3].tolist() == [3, 3, 0]  # red, then green on the same code; three times
    assert real.columns.flakes[:3].tolist() == [0, 0, 0]
    likely = [{one.test: one.likelihood for one in orderer.rank(names(3))}["t0"] for orderer in (flaky, real)]
    assert likely[0] == pytest.approx((likely[1] or 0) * 0.25)  # 1 − 3 / (3 + 1)


def test_unknown_nearness_is_not_nearness() -> None:
    orderer = learned([sheet("fp", nearness=bytes([UNKNOWN_NEARNESS, 50]))])
    assert orderer.rank(["t0"], {"other": 1.0})[0].likelihood == pytest.approx(orderer.rank(["t0"])[0].likelihood)


def test_what_selections_leave_out_comes_back() -> None:
    """Two tests alike, of which a selection runs one: the other's turn comes."""
    orderer = taught(["pp"] * 5)
    for _ in range(5):
        orderer.learn(sheet("p-", complete=False))
    told = {one.test: one.likelihood or 0.0 for one in orderer.rank(names(2))}
    assert told["t1"] > 2 * told["t0"]
    assert order(orderer, names(2)) == ["t1", "t0"]


def test_a_run_of_some_tests_does_not_say_that_the_others_were_left_out() -> None:
    """`pytest -k one` is no selection of ours."""
    asked, alone = taught(["pp"] * 5), taught(["pp"] * 5)
    for _ in range(5):
        asked.learn(sheet("p", ["t0"], complete=False))
    assert [one.likelihood for one in asked.rank(["t1"])] == [one.likelihood for one in alone.rank(["t1"])]


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("count", range(6, 16))
def test_what_is_skipped_every_time_does_not_stay_new(count: int, goal: Goal) -> None:
    """Whichever expert is drawn, it comes after what failed lately; and, asked for the first time, as new as any."""
    orderer = taught([*["psppp"] * (count - 2), "fsppp", "psppp"])
    ranked = orderer.rank([*names(5), "new"], goal=goal)
    places = {one.test: place for place, one in enumerate(ranked)}
    assert places["t1"] > max(places["t0"], places["new"])
    skipped = ranked[places["t1"]]
    assert skipped.reason == "was skipped so far"
    assert skipped.likelihood is None


def test_a_skip_says_nothing_of_a_test_that_ran() -> None:
    skipped, never_named = learned([sheet("fp"), sheet("ss")]), taught(["fp"])
    for name, column in never_named.columns.arrays().items():
        assert (skipped.columns.arrays()[name] == column).all(), name


def test_what_runs_at_last_is_counted_from_there() -> None:
    columns = taught([*["sp"] * 5, "pp"]).columns
    assert columns.met[columns.places(["t0"])] == 1
