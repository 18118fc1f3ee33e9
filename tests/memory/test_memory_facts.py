"""Facts are counted: planted ones are found with their numbers, noise gives none, what ended is let go."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.episodes import failure, run, turn

from whet.core.memories import Memory
from whet.memory.facts import fact_claims
from whet.memory.facts_claims import Claim
from whet.memory.facts_counting import Tally, at_least, since_last_change, wilson

BILLING = "tests/billing/test_invoice.py::test_total"
CART = "tests/billing/test_cart.py::test_sum"
OTHER = "tests/test_login.py::test_in"


def said(episodes: Sequence[Memory], rule: str | None = None) -> list[Claim]:
    return [each for each in fact_claims(episodes) if each.worth_saying and rule in (None, each.rule)]


def prices_break_billing(held: int = 14, against: int = 1, others: int = 60) -> list[Memory]:
    """Alternating between two test files of billing, so that only the folder accounts for it all."""
    fate = [True] * held + [False] * against
    broken = [run(n, [(BILLING, CART)[n % 2]] if fails else [], ["src/prices.py"]) for n, fails in enumerate(fate)]
    return broken + [run(100 + n, [OTHER] if n % 10 == 0 else [], ["src/login.py"]) for n in range(others)]


# Numbers worked by hand.


def test_wilson_as_published() -> None:
    assert wilson(14, 15) == pytest.approx((0.7018, 0.9881), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_fisher_by_hand() -> None:
    # All 3 marked of 6 drawn with 3: 1 way of C(6, 3) = 20; at least 2: 1 + C(3,2)·C(3,1) = 10.
    assert at_least(3, 3, 3, 6) == pytest.approx(1 / 20)
    assert at_least(2, 3, 3, 6) == pytest.approx(10 / 20)
    assert at_least(0, 3, 3, 6) == pytest.approx(1.0)
    assert at_least(4, 3, 3, 6) == 0.0


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_fisher_is_what_counting_gives(a: int, b: int, c: int, d: int) -> None:
    drawn, marked, there = a + b, a + c, a + b + c + d
    ways = sum(math.comb(marked, k) * math.comb(there - marked, drawn - k) for k in range(a, min(drawn, marked) + 1))
    assert at_least(a, drawn, marked, there) == pytest.approx(ways / math.comb(there, drawn), rel=1e-9)


def test_five_misses_in_a_row_end_what_held_fourteen_of_fifteen_times() -> None:
    held = [True] * 7 + [False] + [True] * 7
    assert list(since_last_change([*held, *[False] * 4])) == [*held, *[False] * 4]
    assert list(since_last_change([*held, *[False] * 5])) == [False] * 5


@given(st.lists(st.booleans(), max_size=60))
def test_what_is_kept_after_a_change_is_the_newest(held: list[bool]) -> None:
    kept = list(since_last_change(held))
    assert held[len(held) - len(kept) :] == kept


# What is found.


def test_tests_under_a_folder_fail_when_a_file_changes() -> None:
    (claim,) = said(prices_break_billing(), "change")
    assert (
        claim.sentence
        == "Tests under tests/billing/ fail when src/prices.py changes: 14 of 15 times; otherwise 0 of 60."
    )
    assert claim.tally == Tally(14, 1, 0, 60)


def test_one_file_that_accounts_for_all_is_named_instead_of_its_folder() -> None:
    episodes = [run(n, [BILLING], ["src/prices.py"]) for n in range(8)]
    episodes += [run(100 + n, [], ["src/login.py"]) for n in range(30)]
    (claim,) = said(episodes, "change")
    assert claim.sentence.startswith("Tests in tests/billing/test_invoice.py fail when src/prices.py changes: 8 of 8")


def test_ten_runs_of_one_piece_of_work_are_one() -> None:
    mended = [run(n, [BILLING], ["src/prices.py"]) for n in range(10)]
    same = [each.model_copy(update={"about": {**each.about, "base": "one"}}) for each in mended]
    quiet = [run(100 + n, [], ["src/login.py"]) for n in range(30)]
    assert said([*same, *quiet], "change") == []
    assert said([*mended, *quiet], "change") != []


@pytest.mark.parametrize("spoiled", [{"complete": False}, {"changed": None}])
def test_runs_that_left_something_out_or_whose_change_is_unknown_do_not_count(spoiled: dict[str, object]) -> None:
    episodes = prices_break_billing()
    assert said([e.model_copy(update={"about": {**e.about, **spoiled}}) for e in episodes], "change") == []


def test_a_test_that_fails_because_it_was_changed_is_no_fact() -> None:
    own = BILLING.partition("::")[0]
    episodes = [run(n, [BILLING], [own]) for n in range(12)] + [run(100 + n, [], ["src/b.py"]) for n in range(40)]
    assert fact_claims(episodes) == []


def test_a_fact_that_ended_no_longer_holds_and_is_not_said_again() -> None:
    episodes = prices_break_billing()
    for number in range(200, 230):
        episodes.append(run(number, [], ["src/prices.py"]))
        if number >= 205:
            (claim,) = [each for each in fact_claims(episodes) if "under tests/billing/" in each.sentence]
            assert not claim.holds


def test_a_flaky_test_is_told_by_runs_of_the_same_code() -> None:
    runs = [run(n, [OTHER] if n % 4 == 0 else [], code=f"code-{n // 4}") for n in range(16)]
    broken = [run(100 + n, [BILLING], code="broken") for n in range(6)]
    (claim,) = said([*runs, *broken], "flaky")
    assert claim.sentence == f"{OTHER} fails in 4 of 22 runs of code on which it also passes."


def test_code_on_which_a_test_always_fails_says_nothing_about_chance() -> None:
    assert said([run(n, [OTHER], code="broken") for n in range(20)], "flaky") == []


def test_where_failures_with_an_exception_lead() -> None:
    episodes = [failure(n, "KeyError", "src/prices.py") for n in range(9)]
    episodes += [failure(100 + n, "ValueError", f"src/other_{n % 7}.py") for n in range(40)]
    (claim,) = said(episodes, "place")
    assert claim.sentence == "Failures with KeyError lead to src/prices.py: 9 of 9 times; otherwise 0 of 40."


def test_an_action_that_fails_in_a_kind_of_situation() -> None:
    episodes = [turn(n, "execute_parallel_4", failed=n % 5 != 0, situation="suite=large") for n in range(20)]
    episodes += [turn(100 + n, "execute_parallel_4", failed=n == 0) for n in range(30)]
    (claim,) = said(episodes, "action")
    expected = (
        "test-executor: execute_parallel_4 where suite=large could not do its job, 16 of 20 times; otherwise 1 of 30."
    )
    assert (claim.sentence, claim.agent) == (expected, "test-executor")


# What always holds.

_RUNS = st.lists(
    st.tuples(
        st.sets(st.sampled_from([BILLING, CART, OTHER]), max_size=3),
        st.sets(st.sampled_from(["src/a.py", "src/b.py", "src/c.py"]), max_size=3),
        st.integers(0, 5),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(_RUNS, st.randoms(use_true_random=False))
def test_any_order_and_any_repetition_gives_the_same(
    runs: list[tuple[set[str], set[str], int]], shuffle: random.Random
) -> None:
    episodes = [run(n, sorted(f), sorted(c), f"code-{v}") for n, (f, c, v) in enumerate(runs)]
    repeated = [*episodes, *episodes[: len(episodes) // 2]]
    shuffle.shuffle(repeated)
    assert fact_claims(repeated) == fact_claims(episodes)


@settings(deadline=None, max_examples=60)
@given(_RUNS)
def test_counts_never_exceed_what_there_is(runs: list[tuple[set[str], set[str], int]]) -> None:
    episodes = [run(n, sorted(f), sorted(c), f"code-{v}") for n, (f, c, v) in enumerate(runs)]
    for claim in fact_claims(episodes):
        assert sum(claim.tally) <= len(episodes)
        assert min(claim.tally) >= 0
        assert claim.holds or not claim.worth_saying


def test_what_ended_has_ended_in_whatever_order_it_is_read() -> None:
    episodes = prices_break_billing() + [run(200 + n, [], ["src/prices.py"]) for n in range(10)]
    random.Random(1).shuffle(episodes)
    (claim,) = [each for each in fact_claims(episodes) if "under tests/billing/" in each.sentence]
    assert not claim.holds


def test_what_comes_as_often_anyway_does_not_hold() -> None:
    assert Tally(30, 10, 20, 80).holds()
    assert not Tally(30, 10, 70, 30).holds()
    assert not Tally(4, 0, 0, 100).holds()  # too little
    assert not Tally(40, 0, 0, 0).holds()  # nothing to compare with


def noise(seed: int) -> list[Memory]:
    """Tests that fail by chance, each with a rate of its own, whatever was changed."""
    chance = random.Random(seed)
    tests = [f"tests/part_{n % 4}/test_{n}.py::test_it" for n in range(12)]
    rates = [chance.choice([0.05, 0.2, 0.5]) for _ in tests]
    files = [f"src/file_{n}.py" for n in range(15)]
    return [
        run(
            number,
            [test for test, rate in zip(tests, rates, strict=True) if chance.random() < rate],
            chance.sample(files, chance.randint(1, 4)),
        )
        for number in range(80)
    ]


def test_noise_gives_hardly_any_facts() -> None:
    """At most one project in twenty may be told anything at all; chance allows 3 of 20 then."""
    wrong = sum(bool(said(noise(seed), "change")) for seed in range(20))
    assert wrong <= 3


def test_planted_rules_are_found_in_noise() -> None:
    found = 0
    for seed in range(5):
        episodes = noise(seed)
        episodes += [run(1000 + n, [BILLING] if n % 10 else [], ["src/prices.py"]) for n in range(15)]
        found += any("src/prices.py" in claim.sentence for claim in said(episodes, "change"))
    assert found == 5
