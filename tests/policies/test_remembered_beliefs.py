"""What is remembered changes what is decided, by exactly as much as the arithmetic says."""

from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.policy_worlds import LEFT, RIGHT, STAY, Spot, experience

from whet.core.memories import Kind, Memory, Recalled
from whet.core.records import Action
from whet.policies.hierarchy import Hierarchy, Known
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner
from whet.policies.likeness import likeness
from whet.policies.remembered import DOUBT_HERE, HALF_LIFE, Reminder, score
from whet.policies.tabular import TabularPolicy, Thompson
from whet.policies.warm_start import Expected, Prior, WarmStart

SPOT, ELSEWHERE = Spot(where=1), Spot(where=2)
BOTH = (LEFT, RIGHT)
AT = datetime(2026, 1, 1, tzinfo=UTC)


def recalled(action: Action, reward: Any = 0.0, like: float = 1.0, state: Spot = SPOT, **about: Any) -> Recalled:
    told = {"action": action.name, "reward": reward, "state_key": state.key()} | about
    source = f"{sorted(told.items(), key=str)}"[:400]
    memory = Memory(
        project="p", kind=Kind.EPISODIC, topic="experience", source=source, agent="walker", text="x", about=told, at=AT
    )
    return Recalled(memory, like, "because")


def policy(tables: InProcessTables | None = None) -> TabularPolicy:
    hierarchy = Hierarchy("walker", "walkers", tables or InProcessTables())
    return TabularPolicy(hierarchy, Thompson(), 0.1, np.random.default_rng(1))


def chances(given: list[Recalled], tables: InProcessTables | None = None) -> dict[str, float]:
    return {a.action: a.probability for a in policy(tables).choose(SPOT, BOTH, given).alternatives}


def taught(*rewards: tuple[Action, float]) -> InProcessTables:
    tables = InProcessTables()
    learner = QLearner(Hierarchy("walker", "walkers", tables), {a.name: a for a in BOTH})
    for action, earned in rewards:
        tables.learn(learner.lesson(experience(SPOT, action, earned)))
    return tables


PAID = [recalled(LEFT, 20.0), recalled(RIGHT, 0.0)]


def test_the_probability_rises_as_worked_out_by_hand() -> None:
    """The parts of actions have the variance (200 + 2 · 100) / 3, rewards 25: of 20 apart, 20 · 400/475 is believed."""
    part, noise = 400 / 3, 25.0
    apart = 20.0 * part / (part + noise)
    error = part * noise / (part + noise) + DOUBT_HERE**2 * part
    by_hand = NormalDist().cdf(apart / (2 * error) ** 0.5)
    assert by_hand == pytest.approx(0.9743, abs=1e-4)
    assert chances([]) == {"left": pytest.approx(0.5), "right": pytest.approx(0.5)}
    assert chances(PAID) == {"left": pytest.approx(by_hand, abs=3e-4), "right": pytest.approx(1 - by_hand, abs=3e-4)}


def test_what_is_less_alike_and_what_is_older_counts_less() -> None:
    alike = [chances([each._replace(score=like) for each in PAID])["left"] for like in (1.0, 0.6, 0.2)]
    assert alike == sorted(alike, reverse=True)
    assert alike[-1] > 0.5
    assert score(1.0, HALF_LIFE) == pytest.approx(0.5)
    assert score(0.5, timedelta(0)) == pytest.approx(0.5**4)


def test_own_visits_soon_overrule_what_is_remembered() -> None:
    lived = [(LEFT, 2.0), (RIGHT, 12.0)] * 4
    assert chances(PAID, taught(*lived[:2]))["left"] > 0.5
    assert chances(PAID, taught(*lived))["left"] < 0.5


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
    ],
    ids=["other action", "unknown", "no number", "text", "huge", "no state", "unlike"],
)
def test_what_says_nothing_changes_nothing_to_the_bit(useless: Recalled) -> None:
    tables = taught((LEFT, 9.0), (RIGHT, 4.0))
    assert policy(tables).choose(SPOT, BOTH, [useless]) == policy(tables).choose(SPOT, BOTH)


def test_the_decision_names_what_counted_with_its_share() -> None:
    choice = policy().choose(SPOT, BOTH, [PAID[0], PAID[1]._replace(score=0.5), recalled(STAY, 3.0)])
    assert [m.memory for m in choice.memories] == [each.memory.id for each in PAID]
    assert [m.weight for m in choice.memories] == pytest.approx([2 / 3, 1 / 3])
    assert {(m.why, m.text) for m in choice.memories} == {("because", "")}
    assert {(a.source, a.visits) for a in choice.alternatives} == {("memory", 0)}
    assert choice.version != policy().choose(SPOT, BOTH).version


def test_an_action_that_nobody_remembers_keeps_its_chance() -> None:
    told = policy().choose(SPOT, (LEFT, RIGHT, STAY), PAID).alternatives
    untold = next(a for a in told if a.action == "stay")
    assert (untold.value, untold.source) == (None, "none")
    assert 0.02 < untold.probability < 0.5


def test_levels_of_states_do_not_count() -> None:
    """Another state pays 30 more, whatever is done: what counts is what an action paid beyond the others there."""
    there = [recalled(LEFT, 38.0, 0.9, ELSEWHERE), recalled(RIGHT, 30.0, 0.9, ELSEWHERE)]
    here = taught((RIGHT, 0.0), (RIGHT, 1.0), (RIGHT, -1.0))
    values = {a.action: a.value or 0.0 for a in policy(here).choose(SPOT, BOTH, there).alternatives}
    assert 2.0 < values["left"] - values["right"] < 16.0


def test_a_warm_start_is_reminded_too() -> None:
    part = Expected(mean=0.0, doubt=1.0, states=3)
    prior = Prior(agent="walker", unit=5.0, actions={"left": part, "right": part}, sources=("w",))
    warm = WarmStart(prior, Hierarchy("walker", "walkers", InProcessTables()), 0.1, np.random.default_rng(1))
    told = {a.action: a.probability for a in warm.choose(SPOT, BOTH, PAID).alternatives}
    assert told["left"] > 0.9
    assert [a.probability for a in warm.choose(SPOT, BOTH).alternatives] == pytest.approx([0.5, 0.5])


REWARDS = st.floats(-1e4, 1e4, allow_nan=False)
MEMORIES = st.lists(
    st.builds(recalled, st.sampled_from(BOTH), REWARDS, st.floats(0.0, 1.0), st.sampled_from([SPOT, ELSEWHERE])),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(MEMORIES)
def test_beliefs_are_always_beliefs(given: list[Recalled]) -> None:
    known = [Known(a.name, None, None, "none") for a in BOTH]
    reminder = Reminder(known, SPOT.key(), given)
    if not reminder:
        return
    beliefs = reminder.beliefs()
    assert np.isfinite(beliefs.means).all()
    assert (beliefs.errors > 0).all()
    told = policy().choose(SPOT, BOTH, given).alternatives
    assert sum(a.probability for a in told) == pytest.approx(1.0)
    assert sum(m.weight for m in reminder.recollections()) <= 1.0 + 1e-9


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
