"""Beta beliefs by hand: counts, means, leaning, and what is kept between runs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.learning import kept
from whet.skills.api.learning.beliefs import Beliefs

SUCCESSES = st.lists(st.floats(0, 1), max_size=30)


def beliefs(prior: tuple[float, float] = (1.0, 1.0)) -> Beliefs[str]:
    return Beliefs(random.Random(0), prior)


def test_what_was_never_seen_is_the_prior() -> None:
    assert beliefs((3.0, 1.0)).mean("x") == 0.75
    assert beliefs().mean("x", (1.0, 4.0)) == 0.2
    assert beliefs().tries("x") == 0


def test_successes_and_failures_are_counted_with_their_weight() -> None:
    known = beliefs()
    known.tell("x", 1.0)
    known.tell("x", 0.0, 2.0)
    known.tell("x", 0.25, 4.0)

    assert known.seen["x"] == (2.0, 5.0)
    assert known.tries("x") == 7.0
    assert known.mean("x") == pytest.approx(3 / 9)
    assert known.mean("x", (0.5, 0.5)) == pytest.approx(2.5 / 8)


def test_leaning_counts_for_no_more_than_the_most() -> None:
    known = beliefs()
    for _ in range(98):
        known.tell("general", 1.0)

    assert known.lean("general", most=4.0) == pytest.approx((4 * 99 / 100, 4 / 100))
    assert known.lean("unseen", most=4.0) == (1.0, 1.0)  # less than the most is taken as it is


@given(SUCCESSES, SUCCESSES)
def test_the_mean_stays_within_and_own_evidence_outweighs_the_general(general: list[float], own: list[float]) -> None:
    known = beliefs()
    for one in general:
        known.tell("general", one)
    for one in own:
        known.tell("own", one)
    prior = known.lean("general")

    assert sum(prior) <= 4.0 + 1e-9
    assert 0.0 < known.mean("own", prior) < 1.0
    assert known.evidence("own", prior)[0] == pytest.approx(prior[0] + sum(own))
    assert 0.0 <= known.draw("own", prior) <= 1.0


def test_draws_find_the_better_of_two() -> None:
    known, rng = beliefs(), random.Random(1)
    chance = {"good": 0.7, "bad": 0.3}
    chosen = []
    for _ in range(300):
        key = known.best(chance, {})
        chosen.append(key)
        known.tell(key, float(rng.random() < chance[key]))

    assert chosen[-100:].count("good") > 85
    assert {"good", "bad"} <= set(chosen)  # both were tried


def test_the_next_run_counts_less_of_it_and_lets_faint_memories_go() -> None:
    before: Beliefs[tuple[str, str]] = Beliefs(random.Random(0))
    before.tell(("a", "b"), 1.0, 10)
    before.tell(("a", "c"), 0.0, 0.1)
    after: Beliefs[tuple[str, str]] = Beliefs(random.Random(0))
    kept.restore(after, kept.rows(before))

    assert list(after.seen) == [("a", "b")]
    assert after.seen["a", "b"] == pytest.approx((10 * kept.FADING, 0.0))


def test_only_the_strongest_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_ROWS", 2)
    before: Beliefs[tuple[str]] = Beliefs(random.Random(0))
    for strength, key in enumerate("abcd", 1):
        before.tell((key,), 0.5, strength)

    assert [row[0] for row in kept.rows(before)] == [["d"], ["c"]]
