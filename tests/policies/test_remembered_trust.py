"""Memories that foretell what is then seen are believed, others are dropped; known problems, and the arithmetic."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.policy_memories import BOTH, ELSEWHERE, SPOT, chances, policy, recalled, taught, teach
from tests.policies.policy_worlds import LEFT, RIGHT

from whet.core.memories import Recalled
from whet.core.ports import Entry
from whet.policies.beliefs import Beliefs
from whet.policies.in_process import InProcessTables
from whet.policies.remembered_groups import aged, pooled
from whet.policies.remembered_trust import Seen, View, averaged, log_evidence, posterior

Paid = dict[str, float]
HERE: Paid = {"left": 6.0, "right": 2.0}
SWAPPED: Paid = {"left": 2.0, "right": 6.0}


def remembered(paid: Paid, **about: Any) -> list[Recalled]:
    """Eight of each action, that differ by a point."""
    return [recalled(a, paid[a.name] + n % 3 - 1.0, visit=n, **about) for a in BOTH for n in range(8)]


def lived(given: list[Recalled], decisions: int, seed: int, paid: Paid = HERE) -> list[bool]:
    """Whether each decision of a life in a place that pays so, with noise, was right."""
    tables, rng = InProcessTables(), np.random.default_rng([seed, 9])
    chooser, best, found = policy(tables, seed), max(paid, key=lambda name: paid[name]), []
    for _ in range(decisions):
        chosen = chooser.choose(SPOT, BOTH, given).action
        action = next(each for each in BOTH if each.name == chosen)
        teach(tables, action, paid[chosen] + float(rng.normal(0.0, 2.0)))
        found.append(chosen == best)
    return found


def right(given: list[Recalled], decisions: int, since: int = 0) -> float:
    return float(np.mean([lived(given, decisions, seed)[since:] for seed in range(12)]))


def trust(given: list[Recalled], tables: InProcessTables | None = None) -> float:
    """How much of what is decided by is memories; of many, the first ten are named, and all count the same here."""
    return sum(m.weight for m in policy(tables).choose(SPOT, BOTH, given).memories) * len(given) / 10


def test_right_memories_are_a_head_start() -> None:
    assert right([], 6) < 0.65
    assert right(remembered(HERE), 6) > 0.85


def test_contradicted_memories_are_dropped_within_a_few_decisions() -> None:
    wrong = remembered(SWAPPED)
    assert right(wrong, 2) < 0.3
    assert right(wrong, 40, since=20) > right([], 40, since=20) - 0.05
    assert chances(wrong, taught(*[(LEFT, 6.0), (RIGHT, 2.0)] * 4))["left"] > 0.8


def test_memories_of_an_unrelated_project_change_nothing_in_the_long_run() -> None:
    foreign = remembered(SWAPPED, origin="other")
    assert right(foreign, 10) > right([], 10) - 0.1
    assert right(foreign, 40, since=20) > right([], 40, since=20) - 0.03


def test_what_was_lived_here_is_trusted_more_than_what_comes_from_elsewhere() -> None:
    mine, theirs = remembered(HERE), remembered(HERE, origin="other")
    assert trust(mine) == pytest.approx(0.9)
    assert trust(theirs) == pytest.approx(0.2 / 1.2)
    assert chances(mine)["left"] > chances(theirs)["left"] > 0.5


def test_trust_moves_with_what_is_seen() -> None:
    told = remembered(HERE)
    as_told = taught((LEFT, 6.0), (RIGHT, 2.0), (LEFT, 5.5), (RIGHT, 2.5))
    otherwise = taught((LEFT, -14.0), (RIGHT, 12.0), (LEFT, -14.5), (RIGHT, 12.5))
    assert trust(told, as_told) > trust(told) > trust(told, otherwise)
    assert trust(told, otherwise) < 0.1


def test_whether_the_project_is_as_it_was_is_one_question_for_all_states() -> None:
    """What was foretold wrongly in another state is doubted here, where nothing was tried yet."""
    there = [recalled(a, HERE[a.name] + n % 3, 0.05, ELSEWHERE, visit=n) for a in BOTH for n in range(8)]
    told = [*remembered(HERE), *there]
    as_told = taught(*[(LEFT, 7.0), (RIGHT, 3.0)] * 3, state=ELSEWHERE)
    otherwise = taught(*[(LEFT, -20.0), (RIGHT, 20.0)] * 3, state=ELSEWHERE)
    assert trust(told, as_told) > trust(told) > 1.5 * trust(told, otherwise)


def test_what_was_dropped_is_not_named() -> None:
    wrong = remembered({"left": -40.0, "right": 40.0}, origin="other")
    tables = taught(*[(action, paid + n % 2) for n in range(8) for action, paid in ((LEFT, 6.0), (RIGHT, 2.0))])
    assert policy(tables).choose(SPOT, BOTH, wrong).memories == ()
    assert chances(wrong, tables) == chances([], tables)


NUMBERS = st.floats(-50.0, 50.0)
SIZES = st.floats(0.1, 20.0)
ROWS = st.lists(st.tuples(NUMBERS, SIZES, NUMBERS, SIZES), min_size=1, max_size=5)


@given(ROWS, st.floats(0.0, 30.0))
def test_evidence_is_the_density_of_a_normal_distribution(rows: list[tuple[float, ...]], level: float) -> None:
    seen, spread, told, errors = np.array(rows).T
    covariance = np.diag(spread + errors**2) + level**2
    by_hand = -0.5 * ((seen - told) @ np.linalg.solve(covariance, seen - told) + np.linalg.slogdet(covariance)[1])
    assert log_evidence(Seen(seen, spread), Beliefs(told, errors), level) == pytest.approx(by_hand, rel=1e-6, abs=1e-6)


@given(ROWS)
def test_what_was_not_tried_is_no_evidence(rows: list[tuple[float, ...]]) -> None:
    seen, spread, told, errors = np.array(rows).T
    untried = Seen(np.append(seen, np.nan), np.append(spread, np.nan))
    more = Beliefs(np.append(told, 3.0), np.append(errors, 1.0))
    assert log_evidence(untried, more, 2.0) == log_evidence(Seen(seen, spread), Beliefs(told, errors), 2.0)


@given(st.lists(st.tuples(st.floats(0.1, 10.0), st.floats(-20.0, 20.0)), min_size=1, max_size=4))
def test_weights_are_probabilities_in_proportion_to_odds_and_evidence(given: list[tuple[float, float]]) -> None:
    """Those of less than a ten-thousandth of the best are left out."""
    untried, errors = np.zeros(1, dtype=np.bool_), np.ones(1)
    views = posterior([View(odds, told, Beliefs(np.array([odds]), errors), untried) for odds, told in given])
    likely = np.array([float(view.beliefs.means[0]) * np.exp(view.evidence) for view in views])
    assert sum(view.weight for view in views) == pytest.approx(1.0)
    assert [view.weight for view in views] == pytest.approx(likely / likely.sum())
    best = max(odds * np.exp(told) for odds, told in given)
    assert len(views) == sum(odds * np.exp(told) >= 1e-4 * best for odds, told in given)


def test_views_together_have_the_mean_and_the_deviation_of_a_mixture() -> None:
    untried = np.zeros(1, dtype=np.bool_)
    one, other = Beliefs(np.array([0.0]), np.array([1.0])), Beliefs(np.array([10.0]), np.array([2.0]))
    both = averaged([View(0.75, 0.0, one, untried), View(0.25, 0.0, other, untried)])
    assert both.means[0] == pytest.approx(2.5)
    assert both.errors[0] ** 2 == pytest.approx(0.75 * (1.0 + 2.5**2) + 0.25 * (4.0 + 7.5**2))


REWARDS = st.lists(st.floats(-100.0, 100.0), min_size=1, max_size=8)


@settings(max_examples=50)
@given(REWARDS, REWARDS)
def test_pooled_is_what_a_table_holds_that_saw_both(before: list[float], own: list[float]) -> None:
    whole = pooled(_entry(before), _entry(own), 0.1)
    values = np.array(before + own)
    assert whole.visits == len(values)
    assert whole.mean == pytest.approx(values.mean(), abs=1e-9)
    assert whole.m2 == pytest.approx(np.square(values - values.mean()).sum(), abs=1e-6)
    assert pooled(_entry(before), None, 0.1) == _entry(before)


def test_old_memories_count_as_fewer_and_one_at_least() -> None:
    entry = Entry(q_value=1.0, visits=8, mean=1.0, m2=16.0)
    assert (aged(entry, 0.5).visits, aged(entry, 0.5).m2) == (4, 8.0)
    assert aged(entry, 0.001).visits == 1
    assert aged(entry, 1.0) == entry


def _entry(rewards: list[float]) -> Entry:
    values = np.array(rewards)
    mean = float(values.mean())
    return Entry(q_value=mean, visits=len(values), mean=mean, m2=float(np.square(values - mean).sum()))
