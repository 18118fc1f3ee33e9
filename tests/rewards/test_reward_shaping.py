"""Shaping leaves the optimal policy as it was, and telescopes over an episode."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.records import Reward
from whet.rewards import shape, shaping_term

DISCOUNT = 0.9
# state → action → (next state, reward); None ends the episode. From 0, patience pays: 1 + 0.9·(-1) + 0.81·12 > 5.
MDP: dict[int, dict[str, tuple[int | None, float]]] = {
    0: {"stop": (None, 5.0), "on": (1, 1.0)},
    1: {"on": (2, -1.0), "back": (0, 0.0)},
    2: {"stop": (None, 12.0), "back": (0, 2.0)},
}


def plain(raw: float) -> Reward:
    return Reward(profile="composite", parts=(), raw=raw, shaped=raw, credited=raw)


def optimal(reward: Callable[[int, int | None, float], float]) -> tuple[dict[int, str], dict[int, float]]:
    """Value iteration; the greedy policy and its values."""
    values = dict.fromkeys(MDP, 0.0)
    ahead: dict[int, dict[str, float]] = {}
    for _ in range(400):
        ahead = {
            state: {
                action: reward(state, following, raw) + DISCOUNT * (0.0 if following is None else values[following])
                for action, (following, raw) in actions.items()
            }
            for state, actions in MDP.items()
        }
        values = {state: max(options.values()) for state, options in ahead.items()}
    return {state: max(options, key=lambda action: options[action]) for state, options in ahead.items()}, values


@settings(deadline=None, max_examples=40)
@given(potentials=st.lists(st.floats(-100, 100), min_size=3, max_size=3))
def test_the_optimal_policy_is_unchanged(potentials: list[float]) -> None:
    def shaped(state: int, following: int | None, raw: float) -> float:
        after = 0.0 if following is None else potentials[following]
        return shape(plain(raw), potentials[state], after, DISCOUNT, following is None).shaped

    policy, values = optimal(lambda _state, _following, raw: raw)
    shaped_policy, shaped_values = optimal(shaped)
    assert policy == {0: "on", 1: "on", 2: "stop"}
    assert shaped_policy == policy
    for state, value in values.items():
        assert shaped_values[state] == pytest.approx(value - potentials[state], abs=1e-6)


def test_other_bonuses_do_change_it() -> None:
    """The proof above can fail: a bonus that is no potential difference makes going round in circles best."""
    policy, _ = optimal(lambda state, following, raw: raw + (20.0 if (state, following) == (1, 0) else 0.0))
    assert policy[1] == "back"


@settings(deadline=None)
@given(
    potentials=st.lists(st.floats(-100, 100), min_size=2, max_size=8),
    discount=st.floats(0, 1),
    last=st.floats(-100, 100),
)
def test_returns_telescope_to_the_first_potential(potentials: list[float], discount: float, last: float) -> None:
    following = [*potentials[1:], last]
    terms = [
        shaping_term(before, after, discount, step == len(potentials) - 1)
        for step, (before, after) in enumerate(zip(potentials, following, strict=True))
    ]
    total = sum(discount**step * term for step, term in enumerate(terms))
    assert total == pytest.approx(-potentials[0], abs=1e-9)


def test_hand_worked() -> None:
    reward = shape(plain(10.0), potential_before=4.0, potential_after=6.0, discount=0.5, done=False)
    assert (reward.raw, reward.shaped, reward.credited) == (10.0, 9.0, 9.0)
    assert shape(plain(10.0), 4.0, 6.0, 0.5, done=True).shaped == 6.0


@pytest.mark.parametrize(
    ("before", "after", "discount", "said"),
    [
        (math.nan, 0.0, 0.9, "potentials are nan"),
        (0.0, math.inf, 0.9, "finite number"),
        (0.0, 0.0, 1.1, "discount is 1.1"),
        (0.0, 0.0, math.nan, "discount is nan"),
        (-1e9, 0.0, 0.9, "shaped reward is"),
    ],
)
def test_unusable_input_is_refused(before: float, after: float, discount: float, said: str) -> None:
    with pytest.raises(RefusedInput, match=said):
        shape(plain(0.0), before, after, discount, done=False)
