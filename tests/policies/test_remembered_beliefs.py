"""What is remembered changes what is decided, by exactly as much as the arithmetic says."""

from datetime import timedelta
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.policy_memories import BOTH, ELSEWHERE, PAID, SPOT, chances, policy, recalled, taught
from tests.policies.policy_worlds import LEFT, RIGHT, STAY

from whet.core.memories import Recalled
from whet.policies.hierarchy import Hierarchy, Known
from whet.policies.in_process import InProcessTables
from whet.policies.likeness import likeness
from whet.policies.remembered import DOUBT, HALF_LIFE, LIKE, NOTHING, SAME, Reminder, score
from whet.policies.warm_start import Expected, Prior, WarmStart


def test_the_probability_rises_as_worked_out_by_hand() -> None:
    """If the memories hold, each action has one visit, whose error is 3 · 5. If the state is only like that one, parts
    of actions have the variance (200 + 2 · 25) / 3, rewards 25: of 20 apart, 20 · 250/325 is believed."""
    same = NormalDist().cdf(20.0 / (2 * 15.0**2) ** 0.5)
    part, noise = 250 / 3, 25.0
    error = part * noise / (part + noise) + DOUBT**2 * part
    like = NormalDist().cdf(20.0 * part / (part + noise) / (2 * error) ** 0.5)
    by_hand = (NOTHING * 0.5 + LIKE * like + SAME * same) / (NOTHING + LIKE + SAME)
    assert by_hand == pytest.approx(0.8094, abs=1e-4)
    assert chances([]) == {"left": pytest.approx(0.5), "right": pytest.approx(0.5)}
    assert chances(PAID) == {"left": pytest.approx(by_hand, abs=3e-4), "right": pytest.approx(1 - by_hand, abs=3e-4)}


def test_what_is_less_alike_and_what_is_older_counts_less() -> None:
    there = [recalled(LEFT, 20.0, state=ELSEWHERE), recalled(RIGHT, 0.0, state=ELSEWHERE)]
    alike = [chances([each._replace(score=like) for each in there])["left"] for like in (1.0, 0.6, 0.2)]
    assert alike == sorted(alike, reverse=True)
    assert alike[-1] > 0.5
    often = [recalled(a, r + n / 10, visit=n) for a, r in ((LEFT, 9.0), (RIGHT, 0.0)) for n in range(8)]
    aged = [chances([each._replace(score=left) for each in often])["left"] for left in (1.0, 0.5, 0.1)]
    assert aged == sorted(aged, reverse=True)
    assert score(1.0, HALF_LIFE) == pytest.approx(0.5)
    assert score(0.5, timedelta(0)) == pytest.approx(0.5**4)


def test_what_this_very_state_paid_is_worth_as_much_as_visits() -> None:
    """A table that begins with nothing but is told of forty visits decides as one that made them, but for the doubt
    whether they hold: two in ten beforehand, and less with everything that was seen to be as it was."""
    lived = [(action, paid + n % 3) for n in range(20) for action, paid in ((LEFT, 4.0), (RIGHT, 1.0))]
    told = [recalled(action, paid, visit=n) for n, (action, paid) in enumerate(lived)]
    going_on, begun = chances([], taught(*lived))["left"], chances(told)["left"]
    assert going_on > 0.95
    assert begun == pytest.approx(0.8 * going_on + 0.2 * 0.7, abs=0.05)
    assert chances(told, taught((LEFT, 5.0), (RIGHT, 2.0)))["left"] > begun


def test_what_the_table_knows_already_does_not_count_again() -> None:
    tables = taught((LEFT, 20.0), (RIGHT, 0.0))
    lived_here = [recalled(LEFT, 20.0, position=1), recalled(RIGHT, 0.0, position=2)]
    assert chances(lived_here, tables) == chances([], tables)
    assert policy(tables).choose(SPOT, BOTH, lived_here).memories == ()
    from_elsewhere = [recalled(LEFT, 20.0), recalled(RIGHT, 0.0)]
    assert chances(from_elsewhere, tables)["left"] > chances([], tables)["left"]
    of_another_state = [recalled(a, r, 0.9, ELSEWHERE, position=1) for a, r in ((LEFT, 20.0), (RIGHT, 0.0))]
    assert chances(of_another_state, tables)["left"] > chances([], tables)["left"]


def test_of_what_was_lived_here_only_what_goes_beyond_the_visits_counts() -> None:
    tables = taught((LEFT, 20.0), (RIGHT, 0.0))
    wiped = [recalled(LEFT, 20.0, position=n) for n in range(3)] + [recalled(RIGHT, 0.0, position=9)]
    assert len(policy(tables).choose(SPOT, BOTH, wiped).memories) == 2


@pytest.mark.parametrize(
    "useless",
    [
        recalled(STAY, 5.0),
        recalled(LEFT, None),
        recalled(LEFT, True),
        recalled(LEFT, "5"),
        recalled(LEFT, 1e300),
        recalled(LEFT, 5.0, state_key=None),
        recalled(LEFT, 5.0, 0.0),
        recalled(LEFT, 5.0, done=False),
    ],
    ids=["other action", "unknown", "no number", "text", "huge", "no state", "unlike", "something followed"],
)
def test_what_says_nothing_changes_nothing_to_the_bit(useless: Recalled) -> None:
    tables = taught((LEFT, 9.0), (RIGHT, 4.0))
    assert policy(tables).choose(SPOT, BOTH, [useless]) == policy(tables).choose(SPOT, BOTH)


def test_the_decision_names_what_counted_with_its_share() -> None:
    """Of everything that was decided by, memories were 9/10; the rest was that they say nothing."""
    choice = policy().choose(SPOT, BOTH, [PAID[0], PAID[1]._replace(score=0.5), recalled(STAY, 3.0)])
    assert [m.memory for m in choice.memories] == [each.memory.id for each in PAID]
    assert [m.weight for m in choice.memories] == pytest.approx([0.9 * 2 / 3, 0.9 / 3])
    assert {(m.why, m.text) for m in choice.memories} == {("because", "")}
    assert {(a.source, a.visits) for a in choice.alternatives} == {("memory", 0)}
    assert choice.version != policy().choose(SPOT, BOTH).version


def test_an_action_that_nobody_remembers_keeps_its_chance() -> None:
    told = policy().choose(SPOT, (LEFT, RIGHT, STAY), PAID).alternatives
    untold = next(a for a in told if a.action == "stay")
    assert (untold.value, untold.source) == (None, "none")
    assert 0.02 < untold.probability < 0.5


def test_levels_of_other_states_do_not_count() -> None:
    """Another state pays 30 more, whatever is done: what counts is what an action paid beyond the others there."""
    there = [recalled(LEFT, 38.0, 0.9, ELSEWHERE), recalled(RIGHT, 30.0, 0.9, ELSEWHERE)]
    here = taught((RIGHT, 0.0), (RIGHT, 1.0), (RIGHT, -1.0))
    values = {a.action: a.value or 0.0 for a in policy(here).choose(SPOT, BOTH, there).alternatives}
    assert 0.5 < values["left"] - values["right"] < 16.0


def test_a_warm_start_is_reminded_too() -> None:
    part = Expected(mean=0.0, doubt=1.0, states=3)
    prior = Prior(agent="walker", unit=5.0, actions={"left": part, "right": part}, sources=("w",))
    warm = WarmStart(prior, Hierarchy("walker", "walkers", InProcessTables()), 0.1, np.random.default_rng(1))
    told = {a.action: a.probability for a in warm.choose(SPOT, BOTH, PAID).alternatives}
    assert told["left"] > 0.75
    assert [a.probability for a in warm.choose(SPOT, BOTH).alternatives] == pytest.approx([0.5, 0.5])


REWARDS = st.floats(-1e4, 1e4, allow_nan=False)
MEMORIES = st.lists(
    st.builds(
        recalled,
        st.sampled_from(BOTH),
        REWARDS,
        st.floats(0.0, 1.0),
        st.sampled_from([SPOT, ELSEWHERE]),
        origin=st.sampled_from([None, "other"]),
    ),
    max_size=30,
)
LIVED = st.lists(st.tuples(st.sampled_from(BOTH), REWARDS), max_size=6)


@settings(max_examples=60, deadline=None)
@given(MEMORIES, LIVED)
def test_views_are_always_beliefs(given: list[Recalled], lived: list[tuple[object, float]]) -> None:
    choice = policy(taught(*lived)).choose(SPOT, BOTH, given)  # type: ignore[arg-type]
    assert sum(a.probability for a in choice.alternatives) == pytest.approx(1.0)
    assert all(0.0 <= (a.confidence or 0.0) <= 1.0 and np.isfinite(a.uncertainty or 0.0) for a in choice.alternatives)
    assert sum(m.weight for m in choice.memories) <= 1.0 + 1e-9
    assert bool(choice.memories) <= bool(Reminder([Known(a.name, None, None, "none") for a in BOTH], "", given))


def test_likeness_is_the_share_of_equal_fields() -> None:
    assert likeness("agent=a size=4 kind=x", "agent=b size=4 kind=x") == 1.0
    assert likeness("size=4 kind=x", "size=8 kind=x") == 0.75
    assert likeness("size=4 kind=x", "size=4 kind=y") == 0.5
    assert likeness("size=4", "colour=red") == 0.0
    assert likeness("size=-4", "size=4") == likeness("size=nan", "size=4") == 0.0


CUES = st.lists(st.sampled_from(["a=1", "a=2", "b=x", "b=unknown", "c=0", "c=-8", "plain", "="])).map(" ".join)


@given(CUES, CUES)
def test_likeness_is_symmetric_and_a_share(one: str, other: str) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0.0 <= likeness(one, other) <= 1.0
    assert likeness(one, one) == 1.0
