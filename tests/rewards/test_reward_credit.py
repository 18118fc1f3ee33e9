"""Credit is shared among agents, never made or lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.records import Reward
from whet.rewards import assign

AGENTS = ["coverage-analyzer", "flaky-test-hunter", "test-executor"]


def earned(points: float) -> Reward:
    return Reward(profile="composite", parts=(), raw=points, shaped=points, credited=points)


def test_hand_worked() -> None:
    turns = [("a", "test-executor", earned(10.0)), ("b", "coverage-analyzer", earned(-2.0))]
    shared = assign(turns)
    # the mean is 4: 0.8·10 + 0.2·4, and 0.8·(-2) + 0.2·4
    assert {key: reward.credited for key, reward in shared.items()} == pytest.approx({"a": 8.8, "b": -0.8})
    assert (shared["a"].raw, shared["a"].shaped) == (10.0, 10.0)


@settings(deadline=None)
@given(
    turns=st.lists(st.tuples(st.sampled_from(AGENTS), st.floats(-10_000, 10_000)), max_size=12), share=st.floats(0, 1)
)
def test_the_total_stays(turns: list[tuple[str, float]], share: float) -> None:
    rewards = [(str(number), agent, earned(points)) for number, (agent, points) in enumerate(turns)]
    shared = assign(rewards, share)
    assert shared.keys() == {key for key, _, _ in rewards}
    total = sum(points for _, points in turns)
    assert sum(reward.credited for reward in shared.values()) == pytest.approx(total, abs=1e-6)


def test_an_agent_alone_keeps_what_each_turn_earned() -> None:
    turns = [("a", "test-executor", earned(10.0)), ("b", "test-executor", earned(0.0))]
    assert [reward.credited for reward in assign(turns, 0.5).values()] == [10.0, 0.0]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_an_impossible_share_is_refused(share: float) -> None:
    with pytest.raises(RefusedInput, match="team share is"):
        assign([], share)


def test_a_turn_listed_twice_is_refused() -> None:
    with pytest.raises(RefusedInput, match="listed twice"):
        assign([("a", "x", earned(1.0)), ("a", "y", earned(1.0))])
