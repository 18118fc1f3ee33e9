"""Credit adds up, messages carry what only the other has seen."""

import numpy as np
import pytest
from benchmarks.teamwork import GAMES, life
from hypothesis import given
from hypothesis import strategies as st

from whet.policies.deep.credit import Credits, Present, difference_credits, shapley_credits
from whet.policies.deep.teamwork import Team, TeamConfig

worths = st.integers(1, 4).flatmap(
    lambda agents: st.tuples(st.just(agents), st.lists(st.floats(-100, 100), min_size=2**agents, max_size=2**agents))
)


@given(worths, st.integers(1, 5), st.integers(0, 1000))
def test_shapley_adds_up_to_what_the_team_earned(game: tuple[int, list[float]], orders: int, seed: int) -> None:
    agents, table = game
    shares = shapley_credits(
        agents, lambda present: np.array([table[int((present * 2 ** np.arange(agents)).sum())]]), orders,
        np.random.default_rng(seed),
    )  # fmt: skip
    assert shares.shape == (1, agents)
    assert shares.sum() == pytest.approx(table[-1] - table[0], abs=1e-6)


def test_credits_by_hand() -> None:
    """One left and two right gloves: a pair is worth 1. A right glove counts in the one order in six where it is
    the first right one and comes after the left."""

    def worth(present: Present) -> Credits:
        return np.array([float(present[0] and (present[1] or present[2]))])

    assert difference_credits(3, worth).tolist() == [[1.0, 0.0, 0.0]]
    told = shapley_credits(3, worth, 3_000, np.random.default_rng(1))
    assert told[0].tolist() == pytest.approx([4 / 6, 1 / 6, 1 / 6], abs=0.03)


def test_who_adds_nothing_gets_nothing_and_equals_get_the_same() -> None:
    def worth(present: Present) -> Credits:
        return np.array([3.0 * present[0] + 3.0 * present[1], 0.0])

    assert shapley_credits(3, worth, 2, np.random.default_rng(0)).tolist() == [[3.0, 3.0, 0.0], [0.0, 0.0, 0.0]]


def test_one_hears_the_other_and_not_itself_and_nothing_when_messages_are_off() -> None:
    random = np.random.default_rng(0)
    seen = random.normal(size=(1, 2, 4)).astype(np.float32)
    changed = seen.copy()
    changed[0, 1] += 1.0
    for message, hears in ((8, True), (0, False)):
        team = Team(TeamConfig(agents=2, width=4, actions=3, message=message), seed=1)
        before, after = team.probabilities(seen)[0, 0], team.probabilities(changed)[0, 0]
        assert bool(np.abs(before - after).max() > 1e-6) is hears


def test_actions_are_drawn_by_their_probabilities_and_by_the_seed() -> None:
    seen = np.ones((20_000, 2, 1), dtype=np.float32)
    first, second = (Team(TeamConfig(agents=2, width=1, actions=3), seed=4) for _ in range(2))
    drawn = first.act(seen)
    shares = np.stack([(drawn == action).mean(axis=0) for action in range(3)], axis=-1)
    np.testing.assert_allclose(shares, first.probabilities(seen[:1])[0], atol=0.02)
    assert (drawn == second.act(seen)).all()


def test_messages_and_credit_beat_independent_learning() -> None:
    """At best 12; without messages at best 3. The whole, over ten seeds, is benchmarks/teamwork.py."""
    game = GAMES["signals"]._replace(rounds=150)
    together = [life(game, 8, "difference", seed)[0] for seed in range(2)]
    independent = [life(game, 0, "team", seed)[0] for seed in range(2)]
    assert min(together) > 10.0
    assert max(independent) < 3.5
