from pathlib import Path

import numpy as np
import pytest
from tests.policies.deep.small_problems import all_allowed, bandit_steps, small_config

from whet.core.errors import RefusedInput
from whet.policies.deep import artefacts
from whet.policies.deep.acting import Actor, PPOActor
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config

ONE = Layout(tokens=1, width=4)
GROUPS = Layout(tokens=3, width=19, digest="groups")
RECALLING = Layout(tokens=2, width=5, memories=16, memory_width=8)


def states(layout: Layout, rows: int, seed: int = 0) -> tuple[Floats, Flags]:
    """With none to all of the memories, and one to all of the actions."""
    random = np.random.default_rng(seed)
    drawn = random.normal(scale=2.0, size=(rows, layout.size)).astype(np.float32)
    if layout.memories:
        drawn[:, -layout.memories :] = np.arange(layout.memories) < random.integers(0, layout.memories + 1, (rows, 1))
    masks = random.random((rows, 4)) < 0.5
    masks[np.arange(rows), random.integers(0, 4, rows)] = True
    return drawn, masks


def trained(layout: Layout, network: Network) -> DQN:
    """A few updates, so that nothing is as it began."""
    learner, (rows, _) = (
        DQN(small_config(layout=layout, network=network, reward_scale=0.5), seed=4),
        states(layout, 64, 9),
    )
    for _ in range(5):
        learner.learn(bandit_steps(rows, all_allowed(64, 4), np.arange(64) % 4, rows[:, 0] * 3.0))
    return learner


def trained_ppo(layout: Layout) -> PPO:
    """One rollout, learned from."""
    learner = PPO(Config(layout=layout, actions=("a", "b", "c", "d"), rollout_steps=2, device="cpu"), seed=4)
    rows, _ = states(layout, 64, 9)
    for _ in range(2):
        acts = learner.act(rows, all_allowed(64, 4))
        steps = bandit_steps(rows, all_allowed(64, 4), acts.actions, rows[:, 0] * acts.actions)
        learner.learn(steps._replace(probabilities=acts.probabilities))
    assert learner.updates
    return learner


@pytest.mark.parametrize("layout", [ONE, GROUPS, RECALLING])
def test_ten_thousand_states_and_the_actions_of_torch(layout: Layout, tmp_path: Path) -> None:
    learner = trained(layout, Network())
    learner.save(tmp_path)
    actor, (rows, masks) = Actor.open(tmp_path, layout), states(layout, 10_000)
    chosen = [actor.best(row, mask) for row, mask in zip(rows, masks, strict=True)]
    assert chosen == learner.values(rows, masks).argmax(axis=1).tolist()


@pytest.mark.parametrize("layout", [ONE, GROUPS, RECALLING])
def test_each_heads_values_are_those_of_torch(layout: Layout, tmp_path: Path) -> None:
    learner = trained(layout, Network(encoder=(48, 32), heads=3, stream=16, attention=24, attention_heads=3))
    learner.save(tmp_path)
    actor, (rows, masks) = Actor.open(tmp_path), states(layout, 200)
    values = np.stack([actor.values_by_head(row, mask) for row, mask in zip(rows, masks, strict=True)])
    np.testing.assert_allclose(values, learner.values_by_head(rows, masks), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", [ONE, RECALLING])
def test_ten_thousand_states_and_the_actions_of_ppo_in_torch(layout: Layout, tmp_path: Path) -> None:
    learner = trained_ppo(layout)
    learner.save(tmp_path)
    actor, (rows, masks) = PPOActor.open(tmp_path, layout), states(layout, 10_000)
    chosen = [actor.best(row, mask) for row, mask in zip(rows, masks, strict=True)]
    assert chosen == learner.values(rows, masks).argmax(axis=1).tolist()


def test_a_ppo_that_does_not_fit_its_config_is_refused_by_name(tmp_path: Path) -> None:
    trained_ppo(ONE).save(tmp_path)
    artefact = artefacts.read(tmp_path, "ppo")
    config = Config.model_validate(artefact.manifest.config).model_copy(update={"hidden": (64, 32)})
    place = artefacts.begin(tmp_path)
    artefacts.finish(place, "ppo", config, artefact.manifest.progress, artefact.tensors)
    with pytest.raises(RefusedInput, match=r"'actor.2.bias' has the shape \(64,\) where \(32,\) is needed"):
        PPOActor.open(tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_not_finite_is_refused(bad: float, tmp_path: Path) -> None:
    trained(ONE, Network()).save(tmp_path)
    actor, row = Actor.open(tmp_path), np.array([0.0, bad, 0.0, 0.0], dtype=np.float32)
    with pytest.raises(RefusedInput, match="not finite"):
        actor.best(row, np.ones(4, dtype=np.bool_))


def test_numbers_too_large_for_the_network_are_refused(tmp_path: Path) -> None:
    learner, row = trained(ONE, Network()), np.array([0.0, 2e9, -2e9, 0.0], dtype=np.float32)
    learner.save(tmp_path)
    with pytest.raises(RefusedInput, match="beyond"):
        Actor.open(tmp_path).best(row, np.ones(4, dtype=np.bool_))
    with pytest.raises(RefusedInput, match="beyond"):
        learner.act(row[None], all_allowed(1, 4))


def test_numbers_as_large_as_allowed_are_decided_on_as_by_torch(tmp_path: Path) -> None:
    learner, row = trained(ONE, Network()), np.full(4, 1e9, dtype=np.float32)
    learner.save(tmp_path)
    chosen = Actor.open(tmp_path).best(row, np.ones(4, dtype=np.bool_))
    assert chosen == learner.values(row[None], all_allowed(1, 4)).argmax()


def test_a_mask_that_allows_nothing_or_does_not_fit_is_refused(tmp_path: Path) -> None:
    trained(ONE, Network()).save(tmp_path)
    actor, row = Actor.open(tmp_path), np.zeros(4, dtype=np.float32)
    with pytest.raises(RefusedInput, match="no action is allowed"):
        actor.best(row, np.zeros(4, dtype=np.bool_))
    with pytest.raises(RefusedInput, match="rows of 4 booleans"):
        actor.best(row, np.ones(3, dtype=np.bool_))
    with pytest.raises(RefusedInput, match="rows of 4 numbers"):
        actor.best(row[:3], np.ones(4, dtype=np.bool_))
