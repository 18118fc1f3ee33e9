"""AdaHedge, against numbers worked by hand and against the bound it is chosen for."""

import math
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import quickly, unhurried

from whet.skills.ordering.experts import Goal, priors
from whet.skills.ordering.hedge import AdaHedge

PRIORS = priors(Goal.WHOLE_RUN)
PAIR = {"a": 0.5, "b": 0.5}


def test_before_the_first_loss_the_priors_hold() -> None:
    assert AdaHedge({"a": 3, "b": 1}).weights() == pytest.approx({"a": 0.75, "b": 0.25})


def test_two_rounds_by_hand() -> None:
    hedge = AdaHedge(PAIR)
    hedge.learn({"a": 0.0, "b": 1.0})
    # The rate was infinite: the mixture lost ½, the best nothing. Now it is ln 2 / ½, and e^−rate is ¼.
    assert hedge.gap == 0.5
    assert hedge.weights() == pytest.approx({"a": 0.8, "b": 0.2})
    hedge.learn({"a": 1.0, "b": 0.0})
    # The mixture lost 0.8; the mix loss is −ln(0.8 × ¼ + 0.2) / rate = 0.660964.
    assert hedge.gap == pytest.approx(0.5 + 0.8 - 0.660964, abs=1e-6)
    assert hedge.weights() == pytest.approx(PAIR)


def test_one_that_sleeps_is_given_the_loss_of_the_mixture() -> None:
    hedge = AdaHedge({"a": 1, "b": 1, "c": 1})
    hedge.learn({"a": 0.0, "b": 1.0})
    assert hedge.losses.tolist() == [0.0, 1.0, 0.5]
    # The rate is ln 3 / ½: weights as 1 : 1/9 : 1/3.
    assert hedge.weights() == pytest.approx({"a": 9 / 13, "b": 1 / 13, "c": 3 / 13})
    assert hedge.weights({"a": True, "b": True, "c": False}) == pytest.approx({"a": 0.9, "b": 0.1, "c": 0.0})


def test_one_that_woke_up_late_is_followed_when_it_is_the_best() -> None:
    hedge = AdaHedge({"a": 1, "b": 1, "c": 1})
    for _ in range(50):
        hedge.learn({"a": 0.3, "b": 0.6})
    for _ in range(60):
        hedge.learn({"a": 0.3, "b": 0.6, "c": 0.0})
    assert hedge.weights()["c"] > 0.99


def test_the_clearly_better_expert_gets_nearly_all_the_weight() -> None:
    hedge = AdaHedge(PRIORS)
    for _ in range(60):
        hedge.learn({name: 0.1 if name == "co-failures" else 0.5 for name in PRIORS})
    assert hedge.weights()["co-failures"] > 0.99


def test_equal_losses_change_nothing() -> None:
    hedge = AdaHedge(PRIORS)
    for _ in range(20):
        hedge.learn(dict.fromkeys(PRIORS, 0.4))
    assert hedge.gap == pytest.approx(0.0, abs=1e-12)
    total = sum(PRIORS.values())
    assert hedge.weights() == pytest.approx({name: prior / total for name, prior in PRIORS.items()})


LOSSES = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0]))
NAMES = ("a", "b", "c", "d")
ROUND = st.fixed_dictionaries(dict.fromkeys(NAMES, LOSSES))


def follow(hedge: AdaHedge, rounds: list[dict[str, float]]) -> float:
    """What drawing an expert by the weights loses, in expectation."""
    lost = []
    for losses in rounds:
        weights = hedge.weights({name: name in losses for name in hedge.names})
        assert math.fsum(weights.values()) == pytest.approx(1.0)
        assert all(0.0 <= weight <= 1.0 for weight in weights.values())
        lost.append(math.fsum(weights[name] * loss for name, loss in losses.items()))
        hedge.learn(losses)
    return math.fsum(lost)


def bound(best: float, rounds: int, experts: int) -> float:
    spread = best * (rounds - best) / rounds if rounds else 0.0
    return best + 2 * math.sqrt(max(0.0, spread) * math.log(experts)) + 16 / 3 * math.log(experts) + 2


@unhurried
@given(st.lists(ROUND, max_size=120))
@example([dict(zip(NAMES, row, strict=True)) for row in 100 * [(1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 1.0, 0.0)]])
def test_following_it_loses_little_more_than_the_best(rounds: list[dict[str, float]]) -> None:
    lost = follow(AdaHedge(dict.fromkeys(NAMES, 1.0)), rounds)
    best = min(math.fsum(losses[name] for losses in rounds) for name in NAMES)
    assert lost <= bound(best, len(rounds), len(NAMES)) + 1e-9


@quickly
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_it_holds_against_one_who_makes_the_favourite_lose(seed: int, punished: float) -> None:
    """Each round, whom the weights favour most loses; the priors are those of the experts that order."""
    hedge, lost, totals, random = AdaHedge(PRIORS), 0.0, dict.fromkeys(PRIORS, 0.0), Random(seed)
    for _ in range(150):
        weights = hedge.weights()
        most = sorted(weights, key=lambda name: -weights[name])[: 1 + int(len(weights) * punished)]
        losses = {name: random.random() if name in most else 0.0 for name in weights}
        lost += math.fsum(weights[name] * loss for name, loss in losses.items())
        totals = {name: totals[name] + loss for name, loss in losses.items()}
        hedge.learn(losses)
    assert lost <= bound(min(totals.values()), 150, len(PRIORS))


@unhurried
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), LOSSES, min_size=1), max_size=120))
def test_sleepers_are_compared_over_the_rounds_they_were_awake(rounds: list[dict[str, float]]) -> None:
    hedge = AdaHedge(dict.fromkeys(NAMES, 1.0))
    lost = follow(hedge, rounds)
    few = 4 / 3 * math.log(len(NAMES)) + 2
    assert lost - float(hedge.losses.min()) <= math.sqrt(len(rounds) * math.log(len(NAMES))) + few + 1e-9
    assert hedge.gap >= 0
