"""What always holds of an orderer, whatever it was taught and whatever is asked. Warnings are errors here."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import (
    HISTORIES,
    LONGEST_SECONDS,
    ODD_NAMES,
    QUESTIONS,
    learned,
    names,
    quickly,
    sheet,
    unhurried,
)

from whet.core.sheets import Sheet
from whet.skills.ordering import Orderer, Ranked
from whet.skills.ordering.promise import Incident, Promise

Question = tuple[list[str], dict[str, float] | None]


@quickly
@given(HISTORIES, QUESTIONS)
def test_exactly_the_given_tests_come_back_with_probabilities_that_are_ones(
    history: list[Sheet], question: Question
) -> None:
    ranked = learned(history).rank(*question)
    assert Counter(one.test for one in ranked) == Counter(question[0])
    for one in ranked:
        assert one.reason
        assert one.likelihood is None or 0.0 <= one.likelihood <= 1.0
        assert one.expected_seconds is None or 0.0 <= one.expected_seconds <= LONGEST_SECONDS


@quickly
@given(HISTORIES, st.lists(ODD_NAMES, max_size=4), st.lists(ODD_NAMES, max_size=9))
def test_exactly_what_is_left_comes_back_after_a_failure(
    history: list[Sheet], failed: list[str], left: list[str]
) -> None:
    assert Counter(learned(history).after_failure(failed, [], left)) == Counter(left)


@quickly
@given(HISTORIES, QUESTIONS)
def test_the_same_sheets_give_the_same_state_and_answers(history: list[Sheet], question: Question) -> None:
    one, other = learned(history), learned(history)
    assert one.dump() == other.dump()
    assert repr(one.rank(*question)) == repr(other.rank(*question)) == repr(one.rank(*question))


@quickly
@given(HISTORIES, HISTORIES, QUESTIONS)
def test_asking_teaches_nothing(before: list[Sheet], after: list[Sheet], question: Question) -> None:
    asked, silent = learned(before), learned(before)
    asked.rank(*question)
    asked.after_failure(question[0], [], question[0])
    asked.within_risk(asked.rank(*question), 0.05)
    for one in after:
        asked.learn(one)
        silent.learn(one)
    assert asked.dump() == silent.dump()


@quickly
@given(HISTORIES, QUESTIONS, st.randoms(use_true_random=False))
def test_the_order_of_executions_within_a_sheet_does_not_matter(
    history: list[Sheet], question: Question, random: Random
) -> None:
    straight, mixed = learned(history), learned(shuffled(one, random) for one in history)
    assert mixed.weights() == straight.weights()
    assert mixed.promise.incidents == straight.promise.incidents
    assert repr(mixed.rank(*question)) == repr(straight.rank(*question))


def shuffled(one: Sheet, random: Random) -> Sheet:
    places = list(range(len(one.tests)))
    random.shuffle(places)
    return one._replace(
        tests=[one.tests[place] for place in places],
        outcomes="".join(one.outcomes[place] for place in places),
        seconds=[one.seconds[place] for place in places],
        nearness=None if one.nearness is None else bytes(one.nearness[place] for place in places),
    )


@quickly
@given(HISTORIES)
def test_weights_are_shares(history: list[Sheet]) -> None:
    weights = learned(history).weights()
    assert sum(weights.values()) == pytest.approx(1.0)
    assert all(0.0 <= weight <= 1.0 for weight in weights.values())


def with_failing_runs(shares: list[float], held_risk: float) -> tuple[Orderer, list[Ranked]]:
    orderer = learned([sheet("p" * 20)])
    orderer.promise = Promise([Incident(share) for share in shares], held_risk)
    return orderer, orderer.rank(names(20))


SHARES = st.lists(st.integers(1, 60).map(lambda rank: rank / 60), max_size=80)
HELD = st.floats(-0.05, 0.05)
KEPT = st.sets(st.integers(0, 19)).map(lambda places: {f"t{place}" for place in places})


@unhurried
@given(SHARES, HELD, KEPT, KEPT)
def test_keeping_more_never_risks_more(shares: list[float], held: float, some: set[str], more: set[str]) -> None:
    orderer, ranked = with_failing_runs(shares, held)
    less, greater = orderer.risk(sorted(some), ranked), orderer.risk(sorted(some | more), ranked)
    if less is not None:
        assert greater is not None
        assert 0.0 <= greater <= less <= 1.0


@unhurried
@given(SHARES, HELD, st.floats(0.0, 1.0))
def test_what_is_kept_within_a_risk_has_at_most_that_risk(shares: list[float], held: float, risk: float) -> None:
    orderer, ranked = with_failing_runs(shares, held)
    kept = orderer.within_risk(ranked, risk)
    if kept is not None:
        assert kept == [one.test for one in ranked[: len(kept)]]
        bound = orderer.risk(kept, ranked)
        assert bound is not None, "a promise was made, and its risk must be known"
        assert bound <= risk * (1 + 1e-12)


@unhurried
@given(SHARES, HELD)
def test_a_greater_risk_never_keeps_more(shares: list[float], held: float) -> None:
    orderer, ranked = with_failing_runs(shares, held)
    kept = [orderer.within_risk(ranked, risk / 100) for risk in range(100)]
    counts = [len(ranked) if one is None else len(one) for one in kept]
    assert counts == sorted(counts, reverse=True)


def test_the_whole_suite_risks_nothing() -> None:
    orderer, ranked = with_failing_runs([], 0.05)
    assert orderer.risk(names(20), ranked) == 0.0
    assert orderer.risk([], []) == 0.0
    assert orderer.risk(names(19), ranked) == 1.0  # no failing run was seen: nothing is promised
    assert orderer.risk(["other"] * 20, ranked) == 1.0  # twenty kept, but none of these
    assert orderer.risk(["t0"], ranked[:5]) is None  # too few to speak of shares
    twice = orderer.rank(["t0", "t0"])
    assert orderer.risk(["t0"], twice) == 0.0


def test_the_whole_suite_is_all_that_keeps_a_promise_after_too_few_failing_runs() -> None:
    orderer, ranked = with_failing_runs([0.05] * 18, 0.05)
    assert orderer.within_risk(ranked, 0.05) is None
    orderer, ranked = with_failing_runs([0.06] * 19, 0.05)
    assert orderer.within_risk(ranked, 0.05) == [one.test for one in ranked[:2]]
    orderer, ranked = with_failing_runs([1.0] * 19, 0.05)
    assert orderer.within_risk(ranked, 0.05) is None


def test_an_impossible_risk_of_nothing_runs_everything() -> None:
    orderer, ranked = with_failing_runs([0.05] * 80, 0.05)
    assert orderer.within_risk(ranked, 0.0) is None
