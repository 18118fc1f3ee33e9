"""Every formula against numbers worked by hand."""

import math

import pytest
import torch
from torch import tensor

from whet.policies.deep.dqn_targets import double_q_targets, dueling, epsilon, learning_rate, masked, weighted_loss


def test_dueling_adds_what_an_action_is_above_the_mean() -> None:
    """V = 2, A = (1, 3, 5), mean A = 3: Q = (0, 2, 4)."""
    assert dueling(tensor([2.0]), tensor([[1.0, 3.0, 5.0]])).tolist() == [[0.0, 2.0, 4.0]]


def test_the_online_network_selects_and_the_target_network_values() -> None:
    """Online prefers the second action, which the target values at 10: 1 + 0.9 · 10; its own best would give 19."""
    targets = double_q_targets(
        rewards=tensor([1.0]),
        discounts_next=tensor([0.9]),
        online_next=tensor([[[1.0, 2.0]]]),
        target_next=tensor([[[20.0, 10.0]]]),
        masks_next=tensor([[True, True]]),
    )
    assert targets.tolist() == [[10.0]]


def test_each_head_selects_for_itself() -> None:
    """Head 1 takes action 0 (target 3), head 2 action 1 (target 8): 0.5 · 3 and 0.5 · 8."""
    online = tensor([[[5.0, 1.0], [1.0, 5.0]]])
    target = tensor([[[3.0, 4.0], [7.0, 8.0]]])
    targets = double_q_targets(tensor([0.0]), tensor([0.5]), online, target, tensor([[True, True]]))
    assert targets.tolist() == [[1.5, 4.0]]


def test_nothing_follows_the_end() -> None:
    both = tensor([[[9.0, 9.0]]])
    assert double_q_targets(tensor([2.0]), tensor([0.0]), both, both, tensor([[True, True]])).tolist() == [[2.0]]


def test_what_is_not_allowed_next_is_not_selected() -> None:
    """The better action is not allowed: 0 + 1 · 4."""
    online, target = tensor([[[9.0, 1.0]]]), tensor([[[8.0, 4.0]]])
    targets = double_q_targets(tensor([0.0]), tensor([1.0]), online, target, tensor([[False, True]]))
    assert targets.tolist() == [[4.0]]


def test_masked_values_are_minus_infinity_with_and_without_heads() -> None:
    masks = tensor([[True, False]])
    assert masked(tensor([[1.0, 2.0]]), masks).tolist() == [[1.0, -math.inf]]
    assert masked(tensor([[[1.0, 2.0], [3.0, 4.0]]]), masks).tolist() == [[[1.0, -math.inf], [3.0, -math.inf]]]


def test_the_loss_weighs_items_and_counts_them_for_each_head() -> None:
    """(0.5 · (1 · 2² + 0 · 4²) + 1 · (2 · 1² + 1 · 3²)) / 4 = (2 + 11) / 4."""
    errors, counts = tensor([[2.0, 4.0], [1.0, -3.0]]), tensor([[1, 0], [2, 1]], dtype=torch.uint8)
    assert weighted_loss(errors, tensor([0.5, 1.0]), counts).item() == pytest.approx(13 / 4)


@pytest.mark.parametrize(
    ("update", "rate"),
    [(0, 1.0), (5, 0.5), (10, 1.0), (20, 0.5), (30, 1.0), (50, 0.5), (70, 1.0)],
)
def test_the_rate_falls_along_a_cosine_and_starts_again_in_cycles_of_ten_twenty_forty(update: int, rate: float) -> None:
    assert learning_rate(update, 1.0, 10, 2) == pytest.approx(rate)


@pytest.mark.parametrize(("first", "factor", "lowest"), [(10, 2, 0.0), (7, 1, 0.1), (5, 3, 0.0)])
def test_the_rate_is_that_of_torch(first: int, factor: int, lowest: float) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    peer = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, first, factor, eta_min=0.3 * lowest)
    for update in range(100):
        assert learning_rate(update, 0.3, first, factor, lowest) == pytest.approx(peer.get_last_lr()[0])
        optimizer.step()
        peer.step()


def test_without_cycles_the_rate_is_constant() -> None:
    assert learning_rate(12_345, 0.3, 0, 2) == 0.3


def test_epsilon_decays_to_its_floor() -> None:
    """0.2 · 0.5² = 0.05, and 0.2 · 0.5⁵ is below 0.01."""
    assert epsilon(0, 0.2, 0.01, 0.5) == 0.2
    assert epsilon(2, 0.2, 0.01, 0.5) == pytest.approx(0.05)
    assert epsilon(5, 0.2, 0.01, 0.5) == 0.01
