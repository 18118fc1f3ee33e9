"""Learners that improve together end where each would have ended by itself."""

from pathlib import Path

import numpy as np
import pytest
import torch

from whet.core.errors import RefusedInput
from whet.policies.deep.batched import LARGEST_WORTHWHILE_BATCH, Together, clip_each, worth_batching
from whet.policies.deep.batched_network import batched_values
from whet.policies.deep.batched_shapes import Shapes, own_part
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Floats, Steps

PLAIN = Layout(tokens=1, width=6)
TOKENS = Layout(tokens=3, width=2)
MEMORIES = Layout(tokens=2, width=3, memories=4, memory_width=2)
NETWORK = Network(encoder=(16, 12), stream=8, heads=3, attention=8, attention_heads=2)
layouts = pytest.mark.parametrize("layout", [PLAIN, TOKENS, MEMORIES], ids=["plain", "tokens", "memories"])


def config(layout: Layout, actions: tuple[str, ...] = ("a", "b", "c"), reward_scale: float = 1.0) -> Config:
    # The norms are about 1, so that some learners are clipped and some are not.
    return Config(layout=layout, actions=actions, reward_scale=reward_scale, network=NETWORK, batch=32,
                  warm_up_steps=10**9, anneal_steps=200,
                  learning_rate=0.01, target_rate=0.05, gradient_clip=1.0, capacity=200, restart_updates=4)  # fmt: skip


def learners(layout: Layout, count: int = 4) -> list[DQN]:
    made = []
    for seed in range(count):
        learner, random = DQN(config(layout), seed), np.random.default_rng(seed)
        learner.learn(steps(layout, random, 100))
        made.append(learner)
    return made


def different_learners() -> list[DQN]:
    """As agents are: each with a state, actions and rewards of its own."""
    made = []
    kinds = [(Layout(tokens=2, width=5), 5, 1.0), (Layout(tokens=4, width=2), 3, 0.1), (TOKENS, 4, 3.0)]
    for seed, (layout, actions, scale) in enumerate(kinds):
        learner = DQN(config(layout, tuple("abcdef"[:actions]), scale), seed)
        learner.learn(steps(layout, np.random.default_rng(seed), 100, actions))
        made.append(learner)
    return made


def steps(layout: Layout, random: np.random.Generator, rows: int, actions: int = 3) -> Steps:
    masks = np.ones((rows, actions), dtype=bool)
    masks[:, 2] = random.random(rows) < 0.5
    return Steps(
        observations=observations(layout, random, rows), masks=masks, actions=random.integers(0, 2, rows),
        probabilities=np.full(rows, 0.5, np.float32), rewards=random.normal(0, 2, rows).astype(np.float32),
        next_observations=observations(layout, random, rows), next_masks=masks,
        terminated=random.random(rows) < 0.2, truncated=np.zeros(rows, dtype=bool),
    )  # fmt: skip


def observations(layout: Layout, random: np.random.Generator, rows: int) -> Floats:
    made = random.normal(size=(rows, layout.size)).astype(np.float32)
    if layout.memories:
        made[:, -layout.memories :] = random.random((rows, layout.memories)) < 0.5
    return made


def parameters(learner: DQN) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for net in (learner.online, learner.target) for p in net.parameters()])


@layouts
def test_values_are_those_of_each_network(layout: Layout) -> None:
    made = learners(layout)
    stacked = {
        name: torch.stack([dict(each.online.named_parameters())[name].detach() for each in made])
        for name, _ in made[0].online.named_parameters()
    }
    rows = torch.from_numpy(np.stack([observations(layout, np.random.default_rng(k), 7) for k in range(4)]))
    told = batched_values(stacked, Shapes.of([each.config for each in made]), NETWORK, rows)
    with torch.no_grad():
        alone = torch.stack([each.online(mine) for each, mine in zip(made, rows, strict=True)])
    torch.testing.assert_close(told, alone)


@layouts
def test_ten_updates_together_are_ten_of_each(layout: Layout) -> None:
    alone, united = learners(layout), learners(layout)
    together = Together(united)
    for _ in range(10):
        told = together.improve()
        losses = [learner.improve()["loss"] for learner in alone]
        assert [each["loss"] for each in told] == pytest.approx(losses, rel=1e-4)
    for one, other in zip(alone, united, strict=True):
        torch.testing.assert_close(parameters(one), parameters(other), rtol=1e-4, atol=1e-5)
        assert one.replay.sample(50).weights == pytest.approx(other.replay.sample(50).weights, rel=1e-4)


def test_learners_of_different_layouts_and_actions_improve_as_each_would_by_itself() -> None:
    alone, united = different_learners(), different_learners()
    together = Together(united)
    for _ in range(10):
        told, apart = together.improve(), [learner.improve() for learner in alone]
        for mine, theirs in zip(told, apart, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-5)
    for one, other in zip(alone, united, strict=True):
        torch.testing.assert_close(parameters(one), parameters(other), rtol=1e-4, atol=1e-5)


def test_what_is_filled_up_stays_zero() -> None:
    together = Together(different_learners())
    for _ in range(5):
        together.improve()
    shapes = [{name: p.shape for name, p in each.online.named_parameters()} for each in together.learners]
    for name, stack in together.online.items():
        room = stack.detach().clone()
        for place, mine in enumerate(shapes):
            own_part(room, place, mine[name]).zero_()
        assert not room.any(), name


def test_different_learners_are_saved_and_go_on_by_themselves(tmp_path: Path) -> None:
    alone, united = different_learners(), different_learners()
    together = Together(united)
    together.improve()
    for place, (one, other) in enumerate(zip(alone, united, strict=True)):
        one.improve()
        other.save(tmp_path / str(place))
        opened = DQN.open(tmp_path / str(place))
        for learner in (one, other, opened):
            learner.improve()
        torch.testing.assert_close(parameters(one), parameters(other), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(parameters(other), parameters(opened), rtol=1e-4, atol=1e-5)


def test_apart_again_they_go_on_as_if_they_had_never_been_together() -> None:
    alone, united = learners(TOKENS), learners(TOKENS)
    for learner in [*alone, *united]:
        learner.improve()
    together = Together(united)
    together.improve()
    for learner in alone:
        learner.improve()
    for one, other in zip(alone, united, strict=True):
        for _ in range(3):
            one.improve(), other.improve()
        assert one.updates == other.updates == 5
        torch.testing.assert_close(parameters(one), parameters(other), rtol=1e-4, atol=1e-5)


def test_norms_are_clipped_for_each_learner_by_itself() -> None:
    first, second = torch.zeros(2, 2), torch.zeros(2, 1)
    first.grad, second.grad = torch.tensor([[3.0, 0.0], [0.3, 0.0]]), torch.tensor([[4.0], [0.4]])
    norms = clip_each([first, second], largest=1.0)
    assert norms.tolist() == pytest.approx([5.0, 0.5])
    assert first.grad.tolist() == [pytest.approx([0.6, 0.0], abs=1e-5), pytest.approx([0.3, 0.0])]
    assert second.grad.tolist() == [pytest.approx([0.8], abs=1e-5), pytest.approx([0.4])]


def test_learners_of_different_kinds_or_ages_are_refused() -> None:
    with pytest.raises(RefusedInput, match="same config"):
        Together([*learners(PLAIN, 1), *learners(TOKENS, 1)])
    mixed = learners(PLAIN, 2)
    together = Together(mixed)
    mixed[0].improve()
    with pytest.raises(RefusedInput, match="equally often"):
        together.improve()


def test_batches_above_the_measured_one_are_not_worth_it() -> None:
    assert worth_batching(LARGEST_WORTHWHILE_BATCH)
    assert not worth_batching(LARGEST_WORTHWHILE_BATCH + 1)
    assert not worth_batching(32, learners=1)
