"""P(flaky), Fisher's test and hints, against numbers worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.ports import ConditionCount
from whet.skills.flakiness import FLAKY_AT, Traits, Verdict, entropy, fisher_greater, flaky_probability, verdicts

counts = st.integers(1, 200)


@pytest.mark.parametrize(
    ("executions", "failures", "green", "red", "flaky"),
    [
        # prior alone
        (0, 0, 0.93, 0.05, 0.02),
        # Beta(1/2, 3): E[1 − p] = 3 / 3.5
        (1, 0, 0.93 * (1 - 1e-5), 0.05 * 1e-5, 0.02 * 6 / 7),
        # E[p] = 0.5 / 3.5
        (1, 1, 0.93 * 1e-5, 0.05 * (1 - 1e-5), 0.02 / 7),
        # E[p (1 − p)] = 0.5 · 3 / (3.5 · 4.5)
        (2, 1, 0.93 * 1e-5 * (1 - 1e-5), 0.05 * 1e-5 * (1 - 1e-5), 0.02 * 2 / 21),
        # E[(1 − p)^2] = 3 · 4 / (3.5 · 4.5)
        (2, 0, 0.93 * (1 - 1e-5) ** 2, 0.05 * 1e-10, 0.02 * 16 / 21),
        # E[p (1 − p)^2] = 0.5 · 3 · 4 / (3.5 · 4.5 · 5.5)
        (3, 1, 0.93 * 1e-5 * (1 - 1e-5) ** 2, 0.05 * 1e-10 * (1 - 1e-5), 0.02 * 16 / 231),
        # E[p^3] = 0.5 · 1.5 · 2.5 / (3.5 · 4.5 · 5.5)
        (3, 3, 0.93 * 1e-15, 0.05 * (1 - 1e-5) ** 3, 0.02 * 5 / 231),
        # E[p^2 (1 − p)^2] = 0.5 · 1.5 · 3 · 4 / (3.5 · 4.5 · 5.5 · 6.5)
        (4, 2, 0.93 * 1e-10 * (1 - 1e-5) ** 2, 0.05 * 1e-10 * (1 - 1e-5) ** 2, 0.02 * 16 / 1001),
    ],
)
def test_bayes_by_hand(executions: int, failures: int, green: float, red: float, flaky: float) -> None:
    assert flaky_probability(executions, failures) == pytest.approx(flaky / (green + red + flaky), rel=1e-9)


def test_one_pass_and_one_failure_are_all_but_proof() -> None:
    assert flaky_probability(2, 1) > FLAKY_AT
    assert flaky_probability(10, 5) > 0.9999


def test_one_failure_in_very_many_may_be_the_machine() -> None:
    assert flaky_probability(1000, 1) < 0.1
    assert flaky_probability(1000, 10) > FLAKY_AT


@given(counts)
def test_passing_again_makes_flakiness_less_likely_never_impossible(passes: int) -> None:
    assert 0.0 < flaky_probability(passes + 1, 0) < flaky_probability(passes, 0)


@given(counts)
def test_failing_again_points_to_a_test_that_always_fails(failures: int) -> None:
    assert 0.0 < flaky_probability(failures + 1, failures + 1) < flaky_probability(failures, failures)


@given(st.integers(1, 5), st.integers(0, 200))
def test_passes_after_few_failures_make_it_less_likely(failures: int, more: int) -> None:
    passes = failures + more
    assert flaky_probability(failures + passes + 1, failures) <= flaky_probability(failures + passes, failures) + 1e-12


@given(counts)
def test_the_first_failure_among_passes_makes_it_more_likely(passes: int) -> None:
    assert flaky_probability(passes + 1, 1) > flaky_probability(passes + 1, 0)


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_it_is_a_probability_however_long_the_record(executions: int, share: float) -> None:
    assert 0.0 <= flaky_probability(executions, int(executions * share)) <= 1.0


@pytest.mark.parametrize(
    ("f1", "n1", "f0", "n0", "p"),
    [
        # all three failures among three of six: 1 / C(6, 3)
        (3, 3, 0, 3, 1 / 20),
        # Fisher's lady tasting tea, three of four right: (16 + 1) / 70
        (3, 4, 1, 4, 17 / 70),
        (4, 4, 0, 4, 1 / 70),
        # one failure, in the first of two equal groups
        (1, 5, 0, 5, 1 / 2),
        # at least none is certain
        (0, 7, 3, 4, 1.0),
        # everything failed everywhere
        (4, 4, 6, 6, 1.0),
        # 2 of 2 against 1 of 3: only this table is as extreme: C(2,2) C(3,1) / C(5,3) = 3/10
        (2, 2, 1, 3, 3 / 10),
    ],
)
def test_fisher_by_hand(f1: int, n1: int, f0: int, n0: int, p: float) -> None:
    assert fisher_greater(f1, n1, f0, n0) == pytest.approx(p)


@given(st.integers(1, 30), st.integers(1, 30), st.data())
def test_fisher_adds_up(n1: int, n0: int, data: st.DataObject) -> None:
    """P(at least f1) in one group and P(at least f0) in the other count the table itself twice and no other."""
    f1, f0 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n0))
    this = math.comb(n1, f1) * math.comb(n0, f0) / math.comb(n1 + n0, f1 + f0)
    assert fisher_greater(f1, n1, f0, n0) + fisher_greater(f0, n0, f1, n1) == pytest.approx(1.0 + this)


def judged(*conditions: tuple[str, int, int], traits: Traits | None = None) -> Verdict:
    return verdicts([ConditionCount("t", c, n, f) for c, n, f in conditions], traits)["t"]


def causes(verdict: Verdict) -> list[str]:
    return [hint.cause for hint in verdict.hints]


def test_a_verdict_takes_all_conditions_together() -> None:
    verdict = judged(("own-order", 10, 0), ("shuffled", 10, 6))
    assert (verdict.executions, verdict.failures) == (20, 6)
    assert verdict.probability == flaky_probability(20, 6)
    assert verdict.flaky


def test_each_test_is_judged_by_itself() -> None:
    found = verdicts([ConditionCount("a", "own-order", 5, 0), ConditionCount("b", "own-order", 5, 2)])
    assert {test: v.flaky for test, v in found.items()} == {"a": False, "b": True}


@pytest.mark.parametrize(
    ("condition", "cause"),
    [
        ("shuffled", "order"),
        ("reversed", "order"),
        ("isolated", "order"),
        ("loaded", "time"),
        ("reseeded", "randomness"),
    ],
)
def test_a_condition_under_which_it_fails_more_hints_at_the_cause(condition: str, cause: str) -> None:
    verdict = judged(("own-order", 10, 0), (condition, 10, 6))
    assert causes(verdict) == [cause]
    assert f"failed 6 of 10 {condition}, 0 of 10 in its own order" in verdict.hints[0].because


def test_a_small_difference_is_no_hint() -> None:
    # one of two against none of two: p = 1/2
    assert causes(judged(("own-order", 2, 0), ("shuffled", 2, 1))) == []


def test_failing_more_in_its_own_order_is_no_hint() -> None:
    assert causes(judged(("own-order", 10, 8), ("shuffled", 10, 1))) == []


def test_without_runs_in_its_own_order_there_is_nothing_to_compare_with() -> None:
    assert causes(judged(("shuffled", 10, 6))) == []


def test_conditions_of_one_cause_are_weighed_together() -> None:
    # four of six against none of six: p = 15/495; two of three alone, p = 1/12, would say nothing
    verdict = judged(("own-order", 6, 0), ("shuffled", 3, 2), ("reversed", 3, 2))
    assert causes(verdict) == ["order"]
    assert "reversed/shuffled" in verdict.hints[0].because


def test_traits_hint_too() -> None:
    traits = Traits(network={"t": True}, slept={"t": 0.5}, mentions={"t": frozenset({"random"})})
    assert causes(judged(("own-order", 10, 5), traits=traits)) == ["network", "time", "randomness"]


def test_traits_that_were_not_measured_hint_at_nothing() -> None:
    traits = Traits(network={"t": None, "other": True}, slept={"t": None})
    assert causes(judged(("own-order", 10, 5), traits=traits)) == []


@pytest.mark.parametrize("failures", [0, 10])
def test_a_stable_test_gets_no_hints(failures: int) -> None:
    traits = Traits(network={"t": True})
    assert causes(judged(("own-order", 10, failures), traits=traits)) == []


@pytest.mark.parametrize(
    ("probability", "bits"), [(0.0, 0.0), (1.0, 0.0), (0.5, 1.0), (0.25, 0.8112781), (0.9, 0.4689956)]
)
def test_doubt_in_bits(probability: float, bits: float) -> None:
    assert entropy(probability) == pytest.approx(bits, abs=1e-7)


@given(st.floats(0.0, 1.0))
def test_doubt_is_symmetric_and_never_more_than_a_bit(probability: float) -> None:
    assert 0.0 <= entropy(probability) <= 1.0
    assert entropy(probability) == pytest.approx(entropy(1.0 - probability), abs=1e-9)
