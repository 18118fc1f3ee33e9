import numpy as np
import pytest
import torch
from tests.policies.deep.small_problems import STATES, all_allowed, bandit_steps, one_hot, play_bandit, small_config

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Floats, Steps


def test_it_learns_to_name_what_it_sees() -> None:
    learner = DQN(small_config(), seed=1)
    play_bandit(learner, np.eye(4, dtype=np.float32), rounds=150)
    assert learner.values(STATES, all_allowed(4, 4)).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_it_learns_the_mean_rewards_of_a_contextual_bandit() -> None:
    """Values are told in rewards, whatever the scale inside."""
    worth = np.array([[10, -20, 40, 0], [5, 5, -5, 60], [-40, 30, 1, 2], [40, 8, 9, 10]], dtype=np.float32)
    learner = DQN(small_config(reward_scale=0.02, network=Network(encoder=(64, 64), heads=2)), seed=2)
    play_bandit(learner, worth, rounds=500, noise=5.0)
    values = learner.values(STATES, all_allowed(4, 4))
    assert np.abs(values - worth).max() < 6.0
    assert values.argmax(axis=1).tolist() == worth.argmax(axis=1).tolist()


def corridor(rng: np.random.Generator, rows: int) -> tuple[Floats, Floats]:
    places = rng.integers(0, 3, rows)
    return one_hot(places, 4), one_hot(places + 1, 4)


def test_what_follows_is_discounted_and_a_cut_episode_goes_on() -> None:
    """Four places in a row, 1 for reaching the last: 1, γ and γ² by distance; being cut on the way changes nothing."""
    learner = DQN(small_config(actions=("on",), discount=0.5, batch=32, steps_per_round=4), seed=3)
    random = np.random.default_rng(4)
    for _ in range(200):
        here, there = corridor(random, 8)
        ended = there[:, 3] == 1.0
        cut = ~ended & (random.random(8) < 0.5)
        whole, chances = np.zeros(8, dtype=np.int64), np.ones(8, dtype=np.float32)
        learner.learn(
            Steps(
                here, all_allowed(8, 1), whole, chances, ended.astype(np.float32), there, all_allowed(8, 1), ended, cut
            )
        )
    values = learner.values(STATES[:3], all_allowed(3, 1))[:, 0]
    assert values == pytest.approx([0.25, 0.5, 1.0], abs=0.08)


def test_a_million_states_and_never_an_action_that_is_not_allowed() -> None:
    layout = Layout(tokens=2, width=3)
    config = small_config(layout=layout, actions=tuple("abcdefgh"), epsilon=0.5, epsilon_decay=1.0)
    learner, random = DQN(config, seed=1), np.random.default_rng(0)
    for _ in range(20):
        rows = random.normal(scale=10.0, size=(50_000, layout.size)).astype(np.float32)
        masks = random.random((50_000, 8)) < 0.3
        masks[np.arange(50_000), random.integers(0, 8, 50_000)] = True
        acts = learner.act(rows, masks)
        assert masks[np.arange(50_000), acts.actions].all()
        assert ((acts.probabilities > 0.0) & (acts.probabilities <= 1.0)).all()


def test_the_probabilities_told_are_those_of_the_draw() -> None:
    """ε = 0.4 and two of four allowed: the best has 0.6 + 0.2, the other 0.2."""
    learner = DQN(small_config(epsilon=0.4, epsilon_decay=1.0), seed=1)
    rows, masks = np.tile(STATES[0], (20_000, 1)), np.tile(np.array([True, False, True, False]), (20_000, 1))
    best = int(learner.values(rows[:1], masks[:1]).argmax())
    acts = learner.act(rows, masks)
    assert (acts.actions == best).mean() == pytest.approx(0.8, abs=0.015)
    assert acts.probabilities[acts.actions == best] == pytest.approx(0.8)
    assert acts.probabilities[acts.actions != best] == pytest.approx(0.2)


def test_values_of_what_is_not_allowed_are_minus_infinity() -> None:
    masks = np.array([[True, False, True, False]])
    values = DQN(small_config(), seed=1).values(STATES[:1], masks)
    assert np.isneginf(values).tolist() == (~masks).tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_observation_that_is_not_finite_is_refused(bad: float) -> None:
    rows = STATES.copy()
    rows[2, 1] = bad
    with pytest.raises(RefusedInput, match="observation 2 has numbers that are not finite"):
        DQN(small_config()).act(rows, all_allowed(4, 4))


def test_a_mask_that_allows_nothing_is_refused() -> None:
    masks = all_allowed(4, 4)
    masks[3] = False
    with pytest.raises(RefusedInput, match="no action is allowed for observation 3"):
        DQN(small_config()).act(STATES, masks)


def test_observations_and_masks_of_another_shape_are_refused() -> None:
    learner = DQN(small_config())
    with pytest.raises(RefusedInput, match="rows of 4 numbers"):
        learner.act(STATES[:, :3], all_allowed(4, 4))
    with pytest.raises(RefusedInput, match="rows of 4 booleans"):
        learner.act(STATES, all_allowed(4, 3))


def test_steps_with_an_action_that_was_not_allowed_or_does_not_exist_are_refused() -> None:
    learner, masks, rewards = DQN(small_config()), all_allowed(4, 4), np.zeros(4, dtype=np.float32)
    masks[1, 2] = False
    with pytest.raises(RefusedInput, match="action 2 was taken at observation 1"):
        learner.learn(bandit_steps(STATES, masks, np.full(4, 2), rewards))
    with pytest.raises(RefusedInput, match="from 0 to 3"):
        learner.learn(bandit_steps(STATES, masks, np.full(4, 4), rewards))
    assert (learner.steps, len(learner.replay)) == (0, 0)


def test_steps_are_counted_and_updates_come_when_it_is_time() -> None:
    learner = DQN(small_config(steps_per_round=16, updates_per_round=2, warm_up_steps=32), seed=1)
    play_bandit(learner, STATES, rounds=8)
    assert (learner.steps, learner.updates) == (64, 6)  # at 32, 48 and 64


def test_what_was_measured_while_improving_is_told() -> None:
    learner = DQN(small_config(warm_up_steps=8), seed=1)
    told = learner.learn(
        bandit_steps(np.tile(STATES, (2, 1)), all_allowed(8, 4), np.arange(8) % 4, np.ones(8, np.float32))
    )
    assert told.keys() == {"epsilon", "loss", "q_value", "td_error", "gradient_norm", "learning_rate", "beta"}
    assert all(np.isfinite(value) for value in told.values())


def test_the_target_follows_slowly() -> None:
    """After one update from equal weights, target = old + τ · (new − old)."""
    learner = DQN(small_config(target_rate=0.25, warm_up_steps=8), seed=1)
    old = learner.online.heads.worth.detach().clone()
    learner.learn(bandit_steps(np.tile(STATES, (2, 1)), all_allowed(8, 4), np.arange(8) % 4, np.ones(8, np.float32)))
    new = learner.online.heads.worth.detach()
    assert not torch.equal(old, new)
    torch.testing.assert_close(learner.target.heads.worth, old + 0.25 * (new - old))


def test_a_network_that_diverged_is_not_listened_to() -> None:
    learner = DQN(small_config())
    with torch.no_grad():
        learner.online.heads.worth.fill_(torch.inf)
    with pytest.raises(WhetError, match="diverged"):
        learner.act(STATES, all_allowed(4, 4))


def test_equal_seeds_give_equal_learners() -> None:
    one, same, other = (DQN(small_config(), seed) for seed in (1, 1, 2))
    for learner in (one, same, other):
        play_bandit(learner, STATES, rounds=20)
    first, equal, different = (each.values(STATES, all_allowed(4, 4)) for each in (one, same, other))
    assert np.array_equal(first, equal)
    assert not np.array_equal(first, different)


def test_the_heads_disagree_more_on_what_was_seldom_tried() -> None:
    learner = DQN(small_config(network=Network(encoder=(64, 64), heads=8)), seed=1)
    random = np.random.default_rng(0)
    for _ in range(100):
        actions = np.where(random.random(8) < 0.98, 0, 1).astype(np.int64)
        rewards = random.normal(scale=1.0, size=8).astype(np.float32)
        learner.learn(bandit_steps(one_hot(np.zeros(8, dtype=np.int64), 4), all_allowed(8, 4), actions, rewards))
    spread = learner.values_by_head(STATES[:1], all_allowed(1, 4)).std(axis=1)[0]
    assert spread[0] < spread[1]


def test_by_default_it_learns_as_the_specification_says() -> None:
    config = Config(layout=Layout(tokens=1, width=4), actions=("a", "b"))
    assert (config.discount, config.target_rate, config.batch) == (0.99, 0.001, 256)
    assert (config.capacity, config.alpha, config.beta) == (1_000_000, 0.6, 0.4)
    assert (config.learning_rate, config.weight_decay, config.gradient_clip) == (3e-4, 1e-5, 10.0)
    assert (config.restart_updates, config.restart_factor) == (1000, 2)
    assert (config.epsilon, config.epsilon_floor, config.epsilon_decay) == (0.2, 0.01, 0.995)
