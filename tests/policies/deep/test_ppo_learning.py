"""PPO learns tiny problems with known answers, counts what it did, and refuses what is no observation."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.policies.deep.ppo_problems import Bandit, Chain, small, train

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep.learning import Flags, Floats, Steps
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Linear

ALL: Flags = np.ones((1, 4), dtype=np.bool_)


def _rows(*numbers: int, width: int) -> Floats:
    return np.eye(width, dtype=np.float32)[list(numbers)]


def test_it_learns_the_best_arm_of_each_context() -> None:
    learner = PPO(small(Bandit), seed=1)
    told = train(learner, Bandit, rounds=480)
    values = learner.values(_rows(0, 1, 2, width=3), Bandit.ALLOWED)
    assert tuple(values.argmax(axis=1)) == Bandit.BEST
    assert values[2, 3] == -np.inf
    assert np.exp(values.max(axis=1)).min() > 0.8
    assert told[-1]["entropy"] < told[0]["entropy"]
    assert_allclose(learner.worth(_rows(0, 1, 2, width=3)), (100.0, 80.0, 60.0), atol=20.0)


def test_it_gives_the_first_of_three_steps_the_credit_for_the_last() -> None:
    learner = PPO(small(Chain), seed=2)
    told = train(learner, Chain, rounds=480)
    values = learner.values(_rows(0, 1, width=4), np.ones((2, 2), dtype=np.bool_))
    assert tuple(values.argmax(axis=1)) == Chain.BEST
    assert np.exp(values.max(axis=1)).min() > 0.9
    assert told[-1]["explained_variance"] > 0.5 > told[0]["explained_variance"]


def test_the_critic_of_a_large_reward_has_small_errors() -> None:
    told = train(PPO(small(Bandit), seed=1), Bandit, rounds=320)
    assert told[-1]["value_loss"] < 1.0  # the raw rewards are about 100, and their squares 10,000


def test_it_counts() -> None:
    learner = PPO(small(Chain, rollout_steps=10, minibatch=20, epochs=3), seed=3)
    assert [bool(measures) for measures in (train(learner, Chain, rounds=9), train(learner, Chain, rounds=1))] == [0, 1]
    assert (learner.steps, learner.episodes) == (80, 3 * 8 + 8)  # each ninth step ends; the tenth was cut
    assert (learner.updates, learner.rollouts, len(learner.rollout)) == (3 * 4, 1, 0)


def test_before_the_first_update_the_policy_is_the_one_that_acted() -> None:
    told = train(PPO(small(Bandit, epochs=1, minibatch=128), seed=1), Bandit, rounds=32)
    assert [each["kl"] for each in told] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert [each["clipped"] for each in told] == [0.0, 0.0]
    assert [each["policy_loss"] for each in told] == pytest.approx([0.0, 0.0], abs=1e-6)  # advantages have the mean 0


def test_rates_follow_their_schedules() -> None:
    falling = Linear(first=0.01, last=0.002, steps=256)
    told = train(PPO(small(Chain, learning_rate=falling, clip=Linear(first=0.4, steps=512))), Chain, rounds=48)
    assert [each["learning_rate"] for each in told] == pytest.approx([0.006, 0.002, 0.002])
    assert [each["clip"] for each in told] == pytest.approx([0.3, 0.2, 0.1])


def test_a_rate_that_has_come_to_nothing_changes_nothing() -> None:
    learner = PPO(small(Chain, learning_rate=Linear(first=0.01, last=0.0, steps=128)), seed=3)
    row, mask = _rows(0, width=4), np.ones((1, 2), dtype=np.bool_)
    before = learner.values(row, mask).tolist()
    assert train(learner, Chain, rounds=16)
    assert learner.values(row, mask).tolist() == before


def test_equal_seeds_learn_equally_and_others_do_not() -> None:
    def learned(seed: int) -> list[dict[str, float]]:
        return train(PPO(small(Chain, minibatch=30, value_clip=0.2), seed), Chain, rounds=32)

    assert learned(4) == learned(4)
    assert learned(4) != learned(5)


def test_actions_are_drawn_with_the_probabilities_told() -> None:
    learner = PPO(small(Bandit), seed=1)
    train(learner, Bandit, rounds=32)
    mask = np.array([[True, False, True, True]])
    drawn = learner.act(_rows(1, width=3).repeat(40_000, axis=0), mask.repeat(40_000, axis=0))
    chances = np.exp(learner.values(_rows(1, width=3), mask)[0])
    assert_allclose(chances.sum(), 1.0, rtol=1e-6)
    counts = np.bincount(drawn.actions, minlength=4)
    assert counts[1] == 0
    expected = chances * 40_000
    assert ((counts - expected)[mask[0]] ** 2 / expected[mask[0]]).sum() < 18.4  # χ², 2 degrees of freedom: 1 in 10,000
    assert_allclose(drawn.probabilities, chances[drawn.actions], rtol=1e-5)


def test_a_decision_does_not_depend_on_its_batch_mates() -> None:
    learner = PPO(small(Bandit), seed=1)
    rows = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    whole = learner.values(rows, ALL.repeat(50, axis=0))
    alone = np.concatenate([learner.values(row[None], ALL) for row in rows])
    assert_allclose(whole, alone, atol=1e-6)


def test_what_would_follow_a_cut_counts_and_what_would_follow_the_end_does_not() -> None:
    """One step of reward 1, over and over: cut, it is worth 1 / (1 − γ) and ended, 1."""

    def worth(*, cut: bool) -> float:
        learner = PPO(small(Chain, discount=0.5, normalise_rewards=False, learning_rate=Linear(first=0.02)), seed=1)
        rows, allowed = _rows(*[0] * 8, width=4), np.ones((8, 2), dtype=np.bool_)
        ones, flags = np.ones(8, dtype=np.float32), np.full(8, cut)
        for _ in range(16 * 25):
            acts = learner.act(rows, allowed)
            learner.learn(Steps(rows, allowed, *acts, ones, rows, allowed, ~flags, flags))
        return float(learner.worth(rows[:1])[0])

    assert worth(cut=False) == pytest.approx(1.0, abs=0.02)
    assert worth(cut=True) == pytest.approx(2.0, abs=0.04)


def test_without_anything_that_varies_the_explained_variance_is_unknown() -> None:
    learner = PPO(small(Chain, rollout_steps=1, gae_lambda=0.0, discount=0.0, normalise_rewards=False))
    told = learner.learn(_steps())
    assert math.isnan(told["explained_variance"])
    assert all(math.isfinite(value) for name, value in told.items() if name != "explained_variance")


def _steps() -> Steps:
    rows, allowed = _rows(0, 1, width=4), np.ones((2, 2), dtype=np.bool_)
    one, half, no = np.ones(2, dtype=np.float32), np.full(2, 0.5, dtype=np.float32), np.zeros(2, dtype=np.bool_)
    return Steps(rows, allowed, np.array([0, 1]), half, one, rows, allowed, no, no)


NAN: Floats = np.full((2, 4), np.nan, dtype=np.float32)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"observations": NAN}, "not finite"),
        ({"next_observations": -NAN * np.inf}, "not finite"),
        ({"masks": np.zeros((2, 2), dtype=np.bool_)}, "no action is allowed"),
        ({"next_masks": np.zeros((2, 2), dtype=np.bool_)}, "no action is allowed"),
        ({"rewards": np.array([0.0, np.inf], dtype=np.float32)}, "a reward is not finite"),
        ({"actions": np.array([0, 2])}, "none of 0 to 1"),
        ({"actions": np.array([0, -1])}, "none of 0 to 1"),
        ({"masks": np.array([[False, True], [True, True]])}, "does not allow"),
        ({"probabilities": np.array([0.5, 0.0], dtype=np.float32)}, "above 0"),
        ({"probabilities": np.array([0.5, np.nan], dtype=np.float32)}, "above 0"),
        ({"rewards": np.zeros(3, dtype=np.float32)}, r"\[2, 3\] rows"),
    ],
)
def test_steps_that_cannot_be_are_refused_and_nothing_has_changed(wrong: dict[str, Any], problem: str) -> None:
    learner = PPO(small(Chain))
    with pytest.raises(RefusedInput, match=problem):
        learner.learn(_steps()._replace(**wrong))
    assert (learner.steps, len(learner.rollout)) == (0, 0)


def test_after_the_end_no_action_need_be_allowed() -> None:
    ended: dict[str, Any] = {"next_masks": np.zeros((2, 2), dtype=np.bool_), "terminated": np.ones(2, dtype=np.bool_)}
    PPO(small(Chain)).learn(_steps()._replace(**ended))


def test_other_environments_within_a_rollout_are_refused() -> None:
    learner = PPO(small(Chain))
    learner.learn(_steps())
    with pytest.raises(RefusedInput, match="after 2 of earlier"):
        learner.learn(Steps(*(column[:1] for column in _steps())))  # type: ignore[arg-type]  # each keeps its type


def test_observations_that_are_none_are_not_decided_on() -> None:
    learner = PPO(small(Chain))
    for row, mask in ((NAN[:1], ALL[:, :2]), (_rows(0, width=4), ~ALL[:, :2]), (_rows(0, width=3), ALL[:, :2])):
        with pytest.raises(RefusedInput, match="cannot be decided on"):
            learner.act(row, mask)


def test_a_divergence_is_told() -> None:
    learner = PPO(small(Chain, rollout_steps=1, normalise_rewards=False))
    huge = np.full(2, 1e38, dtype=np.float32)
    with pytest.raises(WhetError, match="diverged"):
        learner.learn(_steps()._replace(rewards=huge))
