"""Procedures are sequences that worked more often than others did, with what speaks against them."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.episodes import turn

from whet.core.memories import Kind, Memory
from whet.memory.facts_claims import Claim
from whet.memory.facts_counting import Tally
from whet.memory.procedures import procedure_claims


def a_run(number: int, *steps: tuple[str, str, float], failed: bool = False) -> list[Memory]:
    """Steps are (agent, action, reward); `failed`: the last one could not do its job."""
    made = [
        turn(10 * number + place, action, agent=agent, reward=reward, run_id=f"run-{number}")
        for place, (agent, action, reward) in enumerate(steps)
    ]
    last = made[-1]
    return [*made[:-1], last.model_copy(update={"about": {**last.about, "failed": failed}})]


GOOD = (("executor", "run_all", 1.0), ("hunter", "repeat", 9.0))
POOR = (("executor", "run_all", 1.0), ("coverage", "measure", 0.0))


def said(episodes: list[Memory]) -> list[Claim]:
    return [claim for claim in procedure_claims(episodes) if claim.worth_saying]


def lived(good: int = 12, spoiled: int = 1, poor: int = 30) -> list[Memory]:
    runs = [a_run(n, *GOOD, failed=n < spoiled) for n in range(good + spoiled)]
    runs += [a_run(100 + n, *POOR) for n in range(poor)]
    return [step for run in runs for step in run]


def test_a_sequence_that_works_is_found_with_its_numbers() -> None:
    (claim,) = said(lived())
    expected = "Where suite=small: executor run_all → hunter repeat worked 12 of 13 times; otherwise 0 of 30."
    assert (claim.sentence, claim.tally) == (expected, Tally(12, 1, 0, 30))
    made = claim.memory("shop", lived()[0].at)
    assert (made.kind, made.topic, made.support, made.against) == (Kind.PROCEDURAL, "procedure", 12, 1)


def test_a_step_repeated_as_it_was_is_one_step() -> None:
    runs = [a_run(n, GOOD[0], GOOD[0], GOOD[1]) for n in range(8)] + [a_run(100 + n, *POOR) for n in range(30)]
    assert any(
        "run_all → hunter repeat worked 8 of 8" in claim.sentence
        for claim in said([step for run in runs for step in run])
    )


def test_sending_somebody_is_no_step() -> None:
    sent = [turn(10 * n + 5, "dispatch", agent="commander", run_id=f"run-{n}", kind="delegated") for n in range(200)]
    assert procedure_claims([*lived(), *sent]) == procedure_claims(lived())


def test_situations_are_kept_apart() -> None:
    moved = [
        each.model_copy(
            update={
                "source": f"{each.source}-large",
                "about": {**each.about, "situation": "suite=large", "run_id": f"{each.about['run_id']}-large"},
            }
        )
        for each in lived()
    ]
    assert {claim.names[0] for claim in said([*lived(), *moved])} == {"suite=small", "suite=large"}


_STEP = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "y"]), st.floats(-5, 5))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(_STEP, min_size=1, max_size=4), max_size=20), st.randoms(use_true_random=False))
def test_any_order_and_any_repetition_gives_the_same(
    runs: list[list[tuple[str, str, float]]], shuffle: random.Random
) -> None:
    episodes = [step for number, steps in enumerate(runs) for step in a_run(number, *steps)]
    repeated = [*episodes, *episodes[::2]]
    shuffle.shuffle(repeated)
    assert procedure_claims(repeated) == procedure_claims(episodes)


def noise(seed: int) -> list[Memory]:
    chance = random.Random(seed)
    runs = []
    for number in range(60):
        agents = chance.sample(["executor", "hunter", "coverage", "risk"], 3)
        runs += a_run(number, *((agent, chance.choice("xy"), chance.gauss(0, 10)) for agent in agents))
    return runs


def test_noise_gives_hardly_any_procedures() -> None:
    """At most one life in twenty, per length of sequences."""
    assert sum(bool(said(noise(seed))) for seed in range(40)) <= 6
